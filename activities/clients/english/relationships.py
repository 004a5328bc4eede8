"""Relationships: couples, and who is what to whom by a noun of kin.

It stands apart because two people are what the fact is about, and one of them may be named elsewhere.
"""

from collections.abc import Iterator

from spacy.tokens import Token

from mnestic.activities.clients.english.claiming import (
    Reading,
    claim_of_clause,
    make_claim,
    times_of,
)
from mnestic.activities.clients.english.clauses import Clause
from mnestic.activities.clients.english.naming import is_naming
from mnestic.activities.clients.english.people import Bond
from mnestic.activities.clients.english.phrases import match
from mnestic.activities.clients.english.status import State, status_of
from mnestic.activities.clients.english.trees import children, is_verb, lemma, subjects
from mnestic.memory.knowledge.claims import ClaimKind
from mnestic.memory.knowledge.extraction import Extracted

_DONE = frozenset({State.PAST, State.PERFECT})
_OVER = frozenset({State.NEGATED, State.ENDED, State.PAST})
_ASIDE = frozenset({"advmod", "self", "mod", "npadvmod", "since", "for", "acomp"})
_NAMING = frozenset({"be", "call", "name"})
_HAD = frozenset({"have", "own"})
_COMES = frozenset({"get", "adopt", "rescue", "buy"}) | _HAD


def couples_of(clause: Clause, reading: Reading) -> Iterator[Extracted]:
    """As in "Tomás and I are engaged", "we broke up"."""
    keys = set(clause.keys)
    if not _is_of_two(clause, reading):
        return
    yield from _parted_by_phrase(clause, reading)
    for predicate, frames in reading.lexicon.predicates.items():
        if keys & set(frames.parted):
            yield from _parted(clause, predicate, reading)
        elif keys & set(frames.with_us):
            yield from _together(clause, predicate, reading)


def _is_of_two(clause: Clause, reading: Reading) -> bool:
    """Whether the speaker and one other are the subject, and nobody else is named beside."""
    subjects_ = [person.subject for person in clause.subjects]
    is_pair = reading.cast.speaker in subjects_ and (len(subjects_) > 1 or clause.is_us)
    return is_pair and not any(clause.slots.get(name) for name in ("to", "with"))


def _other(clause: Clause, reading: Reading) -> str | None:
    speaker = reading.cast.speaker
    others = [each.subject for each in clause.subjects if each.subject != speaker]
    if others:
        return others[0] if len(others) == 1 else None
    return reading.cast.only_other()


def _parted(clause: Clause, predicate: str, reading: Reading) -> Iterator[Extracted]:
    if clause.status.state not in _DONE or clause.slots.get("dobj"):
        return
    speaker, ends = reading.cast.speaker, times_of(clause, reading).begins
    named = _other(clause, reading) if len(clause.subjects) > 1 else None
    yield claim_of_clause(clause, speaker, predicate, named, kind="ended", ends=ends)


def _parted_by_phrase(clause: Clause, reading: Reading) -> Iterator[Extracted]:
    """As in "Kim and I called it quits", "Acme and I have parted ways": of one who is named, whatever they were."""
    ends = reading.lexicon.ends
    if clause.status.state not in _DONE or len(clause.subjects) == 1:
        return
    other = _other(clause, reading)
    if other and any(match(phrase, clause.verb) for phrase in ends.parted):
        for predicate in ends.file.parted.of:
            yield claim_of_clause(clause, reading.cast.speaker, predicate, other, kind="ended")


def _together(clause: Clause, predicate: str, reading: Reading) -> Iterator[Extracted]:
    state, speaker = clause.status.state, reading.cast.speaker
    if state in {State.ENDED, State.NEGATED}:
        yield claim_of_clause(clause, speaker, predicate, None, kind="ended")
        return
    rows = [row for name, row in clause.slots.items() if name not in _ASIDE]
    others = [token for row in rows for token in row if not reading.values.is_date(token)]
    if predicate == "partner" and others:
        return  # "we're in this together"
    is_change = any(key.startswith("get:") for key in clause.keys) and state in _DONE
    lasts = state is State.PERFECT and clause.status.lasts
    other = _other(clause, reading)
    if other and (state is State.NOW or lasts or is_change):
        begins = times_of(clause, reading).starts
        yield claim_of_clause(clause, speaker, predicate, other, begins=begins)


def kin_claims(noun: Token, reading: Reading) -> Iterator[Extracted]:
    """Who is what to whom, by a noun of kin with a name: "my brother Max"."""
    bond = reading.cast.bond_of(noun)
    if bond is None:
        yield from _animal_called(noun, reading)
        yield from _kin_had(noun, reading)
        return
    verb = next((each for each in (noun, *noun.ancestors) if is_verb(each)), None)
    state = State.NOW if verb is None else status_of(verb, reading.lexicon.grammar).state
    is_copula = verb is not None and noun.head == verb and is_naming(verb)
    if not (state is State.NONE and is_copula):
        yield from _bond_claims(bond, noun, _bond_kind(bond, state, reading, is_copula=is_copula))


def _bond_kind(bond: Bond, state: State, reading: Reading, *, is_copula: bool) -> ClaimKind:
    if bond.has_ended or (is_copula and state in _OVER):
        return "ended"
    if is_copula and state is State.NEVER:
        return "retracted"
    return "corrected" if is_copula and reading.is_correction else "affirmed"


def _bond_claims(bond: Bond, noun: Token, kind: ClaimKind) -> Iterator[Extracted]:
    for name in bond.names:
        yield make_claim(bond.tokens, bond.owner, bond.predicate, name, kind=kind)
        if bond.predicate == "pet" and kind == "affirmed":
            yield make_claim(bond.tokens, name, "is_a", _species(noun))


def _animal_called(noun: Token, reading: Reading) -> Iterator[Extracted]:
    """As in "The dog is called Pudding"."""
    is_pet = reading.cast.kin_predicate(noun) == "pet"
    if is_pet and lemma(noun.head) in _NAMING - {"be"} and noun.dep_ == "nsubjpass":
        for name, token in reading.cast.names_of(noun):
            yield make_claim([noun, token], name, "is_a", _species(noun))


def _kin_had(noun: Token, reading: Reading) -> Iterator[Extracted]:
    """As in "I have two boys, Max and Leo", "we adopted a greyhound called Juno"."""
    verb, kin = noun.head, reading.cast.kin_predicate(noun)
    if kin is None or noun.dep_ != "dobj" or lemma(verb) not in _COMES:
        return
    state = status_of(verb, reading.lexicon.grammar).state
    is_so = state is State.NOW or (state in _DONE and lemma(verb) not in _HAD)
    if not is_so or not subjects(verb) or children(verb, "dative"):
        return
    owner = reading.cast.person_of(subjects(verb)[0])
    for name, token in reading.cast.names_beside(noun) if owner else ():
        yield make_claim([verb, noun, token], owner.subject if owner else "", kin, name)
        if kin == "pet":
            yield make_claim([noun, token], name, "is_a", _species(noun))


def _species(noun: Token) -> str:
    """Which animal it is: "cat", "guinea pig"."""
    before = [child.lower_ for child in children(noun, "compound") if child.pos_ == "NOUN"]
    return " ".join([*before, lemma(noun)])
