"""Forgetting in Postgres: what is being forgotten, and what hangs together with it."""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from sqlalchemy import (
    ARRAY,
    Text,
    bindparam,
    exists,
    func,
    literal_column,
    select,
    text,
    update,
)
from sqlalchemy.dialects.postgresql import insert

from mnestic.memory.errors import NotFoundError
from mnestic.memory.forgetting.ports import Place, ScannedPage, ScannedRow
from mnestic.memory.forgetting.redaction import RowRedaction, texts_of
from mnestic.memory.forgetting.requests import Forgetting
from mnestic.memory.forgetting.topic_names import covers, parse_topic
from mnestic.memory.forgetting.topics import Topic
from mnestic.memory.knowledge.claims import Span
from mnestic.memory.knowledge.facts import Fact
from mnestic.memory.names import END_JOB
from mnestic.stores.postgres.forgetting.redaction_scan import next_page, write_redaction
from mnestic.stores.postgres.forgetting.tables import ForgettingRow
from mnestic.stores.postgres.knowledge.archive import ARCHIVED
from mnestic.stores.postgres.knowledge.derived_entries import DerivedEntries
from mnestic.stores.postgres.knowledge.entry_index import ENTRY
from mnestic.stores.postgres.knowledge.fact_reader import CLAIM, FACT, fact_of
from mnestic.stores.postgres.knowledge.ingest_states import INGEST_STATE
from mnestic.stores.postgres.knowledge.resources import RESOURCE
from mnestic.stores.postgres.retrieval.agent_settings import language_of
from mnestic.stores.postgres.stored import read_stored
from mnestic.stores.postgres.tables import JobReadRow, OperationRow, WaitRow, table
from mnestic.stores.postgres.unit_of_work import UnitOfWork, among

FORGETTING, OPERATION = table(ForgettingRow), table(OperationRow)
READ, WAIT = table(JobReadRow), table(WaitRow)
_LANGUAGES = text("""
SELECT languages FROM mnestic.corpus WHERE tenant_id = :tenant_id AND agent_id = :agent_id
""")
_STEMS = text("""
SELECT w.word, array_agg(array_to_string(
           tsvector_to_array(to_tsvector(CAST(g.language AS regconfig), w.word)), ' '
       ) ORDER BY g.language) AS stems
  FROM unnest(CAST(:words AS text[])) AS w (word)
 CROSS JOIN unnest(CAST(:languages AS text[])) AS g (language)
 GROUP BY w.word
""")
_FORGET_MESSAGES = text(
    "SELECT mnestic.forget_messages(:forgetting, :agent_id, :sessions, :sources) AS messages"
)
_CUT_MESSAGES = text(
    "SELECT mnestic.cut_messages(:forgetting, :agent_id, :sessions, :sources, :contents) AS messages"
)
# What was read of them before is not what is left. With another number nobody takes it for that who is at it now.
_READ_ANEW = text("""
WITH cut AS (
    SELECT session_id, source_id
      FROM unnest(CAST(:sessions AS text[]), CAST(:sources AS text[])) AS cut (session_id, source_id)
), unread AS (
    UPDATE mnestic.ingest_state AS l
       SET state = 'received', number = DEFAULT, extractor = NULL, extracted = NULL, context = NULL,
           updated_at = now()
      FROM cut
     WHERE l.tenant_id = :tenant_id AND l.agent_id = :agent_id AND l.session_id = cut.session_id
       AND l.source_id = cut.source_id AND l.state IN ('received', 'extracted')
)
UPDATE mnestic.ingest_state AS l
   SET extractor = CASE l.state WHEN 'parked' THEN NULL ELSE extractor END, extracted = NULL, context = NULL,
       updated_at = now()
  FROM cut
 WHERE l.tenant_id = :tenant_id AND l.agent_id = :agent_id AND l.session_id = cut.session_id
   AND l.source_id = cut.source_id AND l.state NOT IN ('received', 'extracted')
""")
_RENEW_STATISTICS = text(
    "SELECT mnestic.renew_statistics(:forgetting, :agent_id, :table) AS are_new"
)
# In the order in which writers take them, so that nobody waits for somebody who waits.
_DROP_WORDS = text("""
WITH unused AS MATERIALIZED (
    SELECT lexeme FROM mnestic.lexeme
     WHERE tenant_id = :tenant_id AND agent_id = :agent_id AND entries <= 0
     ORDER BY lexeme FOR UPDATE
)
DELETE FROM mnestic.lexeme AS l USING unused AS u
 WHERE l.tenant_id = :tenant_id AND l.agent_id = :agent_id AND l.lexeme = u.lexeme AND l.entries <= 0
""")
_COUNT_LINKS = text("""
WITH gone AS (
    SELECT id, number, related, parent FROM mnestic.entry
     WHERE tenant_id = :tenant_id AND agent_id = :agent_id AND id = ANY(:ids)
)
SELECT (SELECT count(*) FROM mnestic.embedding AS v
         WHERE v.tenant_id = :tenant_id AND v.agent_id = :agent_id
           AND v.entry_number IN (SELECT number FROM gone)) AS embedding,
       (SELECT COALESCE(sum(jsonb_array_length(related) + (parent IS NOT NULL)::integer), 0) FROM gone)
     + (SELECT count(*) FROM mnestic.entry_term AS t
         WHERE t.tenant_id = :tenant_id AND t.agent_id = :agent_id AND t.kind = 'related'
           AND t.term = ANY(:ids) AND t.entry_number NOT IN (SELECT number FROM gone))
     + (SELECT count(*) FROM mnestic.entry AS e
         WHERE e.tenant_id = :tenant_id AND e.agent_id = :agent_id AND e.parent = ANY(:ids)
           AND e.id <> ALL(:ids)) AS edge
""")


class PostgresForgettingStore:
    """Implements `mnestic.memory.forgetting.ports.ForgettingStore`."""

    def __init__(self, unit: UnitOfWork, derived: DerivedEntries) -> None:
        self._unit, self._derived = unit, derived
        self._languages: list[str] | None = None

    async def begin(self, forgetting_id: str, topic: str, *, entries: Sequence[str]) -> None:
        """See the port."""
        parameters: dict[str, Any] = {"id": forgetting_id, "topic": topic, "entries": list(entries)}
        parameters |= {"actor": self._unit.actor, "requested_at": func.now()}
        again = {"topic": topic, "entries": list(entries), "finished_at": None}
        await self._unit.run(
            insert(FORGETTING)
            .values(**self._unit.owner, **parameters)
            .on_conflict_do_update(constraint=FORGETTING.primary_key, set_=again)
        )
        self._unit.wrote("topic.forget", forgetting_id)

    async def find(self, forgetting_id: str) -> Forgetting | None:
        """See the port."""
        row = await self._unit.row(select(*FORGETTING.c).where(self._is(forgetting_id)))
        if row is None:
            return None
        return read_stored(Forgetting, dict(row._mapping), what=f"forgetting {forgetting_id}")  # noqa: SLF001

    async def count(self, forgetting_id: str, purged: Mapping[str, int]) -> None:
        """See the port."""
        more = {name: number for name, number in purged.items() if number}
        if not more:
            return
        locked = select(FORGETTING.c.purged).where(self._is(forgetting_id)).with_for_update()
        row = await self._unit.row(locked)
        total = dict(Counter(row.purged if row else {}) + Counter(more))
        await self._unit.run(update(FORGETTING).where(self._is(forgetting_id)).values(purged=total))

    async def finish(self, forgetting_id: str) -> Forgetting:
        """See the port."""
        found = await self.find(forgetting_id)
        if found is None:
            raise NotFoundError(what="forgetting", name=forgetting_id)
        await self._unit.run(_DROP_WORDS, self._unit.owner)
        if found.topic is not None:
            same = await self._same(found.topic)
            ended = {"topic": None, "entries": None, "finished_at": func.now()}
            await self._unit.run(
                update(FORGETTING)
                .where(self._unit.owned(FORGETTING), FORGETTING.c.id.in_(same))
                .values(ended)
            )
            self._unit.wrote("topic.forgotten", forgetting_id)
        done = await self.find(forgetting_id)
        assert done is not None
        return done

    async def renew_statistics(self, forgetting_id: str, table: str) -> bool:
        """See the port."""
        parameters = {"forgetting": forgetting_id, "agent_id": self._unit.agent_id, "table": table}
        row = await self._unit.row(_RENEW_STATISTICS, parameters)
        assert row is not None
        return bool(row.are_new)

    async def stems(self, words: Collection[str]) -> dict[str, tuple[str, ...]]:
        """See the port."""
        if not words:
            return {}
        if self._languages is None:
            corpus = await self._unit.row(_LANGUAGES, self._unit.owner)
            known = () if corpus is None else corpus.languages
            self._languages = sorted({await language_of(self._unit), *known})
        parameters = {"words": sorted(words), "languages": self._languages}
        rows = await self._unit.rows(_STEMS, parameters)
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
        if row.table == "episode":
            self._derived.touch_episodes([row.key[0]])
        await write_redaction(
            self._unit, row, redaction, forgetting_id=forgetting_id, name_stays=name_stays
        )

    async def readers_of(self, row: ScannedRow) -> tuple[str, ...]:
        """See the port."""
        namespace, key = row.key
        seen = select(READ.c.job_id).where(
            self._unit.owned(READ), READ.c.namespace == namespace, READ.c.key == key
        )
        return tuple(row.job_id for row in await self._unit.rows(seen))

    async def forget_messages(self, forgetting_id: str, places: Collection[Place]) -> int:
        """See the port."""
        if not places:
            return 0
        ordered = sorted(places)
        there = among(ordered, INGEST_STATE.c.session_id, INGEST_STATE.c.source_id)
        nothing = {"extracted": None, "context": None, "reason": None, "updated_at": func.now()}
        await self._unit.run(
            update(INGEST_STATE)
            .where(self._unit.owned(INGEST_STATE), there)
            .values(state="dropped", **nothing)
        )
        sessions, sources = (list(part) for part in zip(*ordered, strict=True))
        parameters = {"forgetting": forgetting_id, "agent_id": self._unit.agent_id}
        row = await self._unit.row(
            _FORGET_MESSAGES, {**parameters, "sessions": sessions, "sources": sources}
        )
        assert row is not None
        self._unit.wrote("resource.forget", f"{row.messages} messages")
        return int(row.messages)

    async def contents_of(self, places: Collection[Place]) -> dict[Place, str]:
        """See the port."""
        there = among(sorted(places), RESOURCE.c.session_id, RESOURCE.c.source_id)
        found = select(RESOURCE.c.session_id, RESOURCE.c.source_id, RESOURCE.c.content)
        found = found.where(self._unit.owned(RESOURCE), there, RESOURCE.c.content != "")
        rows = await self._unit.rows(found.order_by(RESOURCE.c.session_id, RESOURCE.c.source_id))
        return {(row.session_id, row.source_id): row.content for row in rows}

    async def cut_messages(self, forgetting_id: str, contents: Mapping[Place, str]) -> int:
        """See the port."""
        if not contents:
            return 0
        ordered = sorted(contents)
        sessions, sources = (list(part) for part in zip(*ordered, strict=True))
        there = {"sessions": sessions, "sources": sources}
        await self._unit.run(_READ_ANEW, {**self._unit.owner, **there})
        parameters = {"forgetting": forgetting_id, "agent_id": self._unit.agent_id, **there}
        parameters["contents"] = [contents[place] for place in ordered]
        row = await self._unit.row(_CUT_MESSAGES, parameters)
        assert row is not None
        self._unit.wrote("resource.cut", f"{row.messages} messages")
        return int(row.messages)

    async def spans_from(
        self, places: Collection[Place]
    ) -> tuple[tuple[str, Place, Span | None], ...]:
        """See the port."""
        session, source = CLAIM.c.session_id, CLAIM.c.source_id
        claims = select(CLAIM.c.id, session, source, CLAIM.c.source["span"].label("span"))
        claims = claims.where(self._unit.owned(CLAIM), among(sorted(places), session, source))
        rows = await self._unit.rows(claims.order_by(CLAIM.c.id))
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
        session, source = CLAIM.c.session_id, CLAIM.c.source_id
        claims = select(CLAIM.c.id).where(
            self._unit.owned(CLAIM), among(sorted(places), session, source)
        )
        return tuple(row.id for row in await self._unit.rows(claims.order_by(CLAIM.c.id)))

    async def facts_of(self, claims: Collection[str]) -> tuple[Fact, ...]:
        """See the port."""
        if not claims:
            return ()
        gone = bindparam("gone", sorted(claims), type_=ARRAY(Text))
        of_these = select(*FACT.c).where(
            self._unit.owned(FACT),
            func.jsonb_exists_any(FACT.c.claims, gone),
            FACT.c.claims.op("<@")(func.to_jsonb(gone)),
        )
        return tuple(map(fact_of, await self._unit.rows(of_these.order_by(FACT.c.id))))

    async def entries_from(self, places: Collection[Place]) -> tuple[str, ...]:
        """See the port."""
        rows = [
            *await self._unit.rows(self._entries(ENTRY, places)),
            *await self._unit.rows(self._entries(ARCHIVED, places)),
        ]
        return tuple(sorted(row.id for row in rows))

    def _entries(self, target: Any, places: Collection[Place]) -> Any:
        is_among = among(sorted(places), target.c.session_id, target.c.source_id)
        return select(target.c.id).where(self._unit.owned(target), is_among)

    async def list_sources(self, entries: Collection[str]) -> tuple[tuple[str, Place | None], ...]:
        """See the port."""
        rows: list[Any] = []
        for target in (ENTRY, ARCHIVED):
            found = select(target.c.id, target.c.session_id, target.c.source_id)
            named = found.where(self._unit.owned(target), target.c.id.in_(sorted(entries)))
            rows += await self._unit.rows(named)
        return tuple(
            (row.id, (row.session_id, row.source_id) if row.session_id and row.source_id else None)
            for row in sorted(rows, key=lambda row: row.id)
        )

    async def count_links(self, entries: Collection[str]) -> dict[str, int]:
        """See the port."""
        row = await self._unit.row(_COUNT_LINKS, {**self._unit.owner, "ids": sorted(entries)})
        assert row is not None
        return {"embedding": row.embedding, "edge": row.edge}

    async def open_sessions(self, job_id: str) -> tuple[str, ...] | None:
        """See the port."""
        if await self._unit.row(select(OPERATION.c.key).where(self._is_end(job_id)).limit(1)):
            return None
        waited = select(WAIT.c.session_id).distinct()
        waited = waited.where(self._unit.owned(WAIT), WAIT.c.job_id == job_id)
        return tuple(row.session_id for row in await self._unit.rows(waited))

    async def jobs_of(self, session_id: str) -> tuple[str, ...]:
        """See the port."""
        is_over = exists().where(self._is_end(WAIT.c.job_id))
        waited = select(WAIT.c.job_id).distinct()
        waited = waited.where(self._unit.owned(WAIT), WAIT.c.session_id == session_id, ~is_over)
        return tuple(row.job_id for row in await self._unit.rows(waited))

    async def uses_of_plans(self, plans: Collection[str]) -> dict[str, tuple[tuple[str, str], ...]]:
        """See the port."""
        plan = WAIT.c.context["plan_decision_id"].astext
        used = select(plan.label("plan"), WAIT.c.job_id, WAIT.c.agent_id).distinct()
        used = used.where(WAIT.c.tenant_id == self._unit.tenant_id, plan.in_(sorted(plans)))
        found: dict[str, list[tuple[str, str]]] = {name: [] for name in plans}
        for row in await self._unit.rows(used):
            found[row.plan].append((row.job_id, row.agent_id))
        return {name: tuple(jobs) for name, jobs in found.items()}

    async def _same(self, topic: str) -> list[str]:
        """Forgettings of this agent that go on about the same."""
        names = parse_topic(topic)
        going = select(FORGETTING.c.id, FORGETTING.c.topic)
        going = going.where(self._unit.owned(FORGETTING), FORGETTING.c.topic.is_not(None))
        rows = await self._unit.rows(going)
        return [row.id for row in rows if covers(names, parse_topic(row.topic))]

    def _is_end(self, job_id: Any) -> Any:
        """The condition of the operation that ends a job, as the index of ends says it."""
        is_end = OPERATION.c.name == literal_column(f"'{END_JOB}'")
        return (
            (OPERATION.c.tenant_id == self._unit.tenant_id)
            & is_end
            & (OPERATION.c.job_id == job_id)
        )

    def _is(self, forgetting_id: str) -> Any:
        return self._unit.owned(FORGETTING) & (FORGETTING.c.id == forgetting_id)
