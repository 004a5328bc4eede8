"""What messages claimed of an agent's world, and what is believed by that, as a process keeps it.

It stands apart from where entries are, since it is another when facts are, which no entry need tell.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from collections.abc import Set as AbstractSet
from heapq import merge
from itertools import islice
from sys import getsizeof, intern
from typing import NamedTuple

# Of a message that claimed something, of each claim, of each fact and of each message that told it; by tracemalloc.
_CLAIMED_BYTES, _CLAIM_BYTES = 300, 110
_FACT_BYTES, _SAID_BYTES = 700, 130
_NAME_BYTES = 60

Source = tuple[str | None, str | None]  # a message: its session, and its own id
Until = float | str  # infinity is a word in JSON
Topic = tuple[str, str]  # the key of whom something is believed, and the predicate


class Claimed(NamedTuple):
    """What a message claimed: of whom, by key, by which predicate, and until when that holds.

    In seconds since 1970: infinity where no end is known, and minus that where it does not hold; None of a claim that
    ends or takes back something.
    """

    subject: str
    predicate: str
    until: float | None


class Believed(NamedTuple):
    """A fact that is believed since and until when, in seconds since 1970, and the messages that told it, the latest first."""

    since: float
    until: float
    fact_id: str
    cardinality: str
    sources: Sequence[Source]


class Said(NamedTuple):
    """A message that told what is believed: as `known_facts` asks Postgres for them."""

    subject_key: str
    predicate: str
    cardinality: str
    id: str
    session_id: str | None
    source_id: str | None


class KeptClaims:
    """What all messages claimed, and all facts that are believed, the latest first."""

    def __init__(self) -> None:
        self.bytes = 0
        self._claims: dict[Source, Sequence[Claimed]] = {}
        self._facts: defaultdict[Topic, list[Believed]] = defaultdict(list)
        self._names: set[str] = set()

    def claim(
        self, claimed: Iterable[tuple[str, str, Iterable[tuple[str, str, Until | None]]]]
    ) -> None:
        """Takes what messages claimed, by their sessions and own ids: as `Claimed`."""
        for session_id, source_id, claims in claimed:
            told = tuple(
                Claimed(
                    intern(subject), intern(predicate), until if until is None else float(until)
                )
                for subject, predicate, until in claims
            )
            self._claims[session_id, source_id] = told
            self.bytes += _CLAIMED_BYTES + _CLAIM_BYTES * len(told)

    def believe(
        self, facts: Iterable[tuple[str, str, float, Until, str, str, Iterable[Source]]]
    ) -> None:
        """Takes facts, the latest of each topic first: topics, and `Believed`."""
        for subject, predicate, since, until, fact_id, cardinality, sources in facts:
            told = tuple((session_id, source_id) for session_id, source_id in sources)
            fact = Believed(since, float(until), fact_id, intern(cardinality), told)
            self._facts[intern(subject), intern(predicate)].append(fact)
            self.bytes += _FACT_BYTES + _SAID_BYTES * len(told)

    def name(self, names: Iterable[str]) -> None:
        """Takes the names of facts by key: of whom something was ever believed, and what somebody is called."""
        for name in names:
            self._names.add(name)
            self.bytes += _NAME_BYTES + getsizeof(name)

    def has(self, name: str) -> bool:
        """Whether a fact has a name."""
        return name in self._names

    def is_over(self, source: Source, respects: AbstractSet[str], *, now: float) -> bool:
        """Whether a message claimed something, and nothing of it holds; of the respects, where it claimed something by them."""
        claims = [one for one in self._claims.get(source, ()) if one.until is not None]
        counted = [one for one in claims if one.predicate in respects] or claims
        return bool(claims) and all(one.until <= now for one in counted if one.until is not None)

    def is_of_others(
        self, source: Source, names: Collection[str], predicates: Collection[str]
    ) -> bool:
        """Whether a message claimed something by one of the predicates, but nothing of one of the names."""
        claims = self._claims.get(source, ())
        return any(one.predicate in predicates for one in claims) and not any(
            one.subject in names for one in claims
        )

    def said(
        self, names: Collection[str], predicates: Collection[str], *, now: float, limit: int
    ) -> list[Said]:
        """The messages that told what is believed now of the names by the predicates, the latest first.

        Args:
            names: By key.
            predicates: What is asked about.
            now: Seconds since 1970.
            limit: How many facts, and how many messages, are told at most.
        """
        topics = [(name, one) for name in names for one in predicates]
        known = ([(each, topic) for each in self._facts.get(topic, ())] for topic in topics)
        holding = (
            one for one in merge(*known, key=lambda one: _latest(one[0])) if one[0].until > now
        )
        return [
            Said(*topic, fact.cardinality, fact.fact_id, *source)
            for fact, topic in islice(holding, limit)
            for source in fact.sources
        ][:limit]


def _latest(fact: Believed) -> tuple[float, str]:
    return -fact.since, fact.fact_id
