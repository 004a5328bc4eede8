"""Attributes: "my NOUN is VALUE", and "VALUE is my NOUN".

It stands apart because here a noun, and not a verb, says which fact it is.
"""

import re
from collections.abc import Iterator

from spacy.tokens import Token

from mnestic.activities.clients.english.claiming import Reading, claim_of_clause, times_of
from mnestic.activities.clients.english.clauses import Clause
from mnestic.activities.clients.english.complements import KINDS
from mnestic.activities.clients.english.lexicon import Frames, Slot
from mnestic.activities.clients.english.objects import value_of
from mnestic.activities.clients.english.status import State
from mnestic.activities.clients.english.trees import children, conjuncts, following, lemma
from mnestic.memory.knowledge.claims import ClaimKind
from mnestic.memory.knowledge.extraction import Extracted

_SLOTS = ("attr", "acomp", "oprd", "in", "at", "on", "to", "advmod", "xcomp", "npadvmod")
_PLACES = frozenset({"in", "at", "on", "advmod"})
_PLACED = frozenset({"place", "org", "date"})
_VALUE_FIRST = frozenset({"be", "remain", "stay", "become"})
_NAMES = frozenset({"preferred_name", "full_name"})
_LONGEST_KEY = 40


def attributes_of(clause: Clause, reading: Reading) -> Iterator[Extracted]:
    """The claims of a clause about an attribute."""
    is_open = clause.status.state in {State.NONE, State.WISHED, State.PLANNED}
    if not is_open and clause.verb.tag_ == "VBG":
        yield from _doing(clause, reading)
    if is_open or lemma(clause.verb) not in reading.lexicon.grammar.naming_verbs:
        return
    for subject in clause.subject_tokens:
        found = _predicate_of(subject, reading)
        if found is None:
            yield from _value_first(clause, subject, reading)
        else:
            yield from _value_after(clause, *found, reading=reading)


def _doing(clause: Clause, reading: Reading) -> Iterator[Extracted]:
    """As in "My hobbies are knitting and baking bread", which is parsed as if they were at it."""
    for subject in clause.subject_tokens:
        found = _predicate_of(subject, reading)
        if found is None or not reading.lexicon.predicates.get(found[0], Frames()).deeds:
            continue
        for token in conjuncts(clause.verb):
            value = reading.values.text(token, with_phrase=token.pos_ == "VERB")
            yield from _valued(clause, found[1], found[0], value=value, reading=reading)


def _predicate_of(noun: Token, reading: Reading) -> tuple[str, str] | None:
    """Predicate and owner of an attribute, such as "my favourite colour"."""
    if lemma(noun) == "home" and not children(noun, "poss", "det", "amod"):
        return "lives_in", reading.cast.speaker
    before = [each for each in children(noun, "compound", "amod", "nmod") if each.i < noun.i]
    is_listed = noun.tag_ == "NNS" and lemma(noun) in reading.lexicon.nouns
    words = [*(each.lower_ for each in before), lemma(noun) if is_listed else noun.lower_]
    name = None if words[0] in reading.lexicon.grammar.bygone else _name_of(words, reading)
    if name is None:
        return None
    is_of_thing = reading.lexicon.predicates.get(name, Frames()).of_things
    owner = _thing_with(noun, reading) if is_of_thing else reading.cast.owner_of(noun)
    return (name, owner) if owner else None


def _thing_with(noun: Token, reading: Reading) -> str | None:
    """The name of what has an attribute: "Hydra" in "the version of Hydra", "Hydra's version"."""
    names = [*children(noun, "poss"), *following(noun, "of")]
    return next((reading.cast.full_name(each) for each in names if each.pos_ == "PROPN"), None)


def _name_of(words: list[str], reading: Reading) -> str | None:
    lexicon = reading.lexicon
    for start in range(len(words)):
        if words[start] in lexicon.frames.favourite:
            thing = " ".join(words[start + 1 :])
            thing = lexicon.frames.favourites.get(thing, thing)
            key = re.sub(r"[ -]+", "_", thing)
            is_known = re.fullmatch(r"[a-z_]+", key) and len(key) < _LONGEST_KEY
            return f"favourite_{key}" if is_known and thing not in lexicon.grammar.vague else None
        key = " ".join(words[start:])
        found = lexicon.nouns.get(key)
        if found is not None and not (start and found in _NAMES):
            return found
    return None


def _needs(predicate: str, reading: Reading) -> str:
    """Which class a value of an attribute belongs to."""
    frames = reading.lexicon.predicates.get(predicate)
    if frames is not None and frames.needs:
        return frames.needs
    return "taste" if frames is not None and frames.feeling else "thing"


def _value_after(
    clause: Clause, predicate: str, owner: str, *, reading: Reading
) -> Iterator[Extracted]:
    needs = _needs(predicate, reading)
    for name in _SLOTS:
        if name in _PLACES and needs not in _PLACED:
            continue
        tokens = clause.slots.get(name, ())
        fitting = [token for token in tokens if reading.classes.fits(token, needs)]
        if fitting and needs == "date":
            yield from _birthday(clause, owner, reading)
            return
        for token in fitting:
            value = value_of(token, Slot("", needs, predicate), reading)
            yield from _valued(clause, owner, predicate, value=value, reading=reading)
        if fitting:
            return


def _value_first(clause: Clause, subject: Token, reading: Reading) -> Iterator[Extracted]:
    """As in "Green is my favourite colour", "Utrecht is home"."""
    if lemma(clause.verb) not in _VALUE_FIRST:
        return
    names = ("attr", "advmod", "acomp")
    for token in (each for name in names for each in clause.slots.get(name, ())):
        found = _predicate_of(token, reading)
        if found is None:
            continue
        predicate, owner = found
        needs = _needs(predicate, reading)
        for one in conjuncts(subject):
            if one.pos_ != "PRON" and reading.classes.fits(one, needs):
                value = value_of(one, Slot("", needs, predicate), reading)
                yield from _valued(clause, owner, predicate, value=value, reading=reading)


def _valued(
    clause: Clause, owner: str, predicate: str, *, value: str, reading: Reading
) -> Iterator[Extracted]:
    """A value of an attribute; the name of somebody's kin is whom they have for it."""
    kind = _kind(clause, reading)
    if kind is None or not value or value.casefold() == owner.casefold():
        return
    person = next((one for one in reading.cast.persons if one.subject == owner and one.owner), None)
    if predicate in _NAMES and person is not None:
        owner, predicate = person.owner, person.kin
    elif predicate == "preferred_name" and " " in value:
        predicate = "full_name"
    yield claim_of_clause(clause, owner, predicate, value, kind=kind)


def _kind(clause: Clause, reading: Reading) -> ClaimKind | None:
    is_past = clause.status.state in {State.PAST, State.PERFECT}
    is_change = lemma(clause.verb) in {"become", "change"} and is_past
    kind = "affirmed" if is_change else KINDS.get(clause.status.state)
    return "corrected" if kind == "affirmed" and reading.is_correction else kind


def _birthday(clause: Clause, owner: str, reading: Reading) -> Iterator[Extracted]:
    day = times_of(clause, reading, tense="future").on
    if day is not None and day.unit == "day":
        kind: ClaimKind = "corrected" if reading.is_correction else "affirmed"
        value = f"{day.start.day} {day.start:%B}"
        yield claim_of_clause(clause, owner, "birthday", value, kind=kind)
