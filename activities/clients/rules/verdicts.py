"""Verdicts: what tense, denial, wish and end make of a pattern's kind.

They stand apart so that the patterns can be data: each kind has one function here.
"""

import re
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Literal

from mnestic.activities.clients.rules.clauses import Clause
from mnestic.activities.clients.rules.patterns import Kind
from mnestic.activities.clients.rules.times import Times

Verdict = Literal[
    "is", "was", "used_to", "ended", "denied", "never", "planned", "wished", "dropped", "nothing"
]
"""What a clause says of its fact.

is       it is so, or will be from a day that is named
was      it was so at some time
used_to  it was so and is so no longer
ended    it is so no longer
denied   it is not so
never    it never was
planned  it is meant to happen
wished   somebody would like it
dropped  it was meant to happen and is not any more
nothing  the clause leaves it open
"""


_LASTING: frozenset[Kind] = frozenset({"state", "habit"})
_NO_MORE = re.compile(r"\b(?:any ?more|any longer)\b(?! than\b)", re.IGNORECASE)
_HARDLY_ANY = re.compile(
    r"\s*(?:hardly|barely|scarcely|no|next to no|very little|little(?! \w+s\b)|(?:very )?few)\b"
)
_AS_MUCH = re.compile(r"\bas (?:much|well|often|many)\b|\b(?:more|less|better) than\b")


def verdict_of(kind: Kind, clause: Clause, times: Times, *, at: datetime) -> Verdict:
    """What a clause of a kind says."""
    verb = clause.verb
    if verb.mood == "modal" or _is_for_a_while(clause) or _HARDLY_ANY.match(clause.rest):
        return "nothing"
    if verb.mood == "wish":
        if verb.is_past or is_no_more(clause):
            return "dropped"
        return "nothing" if verb.is_negated else "wished"
    if verb.mood == "plan":
        return "dropped" if verb.is_negated or verb.is_past else "planned"
    if verb.is_remote:
        return (
            "was"
            if kind in _LASTING and verb.mood == "plain" and not verb.is_negated
            else "nothing"
        )
    return _BY_KIND[kind](clause, times, at)


def is_no_more(clause: Clause) -> bool:
    """As in "I don't want a dog any more"."""
    return clause.verb.is_negated and bool(_NO_MORE.search(clause.rest))


def _is_for_a_while(clause: Clause) -> bool:
    """As in "I've gone vegan for January"; "for three years" says since when."""
    return any(date.relation == "for" and date.kind != "amount" for date in clause.dates)


def _standing(clause: Clause, times: Times, at: datetime) -> Verdict:
    verb = clause.verb
    if verb.mood == "used_to":
        return "nothing" if verb.is_negated else "used_to"
    if verb.mood == "stopped" or verb.is_past:
        return "nothing" if verb.is_negated or verb.tense == "future" else "ended"
    if verb.is_negated:
        return _denied(clause, times)
    is_so = not times.is_ahead(at) or times.since is not None or verb.has_begun
    if verb.tense == "future":
        is_so = times.is_ahead(at)
    elif verb.tense == "past":
        is_lasting = verb.is_perfect and (times.since is not None or verb.is_progressive)
        is_so = verb.has_begun or is_lasting
        return "is" if is_so else "was"
    return "is" if is_so else "nothing"


def _denied(clause: Clause, times: Times) -> Verdict:
    verb = clause.verb
    if verb.is_perfect and verb.is_never:
        return "never"
    if verb.is_perfect:
        return "ended" if times.since else "nothing"
    return "denied" if verb.tense == "present" else "nothing"


def _habitual(clause: Clause, times: Times, at: datetime) -> Verdict:
    verb = clause.verb
    if verb.is_progressive and not (times.since or verb.has_begun) and verb.mood == "plain":
        return (
            "is" if clause.verb.lemma in {"expect", "have"} and not verb.is_negated else "nothing"
        )
    return _standing(clause, times, at)


def _felt(clause: Clause, times: Times, at: datetime) -> Verdict:
    verb = clause.verb
    is_compared = verb.is_negated and _AS_MUCH.search(clause.rest)
    if (
        is_compared
        or verb.is_progressive
        or (verb.tense == "past" and not verb.is_perfect and verb.mood == "plain")
    ):
        return "nothing"
    if verb.lemma == "stand":
        return "denied" if verb.is_negated else "nothing"
    found = _standing(clause, times, at)
    return "is" if found == "was" else found


def _happened(clause: Clause, times: Times, at: datetime) -> Verdict:
    verb = clause.verb
    if verb.mood != "plain" or verb.is_past:
        return "nothing"
    if verb.is_negated:
        if verb.tense == "past":
            return "never" if verb.is_never else "nothing"
        return "dropped" if verb.is_progressive or verb.tense == "future" else "nothing"
    if verb.tense == "past":
        return "was" if times.is_ahead(at) else "is"
    return "planned" if verb.is_progressive or times.is_ahead(at) else "nothing"


def _travelled(clause: Clause, times: Times, at: datetime) -> Verdict:
    verb = clause.verb
    if verb.mood != "plain":
        return "nothing"
    if verb.is_negated or verb.is_past:
        return "dropped" if verb.is_progressive or verb.tense == "future" else "nothing"
    if verb.tense == "past":
        return "is"
    return (
        "planned"
        if verb.is_progressive or verb.tense == "future" or times.is_ahead(at)
        else "nothing"
    )


def _over(clause: Clause, _times: Times, _at: datetime) -> Verdict:
    verb = clause.verb
    is_told = verb.tense == "past" or (verb.lemma == "be" and verb.tense == "present")
    return "ended" if is_told and verb.mood == "plain" and not verb.is_negated else "nothing"


def _arranged(clause: Clause, _times: Times, _at: datetime) -> Verdict:
    verb = clause.verb
    if verb.mood != "plain" or verb.is_negated:
        return "nothing"
    is_present = verb.lemma in {"have", "plan"} and verb.tense == "present"
    return "planned" if verb.tense == "past" or is_present else "nothing"


def _given_up(clause: Clause, _times: Times, _at: datetime) -> Verdict:
    verb = clause.verb
    is_told = verb.tense == "past" and verb.mood == "plain" and not verb.is_negated
    return "dropped" if is_told else "nothing"


def _introduced(clause: Clause, _times: Times, _at: datetime) -> Verdict:
    verb, subject = clause.verb, clause.subject
    is_alone = subject.person == "first" and not subject.is_plural and not subject.with_speaker
    is_so = verb.tense == "present" and verb.mood == "plain" and not verb.is_negated
    return "is" if is_alone and is_so and not verb.is_past else "nothing"


_BY_KIND: Mapping[Kind, Callable[[Clause, Times, datetime], Verdict]] = {
    "state": _standing,
    "habit": _habitual,
    "feeling": _felt,
    "event": _happened,
    "trip": _travelled,
    "end": _over,
    "plan": _arranged,
    "dropped": _given_up,
    "self": _introduced,
}
