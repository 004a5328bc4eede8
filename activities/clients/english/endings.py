"""Endings: what somebody gave up, lost, sold, called off or swapped, whatever it was known as.

It stands apart because the words name only the thing; which fact ends, the stored facts decide.
"""

from collections.abc import Iterable, Iterator

from spacy.tokens import Token

from mnestic.activities.clients.english.claiming import Reading, claim_of_clause, times_of
from mnestic.activities.clients.english.clauses import Clause
from mnestic.activities.clients.english.lexicon import Ending
from mnestic.activities.clients.english.phrases import Match, Phrase, match
from mnestic.activities.clients.english.statements import is_for_the_day
from mnestic.activities.clients.english.status import State
from mnestic.activities.clients.english.trees import (
    children,
    conjuncts,
    following,
    lemma,
    verb_key,
)
from mnestic.memory.knowledge.extraction import Extracted

_DONE = frozenset({State.PAST, State.PERFECT})
_LASTING = frozenset({State.NOW, State.PERFECT})
_ANYBODY = frozenset({"they", "company", "firm", "employer", "boss", "work", "management"})
_STEADY = frozenset({"advmod", "npadvmod", "punct", "cc", "conj", "prt", "intj"})
_NAMING = ("of", "at", "to", "with", "in")


def endings_of(clause: Clause, reading: Reading) -> Iterator[Extracted]:
    """What a clause ends."""
    state = clause.status.state
    if state is State.NONE:
        return
    yield from _by_phrases(clause, reading)
    yield from _over(clause, reading)
    yield from _died(clause, reading)
    if state in _DONE:
        yield from _swapped(clause, reading)
    elif state is State.ENDED:
        yield from _stopped(clause, reading)


def _by_phrases(clause: Clause, reading: Reading) -> Iterator[Extracted]:
    """As in "I gave up the cello", "we called off the trip", "Acme gave me the sack"."""
    for found, ending in _longest(clause, reading):
        if ending.fits == "workplace" and is_for_the_day(clause):
            continue
        for owner in _owners(clause, found, ending, reading=reading):
            yield from _ended_by(clause, owner, found, ending=ending, reading=reading)


def _longest(clause: Clause, reading: Reading) -> list[tuple[Match, Ending]]:
    """What matches of a clause, and of that the phrases of most fixed words: "give whom sack" before "give someone X"."""
    found = [
        (phrase.fixed, each, ending)
        for phrase, ending in reading.lexicon.ends.beginning_with(_verbs(clause))
        if _is_so(clause, phrase, ending) and (each := match(phrase, clause.verb)) is not None
    ]
    most = max((words for words, _, _ in found), default=0)
    return [
        (each, ending)
        for words, each, ending in found
        if words == most and (not ending.strict or _is_last(each.last, clause, reading))
    ]


def _verbs(clause: Clause) -> list[str]:
    return [lemma(clause.verb), *map(lemma, children(clause.verb, "auxpass"))]


def _is_so(clause: Clause, phrase: Phrase, ending: Ending) -> bool:
    """Whether the status of a clause is the one by which an ending has come to be."""
    state = clause.status.state
    if ending.denied:
        return state is State.ENDED
    if ending.lasting or phrase.verb == "be":
        return state in _LASTING
    return _has_happened(clause)


def _has_happened(clause: Clause) -> bool:
    """Whether it was done, or is: "the trip has been called off", "the trip is called off"."""
    state = clause.status.state
    is_passive = bool(children(clause.verb, "auxpass")) and not clause.status.is_progressive
    return state in _DONE or (state is State.NOW and is_passive)


def _is_last(last: Token, clause: Clause, reading: Reading) -> bool:
    """Whether nothing but times and manners follows: no "left me a note", "left me at the station"."""
    return all(
        child.dep_ in _STEADY
        or any(reading.values.is_date(each) for each in child.subtree)
        or (child.lower_ == "for" and bool(children(child, "pobj")))
        for child in (*clause.verb.children, *last.children)
        if child.i > last.i
    )


def _owners(clause: Clause, found: Match, ending: Ending, *, reading: Reading) -> list[str]:
    """Whose facts end: of the one who is named for it, of the owner of what has ended, or of the subject."""
    if found.whom is not None:
        person = reading.cast.person_of(found.whom)
        is_me = found.whom.lower_ in reading.lexicon.grammar.first_person
        return [reading.cast.speaker] if is_me else [person.subject] if person else []
    if found.thing is not None and (ending.owned or found.thing in clause.subject_tokens):
        owner = _owner(found.thing, reading)
        is_certain = found.thing in clause.subject_tokens or _is_taken(found.thing, owner, clause)
        return [owner] if owner and is_certain else []
    return [person.subject for person in clause.subjects]


def _is_taken(thing: Token, owner: str | None, clause: Clause) -> bool:
    """Whether another has taken something of somebody: "somebody stole my bike", no "I stole a bike"."""
    is_known = bool(children(thing, "poss")) or any(
        child.lower_ == "the" for child in children(thing, "det")
    )
    return is_known and all(person.subject != owner for person in clause.subjects)


def _ended_by(
    clause: Clause, owner: str, found: Match, *, ending: Ending, reading: Reading
) -> Iterator[Extracted]:
    if found.thing is None:
        yield from _by_somebody(clause, owner, ending, reading=reading)
        return
    for token in _fitting(found.thing, ending.fits, reading):
        of = _of_class(token, ending.of, reading)
        yield from _end(clause, owner, of, value=_name(token, reading))
        if "plans" in ending.of:
            yield from _undated(clause, owner, token, reading=reading)


def _by_somebody(
    clause: Clause, owner: str, ending: Ending, *, reading: Reading
) -> Iterator[Extracted]:
    """The end of what the subject was to somebody; of whatever there was, if nobody is named."""
    doers = (
        clause.slots.get("by", ()) if children(clause.verb, "auxpass") else clause.subject_tokens
    )
    names = [token for token in doers if reading.classes.fits(token, "name")] if ending.by else []
    values: list[str | None] = [reading.values.text(token) for token in names]
    is_anybody = ending.alone and (
        not ending.by or not doers or any(lemma(token) in _ANYBODY for token in doers)
    )
    for predicate in ending.of:
        for value in values or ([None] if is_anybody else []):
            yield claim_of_clause(clause, owner, predicate, value, kind="ended")


def _fitting(thing: Token, word_class: str, reading: Reading) -> list[Token]:
    return [
        token
        for token in conjuncts(thing)
        if (
            reading.classes.fits(token, word_class)
            or (word_class == "thing" and token.pos_ == "PROPN")
        )
        and not children(token, "dobj")  # "gave up drinking coffee": the clause below says so
    ]


def _undated(
    clause: Clause, subject: str, token: Token, *, reading: Reading
) -> Iterator[Extracted]:
    """The end of the date of what was called off."""
    for predicate, nouns in reading.lexicon.frames.dates_of.items():
        if lemma(token) in nouns or (
            predicate == "travel_date" and reading.classes.fits(token, "city")
        ):
            yield claim_of_clause(clause, subject, predicate, None, kind="ended")


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
    of = reading.lexicon.ends.file.phrases["activities"].of
    if (
        clause.verb.dep_ != "xcomp"
        or verb_key(clause.verb.head) not in reading.lexicon.grammar.stops
    ):
        return
    for thing in children(clause.verb, "dobj"):
        for token in _fitting(thing, "thing", reading):
            for person in clause.subjects:
                predicates = _of_class(token, of, reading)
                yield from _end(clause, person.subject, predicates, value=_name(token, reading))


def _of_class(token: Token, of: tuple[str, ...], reading: Reading) -> tuple[str, ...]:
    """What something may have been that was given up: an instrument was played, a drink was drunk."""
    for word_class, predicates in reading.lexicon.ends.file.given_up.items():
        if reading.classes.is_of(token, word_class):
            return tuple(name for name in predicates if name in of) or of
    return of


def _over(clause: Clause, reading: Reading) -> Iterator[Extracted]:
    """As in "my cello days are over", "Rome is off", "the engagement was called off"."""
    over = reading.lexicon.ends.file.over
    for token in _things_over(clause, reading):
        owner, named = _state_owner(token, clause, reading)
        states = _states(token, reading)
        if owner is None:
            continue
        if states:
            values = _named_by(token, reading)
            values = [named] if named else values
            is_spent = token.lower_ in reading.lexicon.ends.file.spent_nouns
            for value in values or ([] if is_spent else [None]):
                for state in states:
                    predicate, _, known = state.partition("=")
                    yield claim_of_clause(clause, owner, predicate, known or value, kind="ended")
        elif token in clause.subject_tokens and token.pos_ in {"NOUN", "PROPN"}:
            parts = _modifiers(token) if lemma(token) == "day" else []
            for part in parts or [token]:
                yield from _end(clause, owner, over.of, value=reading.values.text(part))


def _things_over(clause: Clause, reading: Reading) -> list[Token]:
    """What a clause says to be over."""
    ends = reading.lexicon.ends
    dissolved = ends.file.dissolutions.nouns
    if _is_over(clause, reading):
        return list(clause.subject_tokens)
    found = [
        each.thing
        for phrases, is_dissolution in ((ends.over, False), (ends.dissolved, True))
        for phrase in phrases
        if phrase.verb in _verbs(clause)
        and (_has_happened(clause) or (is_dissolution and clause.status.state is State.NOW))
        and (each := match(phrase, clause.verb)) is not None
        and each.thing is not None
        and (lemma(each.thing) in dissolved) == is_dissolution
    ]
    return list(dict.fromkeys(token for token in found if token is not None))


def _states(noun: Token, reading: Reading) -> tuple[str, ...]:
    """The predicates of what a noun names as a whole: "engagement", "time at Acme"."""
    file = reading.lexicon.ends.file
    return file.state_nouns.get(lemma(noun)) or file.spent_nouns.get(noun.lower_) or ()


def _named_by(noun: Token, reading: Reading) -> list[str | None]:
    """With whom or at what a state was, as in "my contract at Acme", "my gym membership"."""
    tokens = [each for each in following(noun, *_NAMING) if reading.classes.fits(each, "thing")]
    tokens = tokens or _modifiers(noun)
    return [reading.values.text(token) for token in tokens if not reading.values.is_date(token)]


def _modifiers(noun: Token) -> list[Token]:
    return children(noun, "compound", "amod", "nmod")


def _state_owner(noun: Token, clause: Clause, reading: Reading) -> tuple[str | None, str | None]:
    """Whose state has ended, and with whom, where another has ended it: "Kim broke off the engagement"."""
    owner = _owner(noun, reading)
    others = [person for person in clause.subjects if person.subject != reading.cast.speaker]
    is_ended_by = noun not in clause.subject_tokens and owner == reading.cast.speaker
    if not is_ended_by or children(noun, "poss") or not others:
        return owner, None
    return (owner, others[0].called) if others[0].called else (None, None)


def _owner(noun: Token, reading: Reading) -> str | None:
    """Whose something is; the speaker's, if nothing says so; None if nobody knows."""
    owner = reading.cast.owner_of(noun)
    is_of_somebody = children(noun, "poss") or any(
        each.pos_ == "PROPN" for each in following(noun, "of")
    )
    return owner if owner or is_of_somebody else reading.cast.speaker


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
        and bool(words & reading.lexicon.ends.file.over.words)
        and clause.status.state in {State.NOW, State.PAST, State.PERFECT}
    )


def _died(clause: Clause, reading: Reading) -> Iterator[Extracted]:
    """Of a pet or a spouse that died; parents stay parents."""
    if not reading.lexicon.ends.file.died & set(clause.keys) or clause.status.state not in _DONE:
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
