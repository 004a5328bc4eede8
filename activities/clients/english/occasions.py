"""Occasions: journeys, moves, weddings and appointments, which are planned, wished or dated.

It stands apart because here a date, or a plan, is what the fact is about.
"""

from collections.abc import Iterator

from spacy.tokens import Token

from mnestic.activities.clients.english.claiming import (
    Reading,
    claim_of_clause,
    moves_thing,
    times_of,
)
from mnestic.activities.clients.english.clauses import Clause
from mnestic.activities.clients.english.status import State, status_of
from mnestic.activities.clients.english.trees import (
    children,
    clause_text,
    clause_words,
    is_negated,
    lemma,
    verb_key,
)
from mnestic.memory.knowledge.claims import ClaimKind
from mnestic.memory.knowledge.extraction import Extracted

_JOURNEYS = frozenset({"go", "fly", "travel", "head", "drive", "sail", "take"})
_MOVES = frozenset({"move", "relocate", "emigrate"})
_DAYS = frozenset({"day", "month"})
_MARRYING = frozenset({"marry", "get:marry", "get:married", "be:marry"})
_SHIFTS = frozenset({"move", "push", "reschedule", "postpone", "shift", "delay", "extend"})
_PREPOSITIONS = frozenset({"in", "on", "at", "by", "from", "to", "for"})
_TELLING = frozenset({"against", "with", "for", "in", "about"})
_NAMING = frozenset({"to", "from", "with", "at"})  # by these alone anybody asks for an occasion
_AGAINST = frozenset({"against", "on"})


def occasions_of(clause: Clause, reading: Reading) -> Iterator[Extracted]:
    """The claims of a clause about what is planned, wished or has its day."""
    yield from _dropped(clause, reading)
    if clause.status.state in {State.NONE, State.NEVER, State.ENDED}:
        return
    yield from _intended(clause, reading)
    yield from _shifted(clause, reading)
    yield from _journey(clause, reading)
    yield from _departure(clause, reading)
    yield from _wedding(clause, reading)
    yield from _day_of(clause, reading)
    yield from _born(clause, reading)
    yield from _signed_up(clause, reading)


def _journey(clause: Clause, reading: Reading) -> Iterator[Extracted]:
    """A journey or a move to come: a plan, or a wish."""
    is_move = bool(_MOVES & set(clause.keys))
    if not is_move and not _JOURNEYS & set(clause.keys):
        return
    if is_move and moves_thing(clause.verb, reading):
        return
    places = [
        token
        for name in ("to", "in", "into")
        for token in clause.slots.get(name, ())
        if reading.classes.fits(token, "place")
    ]
    status = clause.status
    if not places:
        return
    value = f"{'move' if is_move else 'trip'} to {reading.values.text(places[0])}"
    if status.state is State.NEGATED and clause.verb.tag_ == "VBG":  # "I'm not going after all"
        for person in clause.subjects:
            yield claim_of_clause(clause, person.subject, "plans", value, kind="ended")
        return
    predicate = _planned(clause, reading)
    begins = times_of(clause, reading, tense="future").on
    for person in clause.subjects if predicate else ():
        yield claim_of_clause(
            clause, person.subject, predicate or "", value, begins=begins.start if begins else None
        )


def _intended(clause: Clause, reading: Reading) -> Iterator[Extracted]:
    """What somebody wants or plans to do: "I want to become a pilot", "I plan to study medicine"."""
    state, value = clause.status.state, _deed(clause, reading)
    is_open = state in {State.WISHED, State.PLANNED} and clause.verb.dep_ == "xcomp"
    if not is_open or not value:
        return
    predicate = "wants" if state is State.WISHED else "plans"
    begins = times_of(clause, reading, tense="future").begins
    for person in clause.subjects:
        yield claim_of_clause(clause, person.subject, predicate, value, begins=begins)


def _deed(clause: Clause, reading: Reading) -> str:
    """What is to be done, if it is worth while: "study medicine in Leuven", "move to Rome"."""
    verb = clause.verb
    if verb_key(verb) not in reading.lexicon.grammar.deeds:
        return ""
    places = [
        token
        for name in ("to", "in")
        for token in clause.slots.get(name, ())
        if reading.classes.fits(token, "place")
    ]
    is_move = lemma(verb) in _MOVES and not moves_thing(verb, reading)
    if (is_move or lemma(verb) == "live") and places:
        return f"move to {reading.values.text(places[0])}"
    if lemma(verb) in _JOURNEYS and places:
        return ""  # a journey, of which others make a plan
    words = reading.values.text(verb, with_phrase=True).split()
    plain = [word for word in words[1:] if word.lower() not in reading.lexicon.grammar.articles]
    while plain and plain[-1] in _PREPOSITIONS:  # of a date, which is no part of it
        plain.pop()
    return " ".join([lemma(verb), *plain]) if plain else ""


def _dropped(clause: Clause, reading: Reading) -> Iterator[Extracted]:
    """The end of what was wanted or planned: "I decided not to", "decided against", "don't want to"."""
    verb, head = clause.verb, clause.verb.head
    governor = head.head if verb.dep_ == "pcomp" else head
    key = verb_key(governor)
    above = status_of(governor, reading.lexicon.grammar).state
    is_against = verb.dep_ == "pcomp" and head.lower_ in _AGAINST and key in {"decide", "give_up"}
    is_against = is_against or (key == "decide" and verb.dep_ == "xcomp" and is_negated(verb))
    is_against = is_against and above in {State.PAST, State.PERFECT}
    is_unwanted = verb.dep_ == "xcomp" and above in {State.NEGATED, State.ENDED}
    is_unwanted = is_unwanted and key in reading.lexicon.grammar.wishes
    value = _deed(clause, reading)
    if not value or not (is_against or is_unwanted):
        return
    for person in clause.subjects:
        for predicate in ("plans", "wants"):
            yield claim_of_clause(clause, person.subject, predicate, value, kind="ended")


def _planned(clause: Clause, reading: Reading) -> str | None:
    """Whether what a clause tells of is planned or wished, if it is still to come."""
    status = clause.status
    if status.state is State.WISHED:
        return "wants"
    if status.state is State.PLANNED:
        return "plans"
    times = times_of(clause, reading, tense="future")
    is_ahead = times.on is not None and times.on.start > reading.at
    if status.state is State.NOW and (status.is_progressive or is_ahead):
        return "plans"
    return None


def _departure(clause: Clause, reading: Reading) -> Iterator[Extracted]:
    """As in "We fly on the 4th": when the speaker's next journey is, whose goal other words name."""
    day = times_of(clause, reading, tense="future").on
    others = [
        token
        for name, row in clause.slots.items()
        if name not in {"advmod", "npadvmod", "mod"}
        for token in row
        if not reading.values.is_date(token)
    ]
    is_first = any(token.lower_ in {"i", "we"} for token in clause.subject_tokens)
    if (
        lemma(clause.verb) not in {"fly", "go", "travel", "leave"}
        or day is None
        or others
        or not is_first
    ):
        return
    is_ahead = day.end > reading.at and clause.status.state in {State.NOW, State.PLANNED}
    if is_ahead and day.unit in {"day", "week"}:
        kind: ClaimKind = "corrected" if reading.is_correction else "affirmed"
        yield claim_of_clause(clause, reading.cast.speaker, "travel_date", str(day), kind=kind)


def _wedding(clause: Clause, reading: Reading) -> Iterator[Extracted]:
    """As in "we marry on the 27th of September", "in September, on the 20th"."""
    is_ahead = clause.status.state in {State.NOW, State.PLANNED, State.WISHED}
    if _MARRYING.isdisjoint(clause.keys) or not clause.subjects or not is_ahead:
        return
    mentions = [each for each in reading.parsed.dates if _is_in(each.start, clause)]
    days = [day for each in mentions if (day := each.resolve(reading.at, "future"))]
    months = [day for day in days if day.unit == "month"]
    exact = [day for day in days if day.unit == "day"]
    who = clause.subjects[0].subject
    if exact and months and exact[0].start.month != months[0].start.month:
        month = months[0].start
        start = exact[0].start.replace(year=month.year, month=month.month)
        yield claim_of_clause(clause, who, "wedding_date", f"{start:%Y-%m-%d}")
    elif exact or months:
        yield claim_of_clause(clause, who, "wedding_date", str((exact or months)[0]))


def _is_in(place: int, clause: Clause) -> bool:
    verbs = [clause.verb, clause.verb.head] if clause.verb.dep_ == "xcomp" else [clause.verb]
    words = [word for verb in verbs for word in clause_words(verb)]
    return any(word.idx <= place < word.idx + len(word) for word in words)


def _day_of(clause: Clause, reading: Reading) -> Iterator[Extracted]:
    """As in "the operation is next Tuesday", "my exam is on 3 May", "the report is due on Friday"."""
    is_so = clause.status.state in {State.NOW, State.PERFECT, State.PLANNED}
    if not is_so or lemma(clause.verb) not in {"be", "take"}:
        return
    day = times_of(clause, reading, tense="future").on
    if day is None or day.unit not in _DAYS:
        return
    for noun in clause.subject_tokens:
        if noun.pos_ in {"NOUN", "PROPN"}:
            yield from _dated(noun, str(day), clause, reading=reading)


def _shifted(clause: Clause, reading: Reading) -> Iterator[Extracted]:
    """As in "My exam was moved to Monday", "We've postponed the wedding to 12 September"."""
    if not _SHIFTS & set(clause.keys) or clause.status.state not in {State.PAST, State.PERFECT}:
        return
    times = times_of(clause, reading, tense="future")
    day = times.on or times.until
    is_passive = bool(children(clause.verb, "auxpass"))
    nouns = clause.subject_tokens if is_passive else clause.slots.get("dobj", ())
    if day is not None and day.unit in _DAYS:
        for noun in nouns:
            yield from _dated(noun, str(day), clause, reading=reading)


def _dated(noun: Token, day: str, clause: Clause, *, reading: Reading) -> Iterator[Extracted]:
    owner, apart = reading.cast.owner_of(noun), _distinction(noun, reading)
    is_named = all(each.lower_ not in _TELLING - _NAMING for each in children(noun, "prep"))
    if apart and not (owner or is_named) and lemma(noun) != "deadline":
        return  # "the match against Falcons" is no name by which anybody asks for a match
    name = reading.values.text(noun).removesuffix(f" of {owner}") + apart
    kind: ClaimKind = (
        "corrected"
        if reading.is_correction or " not " in f" {clause_text(clause.verb)} "
        else "affirmed"
    )
    subject = f"{owner}'s {name}" if owner else name
    if lemma(noun) == "deadline":
        of = [
            each
            for preposition in children(noun, "prep")
            for each in children(preposition, "pobj")
            if preposition.lower_ in {"of", "for"}
        ]
        subject = reading.values.text(of[0]) if of else subject.removesuffix(" deadline")
        yield claim_of_clause(clause, subject, "due_date", day, kind=kind)
    elif any(token.lower_ == "due" for token in clause.slots.get("acomp", ())):
        yield claim_of_clause(clause, subject, "due_date", day, kind=kind)
    elif lemma(noun) == "wedding" and owner:
        yield claim_of_clause(clause, owner, "wedding_date", day, kind=kind)
    elif reading.classes.is_of(noun, "meeting"):
        yield claim_of_clause(clause, subject, "happens_on", day, kind=kind)


def _distinction(noun: Token, reading: Reading) -> str:
    """What tells an occasion from others of its kind: "to Rome with Anna", "in maths"; "" for nothing."""
    found = []
    for preposition in children(noun, "prep"):
        words = [
            reading.values.text(each)
            for each in children(preposition, "pobj")
            if each.pos_ in {"NOUN", "PROPN"} and not reading.values.is_date(each)
        ]
        if words and preposition.lower_ in _TELLING | _NAMING:
            found.append(f" {preposition.lower_} {words[0]}")
    return "".join(found)


def _born(clause: Clause, reading: Reading) -> Iterator[Extracted]:
    """As in "my niece was born on Thursday", "I turn 30 on the fourth of March"."""
    is_turning = "turn" in clause.keys and any(
        reading.classes.fits(token, "number")
        for name in ("dobj", "attr", "acomp", "npadvmod", "oprd")
        for token in clause.slots.get(name, ())
    )
    is_born = "be:bear" in clause.keys or "be:born" in clause.keys
    if clause.status.state in {State.NEGATED, State.WISHED} or not (is_born or is_turning):
        return
    day = times_of(clause, reading, tense="past" if is_born else "future").on
    if day is None or day.unit != "day" or len(clause.subjects) != 1:
        return
    value = str(day) if is_born else f"{day.start.day} {day.start:%B}"
    if is_turning and clause.status.state not in {State.NOW, State.PLANNED}:
        return
    yield claim_of_clause(clause, clause.subjects[0].subject, "birthday", value)


def _signed_up(clause: Clause, reading: Reading) -> Iterator[Extracted]:
    """As in "I signed up for the Ghent half marathon"."""
    if not {"sign_up", "register", "enter"} & set(clause.keys) or clause.status.state not in {
        State.PAST,
        State.PERFECT,
    }:
        return
    for token in [*clause.slots.get("for", ()), *clause.slots.get("up for", ())]:
        is_event = reading.classes.is_of(token, "event") or reading.classes.is_of(token, "meeting")
        if not is_event or clause.slots.get("dobj"):
            continue
        for person in clause.subjects:
            yield claim_of_clause(clause, person.subject, "plans", reading.values.text(token))
