"""Facts in Postgres: claims, which are only added, and what is believed because of them."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from mnestic.memory.errors import NotFoundError
from mnestic.memory.knowledge.claims import Claim, check_name, check_time, name_key
from mnestic.memory.knowledge.events import fact_events, pattern_events
from mnestic.memory.knowledge.facts import (
    Fact,
    FactChange,
    FactQuery,
    FactStatus,
    Interval,
    with_history,
)
from mnestic.memory.knowledge.predicates import Predicate, check_predicate
from mnestic.memory.knowledge.relations import Mention, Place
from mnestic.memory.knowledge.subjects import NamedSubject
from mnestic.memory.knowledge.world.patterns import FEWEST_CLAIMS, patterns_of
from mnestic.stores.postgres.cursors import check_limit
from mnestic.stores.postgres.knowledge.derived_entries import DerivedEntries, MessagePlace
from mnestic.stores.postgres.knowledge.fact_reader import (
    FactReader,
    Topic,
    claim_of,
    fact_of,
    names_of,
    subject_filters,
)
from mnestic.stores.postgres.knowledge.graph import PostgresGraphStore
from mnestic.stores.postgres.knowledge.named_subjects import list_aliases, list_named
from mnestic.stores.postgres.knowledge.topic_locks import TopicLocks
from mnestic.stores.postgres.queries import packed, read_query
from mnestic.stores.postgres.unit_of_work import UnitOfWork

_ADD_CLAIMS, _REPLACE_CLAIMS = read_query("facts.add_claims"), read_query("facts.replace_claims")
_FORGET_CLAIMS, _LIST_CLAIMS = read_query("facts.forget_claims"), read_query("facts.list_claims")
_LIST_PLACES, _LIST_MENTIONS = read_query("facts.list_places"), read_query("facts.list_mentions")
_GET, _FIND_AWAITED = read_query("facts.get"), read_query("facts.find_awaited")
_LIST_IDS = read_query("facts.list_ids")
_COUNT, _REMOVE = read_query("facts.count"), read_query("facts.remove")
_ADD, _UPDATE = read_query("facts.add"), read_query("facts.update")
_UNSETTLED_TOPICS = read_query("facts.list_unsettled_topics")
_UNSETTLED_AGENTS = read_query("facts.list_unsettled_agents")
_PUT_PREDICATE = read_query("facts.put_predicate")
_AUDIENCES = read_query("facts.list_audiences")


class PostgresFactStore:
    """Implements `mnestic.memory.knowledge.ports.FactStore`."""

    def __init__(self, unit: UnitOfWork, derived: DerivedEntries) -> None:
        self._unit, self._reader, self._derived = unit, FactReader(unit), derived
        self._locks, self.graph = TopicLocks(unit), PostgresGraphStore(unit)

    async def claim(
        self, claims: Sequence[Claim], *, replaced: Sequence[Claim] = ()
    ) -> tuple[FactChange, ...]:
        """See the port."""
        if not claims and not replaced:
            return ()
        rows = [{**claim.model_dump(), "subject_key": name_key(claim.subject)} for claim in claims]
        added = packed({}, rows, what="claims")
        _check(claims)
        await self._locks.share_predicates()
        await self._locks.lock(_topic(claim) for claim in (*claims, *replaced))
        changed = {_topic(claim) for claim in replaced}
        if replaced:
            await self._unit.fetch(_REPLACE_CLAIMS, ids=[claim.id for claim in replaced])
            self._derived.touch_messages(
                MessagePlace(one.source.session_id, one.source.source_id, one.said_at)
                for one in replaced
            )
            self._unit.wrote("claim.replace", f"{len(replaced)} claims")
        changed |= {tuple(row) for row in await self._unit.fetch(_ADD_CLAIMS, **added)}
        if not changed:
            return ()
        self._unit.wrote("claim.add", f"{len(rows)} claims")
        return await self._settle(sorted(changed))

    async def get(self, fact_id: str) -> Fact:
        """See the port."""
        row = await self._unit.fetch_one(_GET, id=fact_id)
        if row is None:
            raise NotFoundError(what="fact", name=fact_id)
        self._unit.read("fact.get", fact_id)
        self._unit.confine(row.audience)
        return fact_of(row)

    async def find_awaited(self, wait_id: str) -> Fact | None:
        """See the port."""
        row = await self._unit.fetch_one(_FIND_AWAITED, wait_id=wait_id)
        self._unit.read("wait.fact", wait_id)
        if row is None:
            return None
        self._unit.confine(row.audience)
        return fact_of(row)

    async def list_ids(self, prefix: str, *, limit: int) -> tuple[str, ...]:
        """See the port."""
        rows = await self._unit.fetch(_LIST_IDS, prefix=prefix, limit=check_limit(limit))
        return tuple(row.id for row in rows)

    async def list_from(self, place: Place) -> tuple[Fact, ...]:
        """See the port."""
        session_id, source_id = place
        claims = await self._unit.fetch(
            _LIST_PLACES, ids=None, session_id=session_id, source_id=source_id
        )
        topics = {(claim.subject_key, claim.predicate) for claim in claims}
        facts = await self._reader.facts_of(sorted(topics))
        self._unit.read("fact.list", f"{session_id}/{source_id}")
        ids = {claim.id for claim in claims}
        return tuple(fact for fact in facts if ids.intersection(fact.claims))

    async def list_claims_from(self, places: Collection[Place]) -> dict[Place, tuple[Claim, ...]]:
        """See the port."""
        return await self._reader.claims_from(places)

    async def list_mentions(self, topics: Collection[Topic]) -> tuple[Mention, ...]:
        """See the port."""
        keys = sorted({(name_key(subject), predicate) for subject, predicate in topics})
        rows = await self._unit.fetch(
            _LIST_MENTIONS,
            subjects=[subject for subject, _ in keys],
            predicates=[predicate for _, predicate in keys],
        )
        return tuple(map(_mention, rows))

    async def list_facts(
        self,
        *,
        subject: str | Sequence[str] | None = None,
        predicate: str | None = None,
        statuses: Sequence[FactStatus] | None = None,
        as_of: datetime | None = None,
        ahead: bool = False,
        believed_at: datetime | None = None,
        limit: int = 100,
        cursor: str | None = None,
    ) -> tuple[tuple[Fact, ...], str | None]:
        """See the port."""
        query = FactQuery(
            subjects=names_of(subject),
            predicate=predicate,
            statuses=None if statuses is None else tuple(statuses),
            as_of=as_of,
            ahead=ahead,
            believed_at=believed_at,
        )
        return await self._reader.list_facts(query, limit=limit, cursor=cursor)

    async def list_valid(
        self, subject: str, past: Interval, *, limit: int = 100
    ) -> tuple[Fact, ...]:
        """See the port."""
        return await self._reader.list_valid(subject, past, limit=limit)

    async def count(self) -> dict[FactStatus, int]:
        """See the port."""
        rows = await self._unit.fetch(_COUNT)
        return {row.status: row.number for row in rows}

    async def list_claims(self, fact: Fact) -> tuple[Claim, ...]:
        """See the port."""
        rows = await self._unit.fetch(
            _LIST_CLAIMS, ids=[*fact.claims], **subject_filters(None), predicate=None
        )
        self._unit.read("claim.list", fact.id)
        return tuple(claim_of(row) for row in rows)

    async def list_claims_about(
        self, subject: str | Sequence[str], predicate: str | None = None
    ) -> tuple[Claim, ...]:
        """See the port."""
        names = names_of(subject) or ()
        rows = await self._unit.fetch(
            _LIST_CLAIMS, ids=None, **subject_filters(names), predicate=predicate
        )
        self._unit.read("claim.list", " ".join(names))
        return tuple(claim_of(row) for row in rows)

    async def list_named(self, name: str) -> tuple[NamedSubject, ...]:
        """See the port."""
        return await list_named(self._unit, name)

    async def list_aliases(self, keys: Collection[str]) -> tuple[str, ...]:
        """See the port."""
        return await list_aliases(self._unit, keys)

    async def set_predicate(self, predicate: Predicate) -> None:
        """See the port."""
        await self._locks.change_predicates()
        await self._unit.write(_PUT_PREDICATE, **predicate.model_dump())
        self._unit.wrote("predicate.put", predicate.name)

    async def list_predicates(self) -> tuple[Predicate, ...]:
        """See the port."""
        self._unit.read("predicate.list", "*")
        return await self._reader.own_predicates()

    async def settle(self, predicate: str, *, limit: int = 200) -> tuple[FactChange, ...]:
        """See the port."""
        await self._locks.share_predicates()
        says = (await self.get_predicates({predicate}))[predicate].model_dump()
        wanted = says | {"predicate": predicate, "limit": check_limit(limit)}
        while rows := await self._unit.fetch(_UNSETTLED_TOPICS, **wanted):
            topics = [(row.subject_key, row.predicate) for row in rows]
            await self._locks.lock(topics)
            changes = await self._settle(topics)
            if changes:
                self._unit.wrote("predicate.settle", predicate)
                return changes  # else another transaction has updated these
        return ()

    async def list_unsettled(self, predicate: str, *, limit: int = 100) -> tuple[str, ...]:
        """See the port."""
        says = (await self.get_predicates({predicate}))[predicate].model_dump()
        wanted = says | {"predicate": predicate, "limit": check_limit(limit)}
        return tuple(row.agent_id for row in await self._unit.fetch(_UNSETTLED_AGENTS, **wanted))

    async def _settle(
        self, topics: Sequence[Topic], *, nameless: bool = False
    ) -> tuple[FactChange, ...]:
        """Works the facts of these topics out anew, and writes those that are otherwise.

        With `nameless`, the events do not name the subjects of removed facts.
        """
        if not topics:
            return ()
        if self._unit.audience is not None:
            return await self._settle_within(topics, nameless=nameless)
        subjects, predicates = zip(*topics, strict=True)
        rows = await self._unit.fetch(_AUDIENCES, subjects=[*subjects], predicates=[*predicates])
        changes: list[FactChange] = []
        for row in rows:
            with self._unit.within(row.audience):
                changes += await self._settle_within(topics, nameless=nameless)
        return tuple(changes)

    async def _settle_within(
        self, topics: Sequence[Topic], *, nameless: bool
    ) -> tuple[FactChange, ...]:
        """Works out anew what one audience is told of these topics."""
        claims = await self._reader.claims_of(topics)
        before = {fact.id: fact for fact in await self._reader.facts_of(topics)}
        predicates = await self.get_predicates({predicate for _, predicate in topics})
        after = [
            with_history(fact, before.get(fact.id))
            for topic in topics
            for fact in self._reader.resolved(claims[topic], predicates[topic[1]])
        ]
        changes = [
            FactChange(before=before.get(fact.id), after=fact)
            for fact in after
            if before.get(fact.id) != fact
        ]
        gone = before.keys() - {fact.id for fact in after}
        changes += [FactChange(before=before[fact_id]) for fact_id in sorted(gone)]
        await self._write(changes, nameless=nameless)
        self._derived.touch_claims(
            claim for fact in _succeeded(after, changes) for claim in fact.claims
        )
        self._tell_patterns(claims, before.values(), after)
        return tuple(changes)

    def _tell_patterns(
        self,
        claims: Mapping[Topic, Mapping[int, Sequence[Claim]]],
        before: Iterable[Fact],
        after: Iterable[Fact],
    ) -> None:
        """Tells of patterns that the facts of a topic have now, and had not before."""
        was, now = _facts_by_topic(before), _facts_by_topic(after)
        for topic, of_audiences in claims.items():
            of_topic = [claim for of_one in of_audiences.values() for claim in of_one]
            if len(of_topic) >= FEWEST_CLAIMS:
                known = {claim.id: claim for claim in of_topic}
                found = (patterns_of(facts[topic], known) for facts in (was, now))
                self._unit.publish(*pattern_events(*found))

    async def _write(self, changes: Sequence[FactChange], *, nameless: bool) -> None:
        """Writes changes; what is no longer active makes room first, for the unique indexes."""
        gone = [change.fact.id for change in changes if change.after is None]
        if gone:
            await self._unit.write(_REMOVE, ids=gone)
        written = [change for change in changes if change.after is not None]
        ending = [change for change in written if change.fact.status != "active"]
        active = [change for change in written if change.fact.status == "active"]
        for group in (ending, active):
            updated = [_row(change.fact) for change in group if change.before]
            added = [_row(change.fact) for change in group if not change.before]
            for query, rows in ((_UPDATE, updated), (_ADD, added)):
                if rows:
                    await self._unit.write(query, **packed({}, rows, what="facts"))
        touched = [fact for change in changes for fact in (change.before, change.after) if fact]
        self._derived.touch_facts(
            (fact.id for fact in touched), categories=(fact.category for fact in touched)
        )
        self._derived.touch_claims(
            claim_id for change in changes for claim_id in _claims_otherwise(change)
        )
        self._derived.clear_summaries_with(
            claim_id for change in changes for claim_id in _unfounded(change)
        )
        self._unit.publish(*fact_events(changes, nameless=nameless))
        for change in changes:
            done = change.fact.status if change.after else "withdrawn"
            self._unit.wrote(f"fact.{done}", change.fact.id)

    async def forget(self, claim_ids: Collection[str], *, forgetting_id: str) -> tuple[str, ...]:
        """See the port."""
        if not claim_ids:
            return ()
        ids = sorted(claim_ids)
        rows = await self._unit.fetch(_LIST_PLACES, ids=ids, session_id=None)
        about = list({(row.subject_key, row.predicate) for row in rows})
        self._derived.touch_messages(
            MessagePlace(row.session_id, row.source_id, row.said_at) for row in rows
        )
        await self._locks.share_predicates()
        await self._locks.lock(about)
        await self._unit.fetch(_FORGET_CLAIMS, forgetting_id=forgetting_id, ids=ids)
        self._unit.wrote("claim.forget", f"{len(ids)} claims")
        changes = await self._settle(sorted(about), nameless=True)
        return tuple(change.fact.id for change in changes if change.after is None)

    async def get_predicates(self, names: set[str]) -> dict[str, Predicate]:
        """See the port."""
        return await self._reader.predicates(names)


def _check(claims: Sequence[Claim]) -> None:
    """Refuses what cannot be stored, or could not be found again."""
    for claim in claims:
        check_name(claim.subject, what=f"subject of claim {claim.id}")
        check_predicate(claim.predicate)
        if claim.object is not None:
            check_name(claim.object, what=f"object of claim {claim.id}")
        for name in ("said_at", "valid_from", "valid_to"):
            if (moment := getattr(claim, name)) is not None:
                check_time(moment, what=f"{name} of claim {claim.id}")


def _row(fact: Fact) -> dict[str, Any]:
    keys = {"subject_key": name_key(fact.subject), "object_key": name_key(fact.object)}
    return {**fact.model_dump(), **keys}


def _claims_otherwise(change: FactChange) -> Collection[str]:
    """The claims that hold for another time than before, or are behind a fact that they were not behind."""
    before, after = change.before, change.after
    all_claims = {claim for fact in (before, after) if fact for claim in fact.claims}
    if before is None or after is None or _lasting(before) != _lasting(after):
        return all_claims
    return set(before.claims) ^ set(after.claims)


def _succeeded(facts: Iterable[Fact], changes: Sequence[FactChange]) -> Iterator[Fact]:
    """The facts in whose place others stand that have changed, or may stand: those that have ended."""
    changed = {change.fact.id for change in changes}
    for fact in facts:
        if changed and (fact.end == "ended" or fact.superseded_by in changed):
            yield fact


def _lasting(fact: Fact) -> tuple[object, ...]:
    return fact.status, fact.end, fact.valid_to, fact.superseded_by


def _unfounded(change: FactChange) -> Collection[str]:
    """The claims that state what is so no longer, or has an end now, and were not known as such."""
    before, after = change.before, change.after
    if after is not None and _is_endless(after):
        return () if before is None else set(before.claims) - set(after.claims)
    known = () if before is None or _is_endless(before) else before.claims
    return {claim for fact in (before, after) if fact for claim in fact.claims} - set(known)


def _is_endless(fact: Fact) -> bool:
    holds = fact.status == "active" or (fact.status == "archived" and fact.end == "faded")
    return holds and fact.valid_to is None


def _mention(row: Any) -> Mention:
    key = None if row.object is None else name_key(row.object)
    place = (row.session_id, row.source_id)
    return Mention(row.subject_key, row.predicate, key, row.said_at, place, row.kind == "ended")


def _facts_by_topic(facts: Iterable[Fact]) -> dict[Topic, list[Fact]]:
    found: dict[Topic, list[Fact]] = defaultdict(list)
    for fact in facts:
        found[_topic(fact)].append(fact)
    return found


def _topic(of: Claim | Fact) -> Topic:
    return (name_key(of.subject), of.predicate)
