"""What messages claimed of an agent's world, and what is believed by that, as a process keeps it.

It stands apart from where entries are, since it is another when facts are, which no entry need tell.
"""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Sequence
from collections.abc import Set as AbstractSet
from functools import cache
from heapq import merge
from itertools import islice
from sys import getsizeof, intern
from typing import Any, NamedTuple

from mnestic.memory.facts import Stretch

# Of a message that claimed something, of each claim, of each fact and of each message that told it; by tracemalloc.
_CLAIMED_BYTES, _CLAIM_BYTES = 300, 110
_FACT_BYTES, _SAID_BYTES = 700, 130
_NAME_BYTES = 60

Source = tuple[str | None, str | None]  # a message: its session, and its own id
Topic = tuple[str, str]  # the key of whom something is believed, and the predicate


class Believed(NamedTuple):
    """A fact that was not deleted: since and until when it holds, in seconds since 1970, and the messages that told it.

    `is_dated`: somebody said since when it is so. Messages are the latest first.
    """

    subject: str
    predicate: str
    since: float
    until: float
    fact_id: str
    cardinality: str
    is_active: bool
    is_dated: bool
    sources: Sequence[Source]


Holds = Callable[[Believed], bool]  # whether a fact does


class Claimed(NamedTuple):
    """What a message claimed: of whom, by key, by which predicate, and what is believed by that.

    None of a claim that ends or takes back something.
    """

    subject: str
    predicate: str
    facts: Sequence[int] | None


class Said(NamedTuple):
    """A message that told what is believed: as `known_facts` asks Postgres for them."""

    subject_key: str
    predicate: str
    cardinality: str
    id: str
    session_id: str | None
    source_id: str | None


class KeptClaims:
    """What all messages claimed, and all facts that were not deleted, by their number here, the latest first."""

    def __init__(self) -> None:
        self.bytes = 0
        self._claims: dict[Source, Sequence[Claimed]] = {}
        self._facts: dict[int, Believed] = {}
        self._topics: defaultdict[Topic, list[Believed]] = defaultdict(list)
        self._names: set[str] = set()

    def claim(
        self, claimed: Iterable[tuple[str, str, Iterable[tuple[str, str, Sequence[int] | None]]]]
    ) -> None:
        """Takes what messages claimed, by their sessions and own ids: as `Claimed`."""
        for session_id, source_id, claims in claimed:
            told = tuple(
                Claimed(
                    intern(subject),
                    intern(predicate),
                    None if facts is None else tuple(facts),
                )
                for subject, predicate, facts in claims
            )
            self._claims[session_id, source_id] = told
            self.bytes += _CLAIMED_BYTES + _CLAIM_BYTES * len(told)

    def believe(self, facts: Iterable[Sequence[Any]]) -> None:
        """Takes facts, the latest of each topic first: the number of each, and `Believed`, as JSON has it."""
        for number, subject, predicate, since, until, fact_id, cardinality, *is_so, told in facts:
            topic = intern(subject), intern(predicate)
            sources = tuple(map(tuple, told))
            known = since, float(until), fact_id, intern(cardinality)  # infinity is a word in JSON
            self._facts[number] = fact = Believed._make((*topic, *known, *is_so, sources))
            self._topics[topic].append(fact)
            self.bytes += _FACT_BYTES + _SAID_BYTES * len(sources)

    def name(self, names: Iterable[str]) -> None:
        """Takes the names of facts by key: of whom something was ever believed, and what somebody is called."""
        for name in names:
            self._names.add(name)
            self.bytes += _NAME_BYTES + getsizeof(name)

    def has(self, name: str) -> bool:
        """Whether a fact has a name."""
        return name in self._names

    def holding(self, held: Stretch | None, *, now: float) -> Holds:
        """Tells of facts whether they hold in a stretch, or now without it: as `holding.holds` asks Postgres.

        Args:
            held: When they are to hold.
            now: Seconds since 1970.
        """
        if held is None:
            return lambda fact: fact.is_active and fact.until > now
        first, last = held.first.timestamp(), held.last.timestamp()

        def lasted(fact: Believed) -> bool:
            return fact.until > max(fact.since, first)

        @cache
        def was_led(subject: str) -> bool:
            known = (fact for one in held.asked for fact in self._topics.get((subject, one), ()))
            return any(fact.since <= last and lasted(fact) for fact in known)

        def follows(fact: Believed) -> bool:
            if fact.cardinality != "single":
                return was_led(fact.subject)
            topic = self._topics[fact.subject, fact.predicate]
            return any(one.since < fact.since and lasted(one) for one in topic)

        def holds(fact: Believed) -> bool:
            is_first = fact.since <= last or (
                fact.predicate in held.asked and not (fact.is_dated or follows(fact))
            )
            return is_first and lasted(fact)

        return holds

    def is_over(self, source: Source, respects: AbstractSet[str], holds: Holds) -> bool:
        """Whether a message claimed something, and nothing of it holds; of the respects, where it claimed something by them."""
        claims = [one for one in self._claims.get(source, ()) if one.facts is not None]
        counted = [one for one in claims if one.predicate in respects] or claims
        facts = (self._facts[number] for one in counted for number in one.facts or ())
        return bool(claims) and not any(map(holds, facts))

    def is_of_others(
        self, source: Source, names: Collection[str], predicates: Collection[str]
    ) -> bool:
        """Whether a message claimed something by one of the predicates, but nothing of one of the names."""
        claims = self._claims.get(source, ())
        return any(one.predicate in predicates for one in claims) and not any(
            one.subject in names for one in claims
        )

    def said(
        self, names: Collection[str], predicates: Collection[str], holds: Holds, *, limit: int
    ) -> list[Said]:
        """The messages that told what holds of the names by the predicates, the latest first.

        Args:
            names: By key.
            predicates: What is asked about.
            holds: Tells what holds.
            limit: How many facts, and how many messages, are told at most.
        """
        topics = (self._topics.get((name, one), ()) for name in names for one in predicates)
        latest = merge(*topics, key=lambda one: (-one.since, one.fact_id))
        return [
            Said(fact.subject, fact.predicate, fact.cardinality, fact.fact_id, *source)
            for fact in islice(filter(holds, latest), limit)
            for source in fact.sources
        ][:limit]
