"""Claiming: how a clause with its times becomes claims.

It stands apart because every part of the package makes claims, and all of them need a span and times.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from spacy.tokens import Token

from mnestic.activities.clients.english.classes import ValueClasses
from mnestic.activities.clients.english.clauses import Clause
from mnestic.activities.clients.english.lexicon import Lexicon
from mnestic.activities.clients.english.parsing import Parsed
from mnestic.activities.clients.english.people import Cast
from mnestic.activities.clients.english.status import State
from mnestic.activities.clients.english.trees import children, clause_words
from mnestic.activities.clients.english.values import Values
from mnestic.memory.knowledge.claims import ClaimKind, Span
from mnestic.memory.knowledge.extraction import Extracted
from mnestic.memory.language.dates import Period, Tense

_TO, _BESIDE = ("to", "into", "in"), ("in", "into", "near", "at")
_KNOWN_PLACES = frozenset({"GPE", "LOC"})
_TOOLS = frozenset({"PRODUCT", "NORP", "WORK_OF_ART"})
_TENSES: dict[State, Tense] = {
    State.PAST: "past",
    State.PERFECT: "past",
    State.ENDED: "past",
    State.NEVER: "past",
    State.PLANNED: "future",
    State.WISHED: "future",
}


@dataclass(frozen=True, slots=True)
class Reading:
    """A message as it is read: its parse, its people, and when it was said."""

    parsed: Parsed
    lexicon: Lexicon
    values: Values
    classes: ValueClasses
    cast: Cast
    at: datetime
    is_correction: bool = False


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
    def starts(self) -> datetime | None:
        """Since when it is so, if a time is named."""
        return self.since.start if self.since else None

    @property
    def ends(self) -> datetime | None:
        """When it ends: after a day that was named, at the beginning of anything longer."""
        if self.until is None:
            return None
        return self.until.end if self.until.unit == "day" else self.until.start


def times_of(clause: Clause, reading: Reading, *, tense: Tense | None = None) -> Times:
    """The times that a clause names, its side clauses of time included."""
    words = clause_words(clause.verb)
    first, last = words[0].idx, words[-1].idx + len(words[-1])
    tense = tense or _TENSES.get(clause.status.state, "present")
    found: dict[str, Period] = {}
    for mention in reading.parsed.dates:
        if not first <= mention.start < last:
            continue
        relation = "since" if mention.relation == "for" else mention.relation
        if mention.relation == "for" and clause.status.state is State.PAST:
            continue  # "I lived there for a year" says nothing about when
        period = mention.resolve(reading.at, tense)
        if period is not None:
            found.setdefault(relation, period)
    return Times(found.get("on"), found.get("since"), found.get("until") or _until(clause, reading))


def _until(clause: Clause, reading: Reading) -> Period | None:
    """As in "until his contract ends in December"."""
    for child in clause.verb.children:
        is_until = child.dep_ == "advcl" and any(
            each.lower_ in {"until", "till"} for each in child.children
        )
        if not is_until:
            continue
        words = clause_words(child)
        for mention in reading.parsed.dates:
            if words[0].idx <= mention.start <= words[-1].idx:
                return mention.resolve(reading.at, "future")
    return None


def moves_thing(verb: Token, reading: Reading) -> bool:
    """Whether something is moved, and nobody moves: "I moved my desk to Bath", but not "we moved house"."""
    return any(
        not each.lower_.endswith(("self", "selves"))
        and not reading.values.is_date(each)
        and (children(each, "det", "poss") or not reading.classes.is_of(each, "house"))
        for each in children(verb, "dobj")
    )


def moves_home(clause: Clause, reading: Reading) -> bool:
    """Whether a clause surely says that somebody has another home, and not that a team has another tool or plan.

    What somebody moves to is a place if the parser knows it as one, if the clause speaks of places, dwellings or family otherwise,
    or if one person moves there. Of several people, an unknown name is a place unless the clause says what they use it for, or
    what they used before.
    """
    slots = clause.slots
    ends = next(filter(None, (slots.get(name) for name in _TO)), ())
    starts = slots.get("from", ())
    if any(_is_version(token, reading) for token in (*ends, *starts)):
        return False
    others = [token for name in _BESIDE for token in slots.get(name, ()) if token not in ends]
    is_placed = any(token.ent_type_ in _KNOWN_PLACES for token in (*ends, *starts, *others))
    is_housed = any(reading.classes.is_of(token, "house") for token in others)
    is_family = any(map(reading.cast.is_kin, slots.get("with", ())))
    is_used = "for" in slots or bool(starts) or any(token.ent_type_ in _TOOLS for token in ends)
    return is_placed or is_housed or is_family or not (clause.is_us and is_used)


def _is_version(name: Token, reading: Reading) -> bool:
    """Whether a number stands behind a name: "Python 3.14", and no date."""
    following = name.nbor() if name.i + 1 < len(name.doc) else None
    behind = [*children(name, "nummod", "appos"), *([following] if following else [])]
    return any(token.like_num and not reading.values.is_date(token) for token in behind)


def make_claim(  # noqa: PLR0917 - subject, predicate and object, as everywhere
    tokens: Sequence[Token],
    subject: str,
    predicate: str,
    value: str | None,
    *,
    kind: ClaimKind = "affirmed",
    begins: datetime | None = None,
    ends: datetime | None = None,
) -> Extracted:
    """A claim whose evidence is some tokens, and all between them but marks and conjunctions at either end."""
    words = [token for token in tokens if not (token.is_punct or token.dep_ == "cc")] or tokens
    start = min(token.idx for token in words)
    end = max(token.idx + len(token) for token in words)
    if begins is not None and ends is not None and ends < begins:
        ends = None
    return Extracted(
        kind=kind,
        subject=subject,
        predicate=predicate,
        object=value,
        valid_from=begins,
        valid_to=ends,
        span=Span(start=start, end=end),
    )


def claim_of_clause(  # noqa: PLR0917 - subject, predicate and object, as everywhere
    clause: Clause,
    subject: str,
    predicate: str,
    value: str | None,
    *,
    kind: ClaimKind = "affirmed",
    begins: datetime | None = None,
    ends: datetime | None = None,
) -> Extracted:
    """A claim whose evidence is a clause."""
    words = [word for word in clause_words(clause.verb) if not word.is_space]
    return make_claim(words, subject, predicate, value, kind=kind, begins=begins, ends=ends)
