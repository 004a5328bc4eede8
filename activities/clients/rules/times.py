"""Times of a clause: since when, until when, on which day.

They stand apart because every rule asks for them, and the clause's own tense decides what they mean.
"""

import re
from dataclasses import dataclass
from datetime import datetime

from mnestic.activities.clients.rules.clauses import Clause
from mnestic.memory.language.dates import Period, Tense

_UNTIL = re.compile(r"\b(?:until|till)\b")


@dataclass(frozen=True, slots=True)
class Times:
    """What a clause names: a day on which, a moment since and until which it is so."""

    on: Period | None = None
    since: Period | None = None
    until: Period | None = None

    @property
    def begins(self) -> datetime | None:
        """When it began, or happened."""
        named = self.since or self.on
        return named.start if named else None

    @property
    def ends(self) -> datetime | None:
        """When it ends: after the day that was named, at the beginning of anything longer."""
        if self.until is None:
            return None
        return self.until.end if self.until.unit == "day" else self.until.start

    def is_ahead(self, at: datetime) -> bool:
        """Whether it begins after a moment."""
        return self.begins is not None and self.begins > at


def times_of(clause: Clause, at: datetime) -> Times:
    """The times of a clause that was said at a moment."""
    tense: Tense = clause.verb.tense
    if clause.verb.mood in {"stopped", "used_to"} or clause.verb.is_past:
        tense = "past"
    found: dict[str, Period] = {}
    for mention in clause.dates:
        relation = "since" if mention.relation == "for" else mention.relation
        if relation == "on" and _UNTIL.search(clause.rest):
            relation = "until"  # "until his contract ends in December"
        if mention.relation == "for" and clause.verb.tense == "past" and not clause.verb.is_perfect:
            continue  # "I lived there for a year" says nothing about when
        period = mention.resolve(at, tense)
        if period is not None:
            found.setdefault(relation, period)
    return Times(found.get("on"), found.get("since"), found.get("until"))
