"""Relations: which entries an entry is related to, since their messages spoke of the same before it.

It is pure, and a function of all that was said, so neither the order in which messages arrive nor how
many are learned from at a time changes it.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from datetime import datetime
from typing import NamedTuple

from mnestic.memory.knowledge.claims import may_mean
from mnestic.memory.knowledge.predicates import Predicate

MOST_RELATED = 5
Place = tuple[str, str]  # session and source id of a message


class Mention(NamedTuple):
    """That a message claims something, or `ends` it; `object_key` is None where it ends all there was."""

    subject_key: str
    predicate: str
    object_key: str | None
    said_at: datetime
    place: Place
    ends: bool = False


class Related(NamedTuple):
    """A message that another is related to."""

    said_at: datetime
    place: Place


def related_messages(
    mentions: Iterable[Mention],
    *,
    predicates: Mapping[str, Predicate],
    learned: Collection[Place],
) -> dict[Place, set[Related]]:
    """The messages that those of `learned`, and later ones because of them, are related to.

    They are the ones that said before what a claim confirms, supersedes, corrects or ends: of a
    predicate with one object at a time all on the same subject, of another those of the same object.
    The end of something that nobody spoke of before is related to nothing.

    Args:
        mentions: All of the topics that were learned of, in any order.
        predicates: Of the mentions, by name.
        learned: The messages that were learned from just now.

    Returns:
        For each claim the latest of them, `MOST_RELATED` at most.
    """
    before: dict[tuple[str, str], _Earlier] = defaultdict(_Earlier)
    found: dict[Place, set[Related]] = defaultdict(set)
    for mention in sorted(mentions, key=lambda one: (one.said_at, one.place[::-1])):
        earlier = before[mention.subject_key, mention.predicate]
        same = earlier.of_same(mention, predicates[mention.predicate])
        if mention.ends and not same:
            continue
        latest = _latest(one for one in same if one.place != mention.place)
        if mention.place in learned or any(one.place in learned for one in latest):
            found[mention.place].update(latest)
        earlier.add(mention)
    return {place: related for place, related in found.items() if related}


class _Earlier:
    """The latest messages about a topic, of all objects and of each; None of an object ends all there was."""

    def __init__(self) -> None:
        self._all: list[Related] = []
        self._by_object: dict[str | None, list[Related]] = {}

    def add(self, mention: Mention) -> None:
        """Adds a message."""
        related = Related(mention.said_at, mention.place)
        self._all = _latest([*self._all, related], more=1)
        same = self._by_object.get(mention.object_key, ())
        self._by_object[mention.object_key] = _latest([*same, related], more=1)

    def of_same(self, mention: Mention, predicate: Predicate) -> list[Related]:
        """The messages that a mention may confirm, supersede or end."""
        key = mention.object_key
        if key is None or (predicate.cardinality == "single" and not mention.ends):
            return self._all
        if mention.ends:
            same = (one for one in self._by_object if one is None or may_mean(key, one))
        else:
            same = (one for one in (key, None) if one in self._by_object)
        return [related for one in same for related in self._by_object[one]]


def _latest(related: Iterable[Related], *, more: int = 0) -> list[Related]:
    """The latest, each once; one more where the message itself may be among them."""
    ordered = sorted(set(related), key=lambda one: (one.said_at, one.place[::-1]), reverse=True)
    return ordered[: MOST_RELATED + more]
