"""The world model of a subject: valid facts, their changes, patterns, and predictions.

It is pure: everything follows from the subject's facts and claims.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import datetime

from pydantic import AwareDatetime, ConfigDict

from mnestic.memory.deferred_model import DeferredModel
from mnestic.memory.knowledge.claims import Claim, name_key
from mnestic.memory.knowledge.entries import Entry
from mnestic.memory.knowledge.facts import Fact
from mnestic.memory.knowledge.subjects import spelt
from mnestic.memory.knowledge.world.histories import FactHistory, history_of
from mnestic.memory.knowledge.world.patterns import Pattern, Prediction, patterns_of, predict


class World(DeferredModel):
    """The world model of a subject at a moment.

    `facts` are valid then; `changes` are the histories of facts that changed; `entries` are memories of the type
    `pattern` about the subject.
    """

    model_config = ConfigDict(frozen=True, extra="ignore")

    subject: str
    at: AwareDatetime
    facts: tuple[Fact, ...] = ()
    changes: tuple[FactHistory, ...] = ()
    patterns: tuple[Pattern, ...] = ()
    predictions: tuple[Prediction, ...] = ()
    entries: tuple[Entry, ...] = ()


def world_of(
    subject: str,
    facts: Iterable[Fact],
    claims: Iterable[Claim],
    *,
    entries: Sequence[Entry] = (),
    now: datetime,
) -> World:
    """The world model of a subject.

    Args:
        subject: Its name, in the spelling that is used if no fact has one.
        facts: All facts about it, whatever their status.
        claims: The claims from which the facts follow.
        entries: Memories of patterns about it.
        now: The moment of the model; predictions are for later.
    """
    by_id = {claim.id: claim for claim in claims}
    topics: dict[str, list[Fact]] = defaultdict(list)
    for fact in sorted(facts, key=lambda fact: (fact.predicate, fact.valid_from, fact.id)):
        if fact.status != "deleted":
            topics[fact.predicate].append(fact)
    known = [fact for topic in topics.values() for fact in topic]
    found = [(patterns_of(topic, by_id), topic) for topic in topics.values()]
    expected = [
        predict(pattern, topic, now=now) for patterns, topic in found for pattern in patterns
    ]
    return World(
        subject=spelt(name_key(subject), known, otherwise=subject),
        at=now,
        facts=tuple(fact for fact in known if fact.is_valid_at(now) and fact.end != "faded"),
        changes=tuple(
            _history(topic, by_id.values())
            for topic in topics.values()
            if any(fact.status != "active" for fact in topic)
        ),
        patterns=tuple(pattern for patterns, _ in found for pattern in patterns),
        predictions=tuple(
            sorted(filter(None, expected), key=lambda known: (known.expected_at, known.pattern))
        ),
        entries=tuple(entries),
    )


def _history(facts: Sequence[Fact], claims: Iterable[Claim]) -> FactHistory:
    versions = history_of(facts, claims)
    return FactHistory(
        subject=versions[0].subject,
        predicate=versions[0].predicate,
        cardinality=versions[0].cardinality,
        category=versions[0].category,
        facts=versions,
    )
