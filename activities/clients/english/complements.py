"""Complements: what somebody is, how old, what they do for a living and regularly.

It stands apart from attributes because the subject is a person here, and no noun says which fact it is.
"""

import re
from collections.abc import Iterator

from spacy.tokens import Token

from mnestic.activities.clients.english.claiming import (
    Reading,
    claim_of_clause,
    make_claim,
    times_of,
)
from mnestic.activities.clients.english.clauses import Clause
from mnestic.activities.clients.english.lexicon import Slot
from mnestic.activities.clients.english.objects import value_of
from mnestic.activities.clients.english.people import Person
from mnestic.activities.clients.english.statements import is_at_times, is_habitual
from mnestic.activities.clients.english.status import State
from mnestic.activities.clients.english.trees import children, is_negated, lemma
from mnestic.memory.knowledge.claims import ClaimKind
from mnestic.memory.knowledge.extraction import Extracted

KINDS: dict[State, ClaimKind] = {
    State.NOW: "affirmed",
    State.PERFECT: "affirmed",
    State.NEGATED: "ended",
    State.ENDED: "ended",
    State.NEVER: "retracted",
}
_CHANGES = frozenset({"become", "turn", "go", "get"})
_DONE = frozenset({State.PAST, State.PERFECT})
_ALONE = re.compile(
    r"\s*(?:\Z|[.,;!)]|\n|(?:now|today|already|and(?! she| he)|but|so|years|this)\b)"
)
_YOUNG = frozenset({"1", "2", "3"})
_COMPARED = frozenset({"more", "less", "so"})


def complements_of(clause: Clause, reading: Reading) -> Iterator[Extracted]:
    """The claims of a clause about what its subject is and does."""
    if clause.status.state in {State.NONE, State.WISHED, State.PLANNED}:
        return
    yield from _is_something(clause, reading)
    yield from _liked_best(clause, reading)
    yield from _living(clause, reading)
    yield from _ages(clause, reading)
    yield from _habits(clause, reading)


def _is_something(clause: Clause, reading: Reading) -> Iterator[Extracted]:
    """As in "I am a nurse", "she became vegan"."""
    if lemma(clause.verb) not in reading.lexicon.grammar.copulas or is_at_times(clause):
        return
    names = ("attr", "acomp", "oprd")
    tokens = [token for name in names for token in clause.slots.get(name, ())]
    for word_class, predicate in reading.lexicon.complements:
        for token in tokens:
            if reading.classes.fits(token, word_class) and _is_so(token, predicate, clause):
                yield from _of_subjects(clause, token, predicate, reading=reading)


def _of_subjects(
    clause: Clause, token: Token, predicate: str, *, reading: Reading
) -> Iterator[Extracted]:
    is_human = reading.lexicon.predicates[predicate].people_only
    for person in clause.subjects:
        if person.kin == "pet" and is_human:
            continue
        yield from _is_one(
            clause, person, predicate, value=reading.values.text(token), reading=reading
        )
        if predicate == "job_title":
            yield from _workplace(clause, person, reading)


def _workplace(clause: Clause, person: Person, reading: Reading) -> Iterator[Extracted]:
    """As in "I'm a nurse at St. Mary's"."""
    for name in ("at", "with"):
        for token in clause.slots.get(name, ()):
            if reading.classes.fits(token, "name"):
                value = reading.values.text(token)
                yield from _is_one(clause, person, "employer", value=value, reading=reading)


def _is_so(token: Token, predicate: str, clause: Clause) -> bool:
    """Whether a complement says what somebody is: "more Dutch than", "my boss" do not."""
    if any(child.lower_ in _COMPARED for child in token.children):
        return False
    if predicate == "nationality":
        return token.pos_ in {"ADJ", "PROPN"} or not children(token, "compound")
    if predicate == "job_title":
        return not children(token, "poss", "relcl")
    if predicate == "relationship_status":
        return not any(clause.slots.get(name) for name in ("to", "in", "from", "for", "with"))
    return True


def _is_one(
    clause: Clause, person: Person, predicate: str, *, value: str, reading: Reading
) -> Iterator[Extracted]:
    kind = _kind(clause)
    if kind is None:
        return
    times = times_of(clause, reading)
    began = times.begins if lemma(clause.verb) in _CHANGES else times.starts
    begins = began if kind == "affirmed" else None
    yield claim_of_clause(clause, person.subject, predicate, value, kind=kind, begins=begins)
    if predicate == "relationship_status" and value == "divorced":
        yield claim_of_clause(clause, person.subject, "married_to", None, kind="ended")


def _kind(clause: Clause) -> ClaimKind | None:
    state = clause.status.state
    if lemma(clause.verb) in _CHANGES:
        return "affirmed" if state in _DONE and not is_negated(clause.verb) else None
    if state is State.PERFECT:
        return "affirmed" if clause.status.lasts else None
    return KINDS.get(state)


def _ages(clause: Clause, reading: Reading) -> Iterator[Extracted]:
    """As in "he is four years old", "I am thirty-five": never of what is measured otherwise."""
    if lemma(clause.verb) != "be" or clause.status.state is not State.NOW:
        return
    for token in (*clause.slots.get("acomp", ()), *clause.slots.get("attr", ())):
        number = _years(token, reading)
        if number is None:
            continue
        value = value_of(number, Slot("", "number", "age"), reading)
        if lemma(token) != "old" and (clause.is_us or value in _YOUNG):
            continue
        kind: ClaimKind = "corrected" if reading.is_correction else "affirmed"
        for person in clause.subjects:
            yield claim_of_clause(clause, person.subject, "age", value, kind=kind)


def _years(token: Token, reading: Reading) -> Token | None:
    """The number of "four years old", or a number that stands alone."""
    numbers: list[Token] = []
    if lemma(token) == "old":
        years = [child for child in children(token, "npadvmod") if lemma(child) == "year"]
        numbers = [child for each in years for child in children(each, "nummod")]
    elif token.pos_ == "NUM":
        low = reading.values.number(token)
        rest = reading.parsed.text[token.idx :]
        rest = rest[len(low) :] if rest.lower().startswith(low) else rest[len(token) :]
        numbers = [token] if low and _ALONE.match(rest) else []
    numbers = [number for number in numbers if reading.classes.fits(number, "number")]
    return numbers[0] if len(numbers) == 1 else None


def _liked_best(clause: Clause, reading: Reading) -> Iterator[Extracted]:
    """As in "the colour I like best is teal"."""
    verb, noun = clause.verb, clause.verb.head
    is_best = any(token.lower_ in {"best", "most"} for token in verb.subtree)
    is_liking = lemma(verb) in reading.lexicon.grammar.liking
    if verb.dep_ != "relcl" or not is_best or not is_liking or lemma(noun.head) != "be":
        return
    thing = reading.lexicon.frames.favourites.get(noun.lower_, noun.lower_)
    values = [each for each in children(noun.head, "attr", "acomp", "nsubj") if each != noun]
    for person in clause.subjects:
        for token in values:
            if reading.classes.fits(token, "thing") and re.fullmatch(r"[a-z]{2,40}", thing):
                words = [noun, *verb.subtree, token]
                value = reading.values.text(token)
                yield make_claim(words, person.subject, f"favourite_{thing}", value)


def _living(clause: Clause, reading: Reading) -> Iterator[Extracted]:
    """As in "I restore pianos for a living"."""
    is_living = any(
        lemma(token) == "living" and token.head.lower_ == "for" for token in clause.verb.subtree
    )
    if clause.status.state is not State.NOW or not is_living:
        return
    things = [each for each in clause.slots.get("dobj", ()) if reading.classes.fits(each, "thing")]
    for person in clause.subjects:
        for token in things[:1]:
            value = f"{reading.lexicon.gerund(lemma(clause.verb))} {reading.values.text(token)}"
            yield claim_of_clause(clause, person.subject, "job_title", value)


def _habits(clause: Clause, reading: Reading) -> Iterator[Extracted]:
    """As in "I swim every Tuesday", "I go bouldering twice a week"."""
    verb, state = clause.verb, clause.status.state
    is_going = verb.dep_ == "xcomp" and lemma(verb.head) == "go" and verb.tag_ == "VBG"
    is_activity = reading.classes.is_of(verb, "activity") or is_going
    if not is_activity or _is_figurative(clause):
        return
    value = _activity(clause, reading, is_going=is_going)
    governor = verb.head if is_going else verb
    is_regular = is_habitual(verb, reading) or is_habitual(governor, reading)
    is_regular = is_regular or (bool(value) and not is_going and _is_of_many(clause))
    for person in clause.subjects if value else ():
        if state is State.ENDED:
            yield claim_of_clause(clause, person.subject, "hobby", value, kind="ended")
        elif state is State.NOW and is_regular and not clause.status.is_progressive:
            yield claim_of_clause(clause, person.subject, "hobby", value)


def _is_figurative(clause: Clause) -> bool:
    """As in "I run late", "I run out of milk"."""
    verb = clause.verb
    is_late = any(token.lower_ == "late" for token in verb.doc[verb.i + 1 : verb.i + 2])
    return is_late or bool(children(verb, "prt", "acomp")) or bool(clause.slots.get("out of"))


def _activity(clause: Clause, reading: Reading, *, is_going: bool) -> str:
    name = reading.lexicon.gerund(lemma(clause.verb))
    objects = [] if is_going else list(clause.slots.get("dobj", ()))
    if not objects:
        return name
    is_thing = reading.classes.fits(objects[0], "thing")
    return f"{name} {reading.values.text(objects[0])}" if is_thing else ""


def _is_of_many(clause: Clause) -> bool:
    """Whether it is done to things in general: "I run marathons"."""
    objects = clause.slots.get("dobj", ())
    return any(token.tag_ == "NNS" and not children(token, "det", "poss") for token in objects)
