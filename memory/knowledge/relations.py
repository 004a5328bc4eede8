"""Relations: which entries an entry is related to, since their messages spoke of the same before it.

It is pure, and a function of all that was said, so neither the order in which messages arrive nor how
many are learned from at a time changes it.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from datetime import datetime
from typing import NamedTuple

from mnestic.memory.knowledge.predicates import Predicate

MOST_RELATED = 5
Place = tuple[str, str]  # session and source id of a message


class Mention(NamedTuple):
    """That a message claims something; `object_key` is None where it ends all there was."""

    subject_key: str
    predicate: str
    object_key: str | None
    said_at: datetime
    place: Place


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

    Args:
        mentions: All of the topics that were learned of, in any order.
        predicates: Of the mentions, by name.
        learned: The messages that were learned from just now.

    Returns:
        For each claim the latest of them, `MOST_RELATED` at most.
    """
    before: dict[tuple[str, str], dict[str | None, list[Related]]] = defaultdict(dict)
    found: dict[Place, set[Related]] = defaultdict(set)
    for mention in sorted(mentions, key=lambda one: (one.said_at, one.place[::-1])):
        single = predicates[mention.predicate].cardinality == "single"
        earlier = before[mention.subject_key, mention.predicate]
        key = None if single else mention.object_key
        same = earlier if key is None else {one: earlier.get(one, []) for one in (key, None)}
        latest = _latest(
            one for each in same.values() for one in each if one.place != mention.place
        )
        if mention.place in learned or any(one.place in learned for one in latest):
            found[mention.place].update(latest)
        earlier[key] = _latest(
            [*earlier.get(key, ()), Related(mention.said_at, mention.place)], more=1
        )
    return {place: related for place, related in found.items() if related}


def _latest(related: Iterable[Related], *, more: int = 0) -> list[Related]:
    """The latest, each once; one more where the message itself may be among them."""
    ordered = sorted(set(related), key=lambda one: (one.said_at, one.place[::-1]), reverse=True)
    return ordered[: MOST_RELATED + more]
