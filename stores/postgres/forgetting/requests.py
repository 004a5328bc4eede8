"""Forgetting in Postgres: what is being forgotten, and what hangs together with it."""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from mnestic.memory.errors import NotFoundError
from mnestic.memory.forgetting.ports import Place, ScannedPage, ScannedRow
from mnestic.memory.forgetting.redaction import RowRedaction, texts_of
from mnestic.memory.forgetting.requests import Forgetting
from mnestic.memory.forgetting.topic_names import covers, parse_topic
from mnestic.memory.forgetting.topics import Topic
from mnestic.memory.knowledge.claims import Span
from mnestic.memory.knowledge.facts import Fact
from mnestic.stores.postgres.forgetting.redaction_scan import next_page, write_redaction
from mnestic.stores.postgres.jobs.documents import PostgresDocumentStore
from mnestic.stores.postgres.knowledge.derived_entries import DerivedEntries
from mnestic.stores.postgres.knowledge.fact_reader import fact_of
from mnestic.stores.postgres.queries import as_json, read_query
from mnestic.stores.postgres.retrieval.agent_settings import language_of
from mnestic.stores.postgres.stored import read_stored
from mnestic.stores.postgres.unit_of_work import UnitOfWork

_BEGIN, _FIND = read_query("requests.begin"), read_query("requests.find")
_LOCK_COUNTS, _COUNT = read_query("requests.lock_counts"), read_query("requests.count")
_LIST_UNFINISHED, _FINISH = read_query("requests.list_unfinished"), read_query("requests.finish")
_RENEW_STATISTICS = read_query("requests.renew_statistics")
_LANGUAGES, _STEMS = read_query("requests.languages"), read_query("requests.stems")
_READERS_OF, _CONTENTS_OF = read_query("requests.readers_of"), read_query("requests.contents_of")
_DROP_MESSAGES, _READ_ANEW = read_query("requests.drop_messages"), read_query("requests.read_anew")
_FORGET_MESSAGES = read_query("requests.forget_messages")
_CUT_MESSAGES = read_query("requests.cut_messages")
_CLAIMS_FROM, _FACTS_OF = read_query("requests.claims_from"), read_query("requests.facts_of")
_ENTRIES_FROM = (read_query("requests.entries_from"), read_query("requests.archived_from"))
_LIST_ENTRIES = (read_query("requests.list_entries"), read_query("requests.list_archived"))
_COUNT_LINKS, _FIND_END = read_query("requests.count_links"), read_query("requests.find_end")
_SESSIONS_OF, _JOBS_OF = read_query("requests.sessions_of"), read_query("requests.jobs_of")
_USES_OF_PLANS = read_query("requests.uses_of_plans")


class PostgresForgettingStore:
    """Implements `mnestic.memory.forgetting.ports.ForgettingStore`."""

    def __init__(self, unit: UnitOfWork, derived: DerivedEntries) -> None:
        self._unit, self._derived = unit, derived
        self._languages: list[str] | None = None

    async def begin(self, forgetting_id: str, topic: str, *, entries: Sequence[str]) -> None:
        """See the port."""
        values = {"id": forgetting_id, "topic": topic, "entries": as_json(list(entries))}
        await self._unit.write(_BEGIN, actor=self._unit.actor, **values)
        self._unit.wrote("topic.forget", forgetting_id)

    async def find(self, forgetting_id: str) -> Forgetting | None:
        """See the port."""
        row = await self._unit.fetch_one(_FIND, id=forgetting_id)
        if row is None:
            return None
        return read_stored(Forgetting, row._asdict(), what=f"forgetting {forgetting_id}")

    async def count(self, forgetting_id: str, purged: Mapping[str, int]) -> None:
        """See the port."""
        more = {name: number for name, number in purged.items() if number}
        if not more:
            return
        row = await self._unit.fetch_one(_LOCK_COUNTS, id=forgetting_id)
        total = dict(Counter(row.purged if row else {}) + Counter(more))
        await self._unit.write(_COUNT, id=forgetting_id, purged=as_json(total))

    async def finish(self, forgetting_id: str) -> Forgetting:
        """See the port."""
        found = await self.find(forgetting_id)
        if found is None:
            raise NotFoundError(what="forgetting", name=forgetting_id)
        if found.topic is not None:
            await self._unit.write(_FINISH, ids=await self._same(found.topic))
            self._unit.wrote("topic.forgotten", forgetting_id)
        done = await self.find(forgetting_id)
        assert done is not None
        return done

    async def renew_statistics(self, forgetting_id: str, table: str) -> bool:
        """See the port."""
        (row,) = await self._unit.fetch(_RENEW_STATISTICS, forgetting=forgetting_id, table=table)
        return bool(row.are_new)

    async def stems(self, words: Collection[str]) -> dict[str, tuple[str, ...]]:
        """See the port."""
        if not words:
            return {}
        if self._languages is None:
            corpus = await self._unit.fetch_one(_LANGUAGES)
            known = () if corpus is None else corpus.languages
            self._languages = sorted({await language_of(self._unit), *known})
        rows = await self._unit.fetch(_STEMS, words=sorted(words), languages=self._languages)
        return {row.word: tuple(row.stems) for row in rows}

    async def page(
        self, name: str, topic: Topic, *, after: tuple[Any, ...] | None, lock: bool
    ) -> ScannedPage:
        """See the port."""
        page = await next_page(self._unit, name, topic, after=after, lock=lock)
        claims = [claims for row in page.rows for claims in texts_of(row.columns)]
        unlearned = set[str]().union(*map(topic.unlearned, claims))
        topic.learn(await self.stems(unlearned))
        return page

    async def redaction(
        self,
        forgetting_id: str,
        row: ScannedRow,
        redaction: RowRedaction,
        *,
        name_stays: bool = False,
    ) -> None:
        """See the port."""
        self._unit.changed()
        if row.table == "document":
            collection_id, document_id = row.key
            await PostgresDocumentStore(self._unit).remove(collection_id, document_id)
            return
        if row.table in {"graph_node", "graph_edge"}:
            self._unit.changed_graph()
        if row.table == "episode":
            self._derived.touch_episodes([row.key[0]])
        await write_redaction(
            self._unit, row, redaction, forgetting_id=forgetting_id, name_stays=name_stays
        )

    async def readers_of(self, row: ScannedRow) -> tuple[str, ...]:
        """See the port."""
        namespace, key = row.key
        rows = await self._unit.fetch(_READERS_OF, namespace=namespace, key=key)
        return tuple(row.job_id for row in rows)

    async def forget_messages(self, forgetting_id: str, places: Collection[Place]) -> int:
        """See the port."""
        if not places:
            return 0
        named = _named(places)
        await self._unit.write(_DROP_MESSAGES, **named)
        (row,) = await self._unit.fetch(_FORGET_MESSAGES, forgetting=forgetting_id, **named)
        self._unit.wrote("resource.forget", f"{row.messages} messages")
        return int(row.messages)

    async def contents_of(self, places: Collection[Place]) -> dict[Place, str]:
        """See the port."""
        rows = await self._unit.fetch(_CONTENTS_OF, **_named(places))
        return {(row.session_id, row.source_id): row.content for row in rows}

    async def cut_messages(self, forgetting_id: str, contents: Mapping[Place, str]) -> int:
        """See the port."""
        if not contents:
            return 0
        named = _named(contents)
        await self._unit.write(_READ_ANEW, **named)
        left = [contents[place] for place in sorted(contents)]
        (row,) = await self._unit.fetch(
            _CUT_MESSAGES, forgetting=forgetting_id, contents=left, **named
        )
        self._unit.wrote("resource.cut", f"{row.messages} messages")
        return int(row.messages)

    async def spans_from(
        self, places: Collection[Place]
    ) -> tuple[tuple[str, Place, Span | None], ...]:
        """See the port."""
        rows = await self._unit.fetch(_CLAIMS_FROM, **_named(places))
        return tuple(
            (
                row.id,
                (row.session_id, row.source_id),
                None if row.span is None else Span.model_validate(row.span),
            )
            for row in rows
        )

    async def claims_from(self, places: Collection[Place]) -> tuple[str, ...]:
        """See the port."""
        rows = await self._unit.fetch(_CLAIMS_FROM, **_named(places))
        return tuple(row.id for row in rows)

    async def facts_of(self, claims: Collection[str]) -> tuple[Fact, ...]:
        """See the port."""
        if not claims:
            return ()
        return tuple(map(fact_of, await self._unit.fetch(_FACTS_OF, ids=sorted(claims))))

    async def entries_from(self, places: Collection[Place]) -> tuple[str, ...]:
        """See the port."""
        named = _named(places)
        rows = [row for query in _ENTRIES_FROM for row in await self._unit.fetch(query, **named)]
        return tuple(sorted(row.id for row in rows))

    async def list_sources(self, entries: Collection[str]) -> tuple[tuple[str, Place | None], ...]:
        """See the port."""
        ids = sorted(entries)
        rows = [row for query in _LIST_ENTRIES for row in await self._unit.fetch(query, ids=ids)]
        return tuple(
            (row.id, (row.session_id, row.source_id) if row.session_id and row.source_id else None)
            for row in sorted(rows, key=lambda row: row.id)
        )

    async def count_links(self, entries: Collection[str]) -> dict[str, int]:
        """See the port."""
        (row,) = await self._unit.fetch(_COUNT_LINKS, ids=sorted(entries))
        return {"embedding": row.embedding, "edge": row.edge}

    async def open_sessions(self, job_id: str) -> tuple[str, ...] | None:
        """See the port."""
        if await self._unit.fetch(_FIND_END, job_id=job_id):
            return None
        rows = await self._unit.fetch(_SESSIONS_OF, job_id=job_id)
        return tuple(row.session_id for row in rows)

    async def jobs_of(self, session_id: str) -> tuple[str, ...]:
        """See the port."""
        rows = await self._unit.fetch(_JOBS_OF, session_id=session_id)
        return tuple(row.job_id for row in rows)

    async def uses_of_plans(self, plans: Collection[str]) -> dict[str, tuple[tuple[str, str], ...]]:
        """See the port."""
        found: dict[str, list[tuple[str, str]]] = {name: [] for name in plans}
        for row in await self._unit.fetch(_USES_OF_PLANS, plans=sorted(plans)):
            found[row.plan].append((row.job_id, row.agent_id))
        return {name: tuple(jobs) for name, jobs in found.items()}

    async def _same(self, topic: str) -> list[str]:
        """Forgettings of this agent that go on about the same."""
        names = parse_topic(topic)
        rows = await self._unit.fetch(_LIST_UNFINISHED)
        return [row.id for row in rows if covers(names, parse_topic(row.topic))]


def _named(places: Collection[Place]) -> dict[str, list[str]]:
    """Places of messages, in their order, as values of statements."""
    ordered = sorted(places)
    return {
        "sessions": [session_id for session_id, _ in ordered],
        "sources": [source_id for _, source_id in ordered],
    }
