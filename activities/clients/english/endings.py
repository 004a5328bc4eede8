"""Endings: what somebody gave up, lost, sold, called off or swapped, whatever it was known as.

It stands apart because the words name only the thing; which fact ends, the stored facts decide.
"""

from collections.abc import Iterable, Iterator

from spacy.tokens import Token

from mnestic.activities.clients.english.claiming import Reading, claim_of_clause, times_of
from mnestic.activities.clients.english.clauses import Clause
from mnestic.activities.clients.english.status import State
from mnestic.activities.clients.english.trees import children, following, lemma, verb_key
from mnestic.memory.knowledge.extraction import Extracted

_DONE = frozenset({State.PAST, State.PERFECT})
_OBJECTS = ("dobj", "xcomp", "of", "dative")


def endings_of(clause: Clause, reading: Reading) -> Iterator[Extracted]:
    """What a clause ends."""
    state = clause.status.state
    if state is State.NONE:
        return
    yield from _over(clause, reading)
    yield from _died(clause, reading)
    if state in _DONE:
        yield from _swapped(clause, reading)
        yield from _given_up(clause, reading)
    elif state is State.ENDED:
        yield from _stopped(clause, reading)


def _given_up(clause: Clause, reading: Reading) -> Iterator[Extracted]:
    """As in "I gave up the cello", "we called off the trip"."""
    for ending in reading.lexicon.frames.endings.values():
        if not ending.verbs & set(clause.keys):
            continue
        for token in _things(clause, _OBJECTS, reading):
            for person in clause.subjects:
                of = _of_class(token, ending.of, reading)
                yield from _end(clause, person.subject, of, value=_name(token, reading))
                if "plans" in ending.of:
                    yield from _undated(clause, person.subject, token, reading=reading)


def _undated(
    clause: Clause, subject: str, token: Token, *, reading: Reading
) -> Iterator[Extracted]:
    """The end of the date of what was called off."""
    for predicate, nouns in reading.lexicon.frames.dates_of.items():
        if lemma(token) in nouns or (
            predicate == "travel_date" and reading.classes.fits(token, "city")
        ):
            yield claim_of_clause(clause, subject, predicate, None, kind="ended")


def _things(clause: Clause, names: Iterable[str], reading: Reading) -> list[Token]:
    return [
        token
        for name in names
        for token in clause.slots.get(name, ())
        if (reading.classes.fits(token, "thing") or token.pos_ == "PROPN")
        and not children(token, "dobj")  # "gave up drinking coffee": the clause below says so
    ]


def _name(token: Token, reading: Reading) -> str:
    names = {name for name, _ in reading.cast.names_of(token)} if reading.cast.is_kin(token) else ()
    if len(names) == 1:
        return next(iter(names))
    if token.pos_ == "PROPN" and reading.classes.is_person_name(token):
        return reading.cast.full_name(token)
    return reading.values.text(token, with_phrase=token.pos_ == "VERB")


def _end(
    clause: Clause, subject: str, predicates: Iterable[str], *, value: str
) -> Iterator[Extracted]:
    if not value:
        return
    for predicate in predicates:
        yield claim_of_clause(clause, subject, predicate, value, kind="ended")


def _stopped(clause: Clause, reading: Reading) -> Iterator[Extracted]:
    """As in "I stopped running marathons", "I don't play the cello any more"."""
    of = reading.lexicon.frames.endings["activities"].of
    if (
        clause.verb.dep_ != "xcomp"
        or verb_key(clause.verb.head) not in reading.lexicon.grammar.stops
    ):
        return
    for token in _things(clause, ("dobj",), reading):
        for person in clause.subjects:
            predicates = _of_class(token, of, reading)
            yield from _end(clause, person.subject, predicates, value=_name(token, reading))


def _of_class(token: Token, of: tuple[str, ...], reading: Reading) -> tuple[str, ...]:
    """What something may have been that was given up: an instrument was played, a drink was drunk."""
    for word_class, predicates in reading.lexicon.frames.given_up.items():
        if reading.classes.is_of(token, word_class):
            return tuple(name for name in predicates if name in of) or of
    return of


def _over(clause: Clause, reading: Reading) -> Iterator[Extracted]:
    """As in "my cello days are over", "Rome is off", "the divorce went through"."""
    frames = reading.lexicon.frames
    for token in clause.subject_tokens:
        nouns = frames.state_nouns.get(lemma(token))
        if nouns and _has_finished(clause, lemma(token), reading):
            owner = _owner(token, reading)
            if owner is None:
                continue
            yield from (claim_of_clause(clause, owner, name, None, kind="ended") for name in nouns)
        elif _is_over(clause, reading) and (token.pos_ in {"NOUN", "PROPN"}):
            owner = _owner(token, reading)
            if owner is None:
                continue
            parts = [
                child
                for child in children(token, "compound", "amod", "nmod")
                if lemma(token) == "day"
            ]
            for part in parts or [token]:
                yield from _end(clause, owner, frames.over.of, value=reading.values.text(part))


def _owner(noun: Token, reading: Reading) -> str | None:
    """Whose something is; the speaker's, if nothing says so; None if nobody knows."""
    owner = reading.cast.owner_of(noun)
    is_of_somebody = children(noun, "poss") or any(
        each.pos_ == "PROPN" for each in following(noun, "of")
    )
    return owner if owner or is_of_somebody else reading.cast.speaker


def _has_finished(clause: Clause, noun: str, reading: Reading) -> bool:
    """Whether a state that a noun names has ended: an end of it, or, of a divorce, that it happened."""
    is_done = clause.status.state in _DONE
    if noun == "divorce":
        return is_done or _is_over(clause, reading)
    return _is_over(clause, reading) or (
        is_done and bool({"end", "finish", "collapse", "fall_apart"} & set(clause.keys))
    )


def _is_over(clause: Clause, reading: Reading) -> bool:
    words = {
        lemma(clause.verb),
        *(
            token.lower_
            for token in clause.verb.children
            if token.dep_ in {"acomp", "advmod", "prt", "prep", "attr", "oprd"}
        ),
    }
    is_copula = lemma(clause.verb) in {"be", "cancel"}
    return (
        is_copula
        and bool(words & reading.lexicon.frames.over.words)
        and clause.status.state in {State.NOW, State.PAST, State.PERFECT}
    )


def _died(clause: Clause, reading: Reading) -> Iterator[Extracted]:
    """Of a pet or a spouse that died; parents stay parents."""
    if not reading.lexicon.frames.died & set(clause.keys) or clause.status.state not in _DONE:
        return
    if children(clause.verb, "xcomp", "advcl", "acomp", "dobj"):
        return  # "he died laughing"
    for person in clause.subjects:
        if person.subject == reading.cast.speaker:
            continue
        name = person.called or None
        if name is not None:
            for predicate in ("pet", "married_to", "partner"):
                yield claim_of_clause(
                    clause, person.owner or reading.cast.speaker, predicate, name, kind="ended"
                )


def _swapped(clause: Clause, reading: Reading) -> Iterator[Extracted]:
    """As in "I left Lloyds for Monzo", "we switched from coffee to tea": where the old was, the new is."""
    for key in clause.keys:
        slots = reading.lexicon.frames.swaps.get(key)
        if slots is None:
            continue
        old, new = (clause.slots.get(name, ()) for name in slots)
        pairs = [(before, after) for before in old[:1] for after in new[:1]]
        for before, after in pairs:
            if _can_swap(before, reading) and _can_swap(after, reading):
                yield from _swap(clause, before, after, reading=reading)
                return


def _can_swap(token: Token, reading: Reading) -> bool:
    return (
        token.pos_ in {"NOUN", "PROPN", "ADJ"}
        and not reading.values.is_date(token)
        and reading.classes.fits(token, "thing")
    )


def _swap(clause: Clause, before: Token, after: Token, *, reading: Reading) -> Iterator[Extracted]:
    """The end of the old in every predicate; the new one where the classes say which it is."""
    old, new = _name(before, reading), _name(after, reading)
    for person in clause.subjects:
        yield from _end(clause, person.subject, reading.lexicon.frames.swapped, value=old)
        for predicate in _predicates_of(clause, before, after, reading=reading):
            begins = times_of(clause, reading).begins
            yield claim_of_clause(clause, person.subject, predicate, new, begins=begins)


def _predicates_of(
    clause: Clause, before: Token, after: Token, *, reading: Reading
) -> Iterator[str]:
    values = reading.classes
    both = (before, after)
    if all(values.is_of(token, "drink") for token in both):
        yield "drinks"
    elif all(values.fits(token, "play") for token in both):
        yield "plays"
    elif all(values.fits(token, "job") for token in both):
        yield "job_title"
    elif all(values.is_of(token, "diet") for token in both):
        yield "diet"
    elif all(values.is_of(token, "owned") for token in both):
        yield "owns"
    elif all(token.pos_ == "PROPN" for token in both) and {"leave", "quit"} & set(clause.keys):
        yield "employer"
