"""Facts, read: now, out of the table of facts; at another moment, out of the claims until then.

Both ways of reading share their order and their pages.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from mnestic.memory.knowledge.claims import Claim, name_key
from mnestic.memory.knowledge.facts import Fact, FactQuery, Interval
from mnestic.memory.knowledge.predicates import Predicate, default_predicate
from mnestic.memory.knowledge.resolution import resolve
from mnestic.stores.postgres.cursors import check_limit, decode_cursor, encode_cursor, read_instant
from mnestic.stores.postgres.queries import read_query, validity_parameters
from mnestic.stores.postgres.unit_of_work import UnitOfWork

Topic = tuple[str, str]  # a subject's key and a predicate
Place = tuple[str, str, datetime, str]  # a topic, and a fact of it by time and id
_TOPICS = 100  # are worked out at a time
_LIST, _VALID = read_query("facts.list"), read_query("valid_facts")
_LIST_OF, _LIST_CLAIMS_OF = read_query("facts.list_of"), read_query("facts.list_claims_of")
_LIST_CLAIMS_FROM = read_query("facts.list_claims_from")
_LIST_TOPICS = read_query("facts.list_topics")
_LIST_PREDICATES = read_query("facts.list_predicates")


class FactReader:
    """Facts as they are read."""

    def __init__(self, unit: UnitOfWork) -> None:
        self._unit = unit

    async def list_facts(
        self, query: FactQuery, *, limit: int, cursor: str | None
    ) -> tuple[tuple[Fact, ...], str | None]:
        """See `mnestic.memory.knowledge.ports.FactStore.list_facts`."""
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
        """See `mnestic.memory.knowledge.ports.FactStore.list_valid`."""
        rows = await self._unit.fetch(
            _VALID,
            **validity_parameters(past),
            subject=name_key(subject),
            limit=check_limit(limit),
        )
        self._unit.read("fact.list", subject)
        return tuple(map(fact_of, rows))

    async def claims_from(
        self, places: Collection[tuple[str, str]]
    ) -> dict[tuple[str, str], tuple[Claim, ...]]:
        """See `mnestic.memory.knowledge.ports.FactStore.list_claims_from`."""
        if not places:
            return {}
        sessions, sources = _columns(sorted(places))
        rows = await self._unit.fetch(_LIST_CLAIMS_FROM, sessions=sessions, sources=sources)
        found: dict[tuple[str, str], list[Claim]] = defaultdict(list)
        for row in rows:
            found[row.session_id, row.source_id].append(claim_of(row))
        return {place: tuple(claims) for place, claims in found.items()}

    async def predicates(self, names: set[str]) -> dict[str, Predicate]:
        """See `mnestic.memory.knowledge.ports.FactStore.get_predicates`."""
        own = {one.name: one for one in await self.own_predicates(names)}
        return {name: own.get(name) or default_predicate(name) for name in names}

    async def own_predicates(self, names: set[str] | None = None) -> tuple[Predicate, ...]:
        """The predicates about which the tenant has said something, by name."""
        wanted = None if names is None else sorted(names)
        rows = await self._unit.fetch(_LIST_PREDICATES, names=wanted)
        return tuple(Predicate.model_validate(row, from_attributes=True) for row in rows)

    def resolved(
        self, claims: Mapping[int, Iterable[Claim]], predicate: Predicate
    ) -> tuple[Fact, ...]:
        """The facts that follow from all claims of a topic, from those of each audience alone."""
        owner = f"{self._unit.tenant_id}/{self._unit.agent_id}"
        return tuple(
            fact
            for audience, of_it in sorted(claims.items())
            for fact in resolve(
                of_it, owner=f"{owner}/{audience}" if audience else owner, predicate=predicate
            )
        )

    async def facts_of(self, topics: Sequence[Topic]) -> tuple[Fact, ...]:
        """All facts of these topics, by id."""
        subjects, predicates = _columns(topics)
        rows = await self._unit.fetch(_LIST_OF, subjects=subjects, predicates=predicates)
        return tuple(map(fact_of, rows))

    async def claims_of(
        self, topics: Sequence[Topic], *, recorded_by: datetime | None = None
    ) -> dict[Topic, dict[int, list[Claim]]]:
        """The claims about these topics, or those of them that were recorded until a moment, by audience."""
        subjects, predicates = _columns(topics)
        found: dict[Topic, dict[int, list[Claim]]] = defaultdict(lambda: defaultdict(list))
        for row in await self._unit.fetch(
            _LIST_CLAIMS_OF, subjects=subjects, predicates=predicates, recorded_by=recorded_by
        ):
            found[row.subject_key, row.predicate][row.audience].append(claim_of(row))
        return found

    async def _stored(
        self, query: FactQuery, after: Place | None, wanted: int
    ) -> list[tuple[Place, Fact]]:
        key, predicate, began, fact_id = after or (None,) * 4
        rows = await self._unit.fetch(
            _LIST,
            **subject_filters(query.subjects),
            predicate=query.predicate,
            statuses=[*query.of_statuses],
            as_of=query.as_of,
            ahead=query.ahead,
            after_key=key,
            after_predicate=predicate,
            after_from=began,
            after_id=fact_id,
            limit=wanted,
        )
        return [
            ((row.subject_key, row.predicate, row.valid_from, row.id), fact_of(row)) for row in rows
        ]

    async def _believed(
        self, query: FactQuery, after: Place | None, wanted: int
    ) -> list[tuple[Place, Fact]]:
        found: list[tuple[Place, Fact]] = []
        begin: dict[str, Any] = dict.fromkeys(
            ("from_key", "from_predicate", "after_key", "after_predicate")
        )
        if after is not None:
            begin |= {"from_key": after[0], "from_predicate": after[1]}
        while len(found) < wanted:
            rows = await self._unit.fetch(
                _LIST_TOPICS,
                **subject_filters(query.subjects),
                predicate=query.predicate,
                recorded_by=query.believed_at,
                **begin,
                limit=_TOPICS,
            )
            names = [(row.subject_key, row.predicate) for row in rows]
            if not names:
                break
            claims = await self.claims_of(names, recorded_by=query.believed_at)
            worked_out = await self._worked_out(query, names, claims)
            found += [one for one in worked_out if after is None or _is_past(one[0], after)]
            subject, predicate = names[-1]
            begin |= {"from_key": None, "after_key": subject, "after_predicate": predicate}
        return found[:wanted]

    async def _worked_out(
        self,
        query: FactQuery,
        topics: Sequence[Topic],
        claims: Mapping[Topic, Mapping[int, list[Claim]]],
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


def claim_of(row: Any) -> Claim:
    """A row's claim."""
    return Claim.model_validate(row, from_attributes=True)


def fact_of(row: Any) -> Fact:
    """A row's fact."""
    return Fact.model_validate(row, from_attributes=True)


def names_of(subject: str | Sequence[str] | None) -> tuple[str, ...] | None:
    """One name or several as names."""
    if subject is None:
        return None
    return (subject,) if isinstance(subject, str) else tuple(subject)


def subject_filters(names: Sequence[str] | None) -> dict[str, Any]:
    """The filters of queries about some subjects; one has a filter of its own, with which an index gives the order."""
    keys = None if names is None else sorted({name_key(name) for name in names})
    if keys is not None and len(keys) == 1:
        return {"subject": keys[0], "subjects": None}
    return {"subject": None, "subjects": keys}


def _columns(pairs: Sequence[tuple[str, str]]) -> tuple[list[str], list[str]]:
    """The first and the second parts of pairs."""
    return [one for one, _ in pairs], [other for _, other in pairs]


def _is_past(place: Place, after: Place) -> bool:
    """Whether a place in a topic that is not before another's is after it."""
    return place[:2] != after[:2] or place[2:] > after[2:]


def _place(cursor: str | None) -> Place | None:
    if cursor is None:
        return None
    key, predicate, began, fact_id = decode_cursor(cursor, parts=4)
    return (key, predicate, read_instant(began), fact_id)
