"""Clauses: a verb with its subjects, its status, its times, and the keys and tokens of what completes it.

It knows the grammar of English and nothing of facts.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from spacy.tokens import Token

from mnestic.activities.clients.english.lexicon import Lexicon
from mnestic.activities.clients.english.parsing import Parsed
from mnestic.activities.clients.english.people import Entities, Person
from mnestic.activities.clients.english.status import Status, status_of
from mnestic.activities.clients.english.trees import (
    children,
    clause_words,
    conjuncts,
    is_left_out,
    is_misread,
    is_set_against,
    is_verb,
    lemma,
    subjects_of,
    verb_key,
)
from mnestic.activities.clients.english.values import ObjectReader
from mnestic.memory.knowledge.claims import ClaimKind
from mnestic.memory.knowledge.extraction import Extracted
from mnestic.memory.language.dates import Period, Tense

_OBJECTS = ("dobj", "attr", "oprd", "xcomp", "npadvmod", "acomp", "advmod", "dative")
_CANNOT = frozenset({"can", "ca", "cannot", "could"})
_COPULAS = frozenset({"be", "become", "get", "go", "turn", "stay", "remain"})
_DENIED = frozenset({Status.NEGATED, Status.ENDED})
_PAST = frozenset({Status.PAST, Status.PERFECT, Status.ENDED, Status.LASTING})


@dataclass(frozen=True, slots=True)
class ExtractionContext:
    """A message as it is read: its parse, its people, when it was said, and what was claimed before it."""

    parsed: Parsed
    lexicon: Lexicon
    values: ObjectReader
    entities: Entities
    at: datetime
    known: Callable[[], Sequence[Extracted]] = tuple


@dataclass(frozen=True, slots=True)
class Clause:
    """A clause. `objects` are what completes its verb, each with the key under which a frame may have it: "live in"."""

    verb: Token
    status: Status
    subjects: tuple[Person, ...]
    subject_tokens: tuple[Token, ...]
    objects: tuple[tuple[str, Token], ...]
    keys: tuple[str, ...]
    is_turned: bool = False

    def find(self, *keys: str) -> list[Token]:
        """What stands under any of some keys."""
        return [token for key, token in self.objects if key in keys]


def clauses_of(sentence: Sequence[Token], entities: Entities, lexicon: Lexicon) -> Iterator[Clause]:
    """The clauses of a sentence, in the order of their verbs."""
    for verb in sentence:
        if is_verb(verb):
            yield _clause(verb, entities, lexicon)
            yield from _turned(verb, entities, lexicon)


def _turned(verb: Token, entities: Entities, lexicon: Lexicon) -> Iterator[Clause]:
    """A clause about its object, as if it were in the passive: "they laid me off" as "I was laid off by them"."""
    things = [each for each in children(verb, "dobj", "dative") if each.pos_ != "ADP"]
    persons = tuple(person for each in things if (person := entities.person_of(each)))
    if lemma(verb) == "call" and not persons:  # "everyone calls me Sasha"
        persons = tuple(
            person
            for each in verb.subtree
            if each.lower_ == "me" and (person := entities.person_of(each))
        )
    if len(persons) != 1 or children(verb, "auxpass"):
        return
    form = (
        verb.lower_
        if verb.tag_ in {"VBD", "VBN"}
        else f"{lemma(verb)}d"
        if lemma(verb).endswith("e")
        else f"{lemma(verb)}ed"
    )
    key = " ".join(["be", form, *(child.lower_ for child in children(verb, "prt"))])
    keys = [(key, verb), *((f"{key} {words}", noun) for words, noun in _bare_nouns(verb))]
    objects = [(f"{key} by", one) for token in subjects_of(verb) for one in conjuncts(token)]
    objects += [
        (f"{name} {preposition}", one)
        for name, head in keys
        for preposition, each in _prepositions(head)
        for one in conjuncts(each)
    ]
    objects += [(key, each) for each in children(verb, "oprd", "attr", "ccomp", "xcomp")]
    yield Clause(
        verb,
        status_of(verb, lexicon),
        persons,
        tuple(things),
        tuple(objects),
        (key,),
        is_turned=True,
    )


def _clause(verb: Token, entities: Entities, lexicon: Lexicon) -> Clause:
    tokens = [one for token in subjects_of(verb) for one in conjuncts(token)]
    persons = [entities.person_of(token) for token in tokens]
    named = tuple(dict.fromkeys(person for person in persons if person is not None))
    if not tokens and is_left_out(verb):
        named = (Person(entities.speaker),)
    keys = list(dict.fromkeys(_keys(verb)))
    status = status_of(verb, lexicon)
    objects = list(
        dict.fromkeys(
            (key, one)
            for key, token in _completed(verb, keys)
            for one in conjuncts(token)
            if status not in _DENIED or not is_set_against(one)
        )
    )
    return Clause(
        verb,
        status,
        named,
        tuple(tokens),
        tuple(objects),
        tuple(key for key, _ in keys),
    )


def _keys(verb: Token) -> Iterator[tuple[str, Token]]:
    """How frames call a verb, with the token whose prepositions go with it: "be allergic", "get married", "give up"."""
    is_denied = any(child.dep_ == "neg" for child in verb.children)
    if is_denied and any(child.lower_ in _CANNOT for child in children(verb, "aux")):
        yield f"cannot {lemma(verb)}", verb
    if is_denied or any(child.lower_ == "never" for child in verb.children):
        yield f"not {lemma(verb)}", verb
    passive = children(verb, "auxpass")
    if passive:
        name = "get" if lemma(passive[0]) == "get" else "be"
        yield f"{name} {verb.lower_}", verb
        yield from ((f"be {verb.lower_} {child.lower_}", verb) for child in children(verb, "prt"))
    else:
        yield verb_key(verb), verb
    yield from _copula_keys(verb)
    name = f"be {verb.lower_}" if passive else lemma(verb)
    yield from ((f"{name} {words}", noun) for words, noun in _bare_nouns(verb))


def _bare_nouns(verb: Token) -> Iterator[tuple[str, Token]]:
    """A preposition with a noun that has no article, as one word: "in charge"."""
    for preposition in children(verb, "prep"):
        for noun in children(preposition, "pobj"):
            if not children(noun, "det", "poss"):
                yield f"{preposition.lower_} {lemma(noun)}", noun


def _copula_keys(verb: Token) -> Iterator[tuple[str, Token]]:
    if lemma(verb) not in _COPULAS:
        return
    for word in children(verb, "acomp", "attr", "oprd", "advmod", "xcomp", "advcl", "prt", "prep"):
        is_clause = word.dep_ in {"xcomp", "advcl"} and word.tag_ not in {"VBN", "VBG"}
        if is_clause or (word.dep_ == "prep" and list(word.children)):
            continue
        for name in dict.fromkeys((word.lower_, lemma(word))):
            yield f"{lemma(verb)} {name}", word
            if word.tag_ == "VBN":
                yield f"be {name}", word


def _completed(verb: Token, keys: Sequence[tuple[str, Token]]) -> Iterator[tuple[str, Token]]:
    for key, head in keys:
        for token in {head, verb}:
            yield from (
                (f"{key} {preposition}", each) for preposition, each in _prepositions(token)
            )
            is_verbs = token == verb and head == verb
            for child in children(token, *_OBJECTS) if is_verbs else ():
                yield key, child
                is_name = child.dep_ in {"dobj", "attr", "acomp", "oprd"}
                nested = _prepositions(child) if is_name else ()
                yield from ((f"{key} {preposition}", each) for preposition, each in nested)
    yield from _from_relative(verb, keys)


def _prepositions(token: Token) -> Iterator[tuple[str, Token]]:
    """What stands after the prepositions below a token; of two in a row by both, as in "out of", of "from A to B" by each."""
    yield from (("to", one) for one in children(token, "xcomp") if is_misread(one))
    for child in children(token, "prep", "agent", "prt", "advmod"):
        if child.i and child.nbor(-1).lower_ == "not":
            continue
        objects = children(child, "pobj", "pcomp")
        yield from ((child.lower_, each) for each in objects)
        for inner in children(child, "prep"):
            name = inner.lower_ if objects else f"{child.lower_} {inner.lower_}"
            yield from ((name, each) for each in children(inner, "pobj"))
        ways = (inner for each in objects for inner in children(each, "prep"))
        for way in ways if child.lower_ == "from" else ():
            yield from ((way.lower_, each) for each in children(way, "pobj") if way.lower_ == "to")


def _from_relative(verb: Token, keys: Sequence[tuple[str, Token]]) -> Iterator[tuple[str, Token]]:
    """As in "Goa is where I live", "in Zagreb, where I live"."""
    if not any(child.lower_ == "where" for child in verb.children):
        return
    is_of_be = verb.dep_ in {"ccomp", "advcl", "csubj", "attr"} and lemma(verb.head) == "be"
    nouns = (
        [each for each in children(verb.head, "nsubj", "attr") if each != verb] if is_of_be else []
    )
    nouns += [verb.head] if verb.dep_ == "relcl" and verb.head.pos_ == "PROPN" else []
    yield from ((f"{keys[0][0]} in", noun) for noun in nouns)


def claim_of(
    clause: Clause,
    subject: str,
    slot: tuple[str, str | None],
    *,
    kind: ClaimKind,
    context: ExtractionContext,
) -> Extracted:
    """A claim of a predicate and an object, whose evidence is a clause, with the times that it names."""
    predicate, value = slot
    gerunds = (one for one in children(clause.verb, "xcomp") if one.tag_ == "VBG")
    words = [
        word
        for verb in (clause.verb, *gerunds)
        for word in clause_words(verb)
        if not (word.is_space or word.is_punct or word.dep_ == "cc")
    ]
    since, until = _times_of(clause, words or [clause.verb], context)
    if kind in {"ended", "retracted"}:
        since, until = None, since or until
    if since is not None and until is not None and until < since:
        until = None
    first, last = (words[0], words[-1]) if words else (clause.verb, clause.verb)
    return Extracted(
        kind=kind,
        subject=subject,
        predicate=predicate,
        object=value,
        valid_from=since,
        valid_to=until,
        span=context.parsed.span(first, last),
    )


def begins_later(clause: Clause, context: ExtractionContext) -> bool:
    """Whether a clause in the present names a day to come, as in "I'm 41 next week"."""
    words = clause_words(clause.verb)
    periods = (
        mention.resolve(context.at, "future")
        for mention in context.parsed.dates
        if mention.relation == "on" and words[0].idx <= mention.start <= words[-1].idx
    )
    return any(period is not None and period.start > context.at for period in periods)


def _times_of(
    clause: Clause, words: Sequence[Token], context: ExtractionContext
) -> tuple[datetime | None, datetime | None]:
    """Since when, and until when, a clause says that something is so."""
    tense: Tense = "past" if clause.status in _PAST else "present"
    found: dict[str, Period] = {}
    for mention in context.parsed.dates:
        if not words[0].idx <= mention.start < words[-1].idx + len(words[-1]):
            continue
        relation = "since" if mention.relation == "for" else mention.relation
        period = mention.resolve(context.at, tense)
        if period is not None and not (mention.relation == "for" and clause.status is Status.PAST):
            found.setdefault(relation, period)
    begun = found.get("since") or (found.get("on") if clause.status in _PAST else None)
    until = found.get("until")
    ends = None if until is None else until.end if until.unit == "day" else until.start
    return (begun.start if begun else None), ends
