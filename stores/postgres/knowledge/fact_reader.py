"""Facts, read: now, out of the table of facts; at another moment, out of the claims until then.

It stands apart from the store that writes facts because both ways of reading share their order and
their pages.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Row, and_, select, tuple_

from mnestic.memory.knowledge.claims import Claim, name_key
from mnestic.memory.knowledge.facts import Fact, FactQuery, Interval
from mnestic.memory.knowledge.predicates import Predicate, default_predicate
from mnestic.memory.knowledge.resolution import resolve
from mnestic.stores.postgres.cursors import check_limit, decode_cursor, encode_cursor, read_instant
from mnestic.stores.postgres.knowledge.predicate_tables import PredicateRow
from mnestic.stores.postgres.knowledge.tables import ClaimRow, FactRow
from mnestic.stores.postgres.queries import read_query, validity_parameters
from mnestic.stores.postgres.tables import table
from mnestic.stores.postgres.unit_of_work import UnitOfWork, among

CLAIM, FACT, PREDICATE = table(ClaimRow), table(FactRow), table(PredicateRow)
Topic = tuple[str, str]  # a subject's key and a predicate
Place = tuple[str, str, datetime, str]  # a topic, and a fact of it by time and id
_TOPICS = 100  # are worked out at a time
_VALID = read_query("valid_facts")


class FactReader:
    """Facts as they are read."""

    def __init__(self, unit: UnitOfWork) -> None:
        self._unit = unit

    async def list_facts(
        self, query: FactQuery, *, limit: int, cursor: str | None
    ) -> tuple[tuple[Fact, ...], str | None]:
        """See `mnestic.memory.ports.FactStore.list_facts`."""
        after, wanted = _place(cursor), check_limit(limit) + 1
        read = self._stored if query.believed_at is None else self._believed
        found = await read(query, after, wanted)
        self._unit.read("fact.list", " ".join(query.subjects or ("*",)))
        if len(found) < wanted:
            return tuple(fact for _, fact in found), None
        page = found[:limit]
        key, predicate, began, fact_id = page[-1][0]
        following = encode_cursor(key, predicate, began.isoformat(), fact_id)
        return tuple(fact for _, fact in page), following

    async def list_valid(self, subject: str, past: Interval, *, limit: int) -> tuple[Fact, ...]:
        """See `mnestic.memory.ports.FactStore.list_valid`."""
        values = {
            **self._unit.owner,
            **validity_parameters(past),
            "subject": name_key(subject),
            "limit": check_limit(limit),
        }
        (rows,) = await self._unit.rows_of(_VALID.bind(values))
        self._unit.read("fact.list", subject)
        return tuple(map(fact_of, rows))

    async def claims_from(
        self, places: Collection[tuple[str, str]]
    ) -> dict[tuple[str, str], tuple[Claim, ...]]:
        """See `mnestic.memory.ports.FactStore.list_claims_from`."""
        if not places:
            return {}
        there = among(sorted(places), CLAIM.c.session_id, CLAIM.c.source_id)
        rows = await self._unit.rows(
            select(*CLAIM.c).where(self._unit.owned(CLAIM), there).order_by(CLAIM.c.id)
        )
        found: dict[tuple[str, str], list[Claim]] = defaultdict(list)
        for row in rows:
            found[row.session_id, row.source_id].append(claim_of(row))
        return {place: tuple(claims) for place, claims in found.items()}

    async def predicates(self, names: set[str]) -> dict[str, Predicate]:
        """See `mnestic.memory.ports.FactStore.get_predicates`."""
        own = {one.name: one for one in await self.own_predicates(names)}
        return {name: own.get(name) or default_predicate(name) for name in names}

    async def own_predicates(self, names: set[str] | None = None) -> tuple[Predicate, ...]:
        """The predicates about which the tenant has said something, by name."""
        columns = (PREDICATE.c.name, PREDICATE.c.cardinality, PREDICATE.c.category)
        found = select(*columns).where(PREDICATE.c.tenant_id == self._unit.tenant_id)
        if names is not None:
            found = found.where(PREDICATE.c.name.in_(sorted(names)))
        rows = await self._unit.rows(found.order_by(PREDICATE.c.name))
        return tuple(Predicate.model_validate(row, from_attributes=True) for row in rows)

    def resolved(self, claims: Iterable[Claim], predicate: Predicate) -> tuple[Fact, ...]:
        """The facts that follow from all claims of a topic."""
        owner = f"{self._unit.tenant_id}/{self._unit.agent_id}"
        return resolve(claims, owner=owner, predicate=predicate)

    def about(self, target: Any, topics: Sequence[Topic]) -> Any:
        """The query for the rows about these topics."""
        topic = among(topics, target.c.subject_key, target.c.predicate)
        return select(*target.c).where(self._unit.owned(target), topic)

    async def _stored(
        self, query: FactQuery, after: Place | None, wanted: int
    ) -> list[tuple[Place, Fact]]:
        place = (FACT.c.subject_key, FACT.c.predicate, FACT.c.valid_from, FACT.c.id)
        found = select(*FACT.c).where(self._unit.owned(FACT), *_of(FACT, query))
        found = found.where(FACT.c.status.in_(query.of_statuses))
        if query.as_of is not None:
            found = found.where(_valid(query.as_of, ahead=query.ahead))
        if after is not None:
            found = found.where(tuple_(*place) > after)
        rows = await self._unit.rows(found.order_by(*place).limit(wanted))
        return [
            ((row.subject_key, row.predicate, row.valid_from, row.id), fact_of(row)) for row in rows
        ]

    async def _believed(
        self, query: FactQuery, after: Place | None, wanted: int
    ) -> list[tuple[Place, Fact]]:
        found: list[tuple[Place, Fact]] = []
        at = tuple_(CLAIM.c.subject_key, CLAIM.c.predicate)
        conditions = [self._unit.owned(CLAIM), *_of(CLAIM, query)]
        conditions.append(CLAIM.c.recorded_at <= query.believed_at)
        begin = at >= after[:2] if after else None
        while len(found) < wanted:
            topics = select(CLAIM.c.subject_key, CLAIM.c.predicate).distinct().where(*conditions)
            if begin is not None:
                topics = topics.where(begin)
            topics = topics.order_by(CLAIM.c.subject_key, CLAIM.c.predicate).limit(_TOPICS)
            names = [(row.subject_key, row.predicate) for row in await self._unit.rows(topics)]
            if not names:
                break
            rows = await self._unit.rows(self.about(CLAIM, names).where(*conditions))
            worked_out = await self._worked_out(query, names, by_topic(rows))
            found += [one for one in worked_out if after is None or _is_past(one[0], after)]
            begin = at > names[-1]
        return found[:wanted]

    async def _worked_out(
        self, query: FactQuery, topics: Sequence[Topic], claims: dict[Topic, list[Claim]]
    ) -> list[tuple[Place, Fact]]:
        predicates = await self.predicates({predicate for _, predicate in topics})
        found: list[tuple[Place, Fact]] = []
        for topic in topics:
            facts = self.resolved(claims[topic], predicates[topic[1]])
            placed = [((*topic, fact.valid_from, fact.id), fact) for fact in facts]
            found += sorted(
                (each for each in placed if query.matches(each[1])), key=lambda each: each[0][2:]
            )
        return found


def by_topic(rows: Sequence[Row[Any]]) -> dict[Topic, list[Claim]]:
    """The claims in these rows, by topic."""
    found: dict[Topic, list[Claim]] = defaultdict(list)
    for row in rows:
        found[row.subject_key, row.predicate].append(claim_of(row))
    return found


def claim_of(row: Row[Any]) -> Claim:
    """A row's claim."""
    return Claim.model_validate(row, from_attributes=True)


def fact_of(row: Row[Any]) -> Fact:
    """A row's fact."""
    return Fact.model_validate(row, from_attributes=True)


def names_of(subject: str | Sequence[str] | None) -> tuple[str, ...] | None:
    """One name or several as names."""
    if subject is None:
        return None
    return (subject,) if isinstance(subject, str) else tuple(subject)


def is_about(target: Any, names: Sequence[str]) -> Any:
    """The condition that rows are about one of these subjects."""
    keys = sorted({name_key(name) for name in names})
    return target.c.subject_key == keys[0] if len(keys) == 1 else target.c.subject_key.in_(keys)


def _of(target: Any, query: FactQuery) -> list[Any]:
    """The conditions of a query on the rows of a table."""
    conditions = []
    if query.subjects is not None:
        conditions.append(is_about(target, query.subjects))
    if query.predicate is not None:
        conditions.append(target.c.predicate == query.predicate)
    return conditions


def _valid(moment: datetime, *, ahead: bool) -> Any:
    """The condition that a fact was so at a moment, or comes after it; see `FactQuery.matches`."""
    begun = FACT.c.valid_from <= moment
    still = FACT.c.valid_to.is_(None) | (FACT.c.valid_to > moment)
    if not ahead:
        return and_(begun, still)
    ever = FACT.c.valid_to.is_(None) | (FACT.c.valid_to > FACT.c.valid_from)
    return and_(still, begun | ever)


def _is_past(place: Place, after: Place) -> bool:
    """Whether a place in a topic that is not before another's is after it."""
    return place[:2] != after[:2] or place[2:] > after[2:]


def _place(cursor: str | None) -> Place | None:
    if cursor is None:
        return None
    key, predicate, began, fact_id = decode_cursor(cursor, parts=4)
    return (key, predicate, read_instant(began), fact_id)
