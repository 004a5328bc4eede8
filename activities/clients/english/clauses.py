"""Clauses: a verb with its subjects, its status, and what fills its slots.

It stands apart from frames because it knows the grammar of English and nothing of facts.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from spacy.tokens import Token

from mnestic.activities.clients.english.lexicon import Grammar
from mnestic.activities.clients.english.people import Cast, Person
from mnestic.activities.clients.english.status import Status, status_of
from mnestic.activities.clients.english.trees import (
    children,
    conjuncts,
    is_let_go,
    is_verb,
    lemma,
    subjects,
    verb_key,
)

_OBJECTS = ("dobj", "attr", "acomp", "oprd", "xcomp", "npadvmod", "advmod", "ccomp")
_NOUNS = ("dobj", "attr", "acomp", "oprd", "npadvmod")
_LINKS = frozenset({"who", "which", "that"})
_SIDE_CLAUSES = frozenset({"ccomp", "advcl", "csubj", "attr", "relcl"})
_LEADS = frozenset({"prep", "agent", "dative", "prt", "advmod"})
_LOOSE = frozenset({"advmod", "punct"})
_PLACES = ("in", "at", "to", "into")
Slots = dict[str, list[Token]]


@dataclass(frozen=True, slots=True)
class Clause:
    """A clause: its keys name it in frames, from the most to the least special."""

    verb: Token
    status: Status
    subjects: tuple[Person, ...]
    subject_tokens: tuple[Token, ...]
    keys: tuple[str, ...]
    slots: Mapping[str, Sequence[Token]] = field(default_factory=dict)
    is_us: bool = False


def clauses_of(sentence: Sequence[Token], cast: Cast, grammar: Grammar) -> Iterator[Clause]:
    """The clauses of a sentence, in the order of their verbs."""
    for token in sentence:
        if is_verb(token) and not is_let_go(token):
            yield _clause(token, cast, grammar)


def _clause(verb: Token, cast: Cast, grammar: Grammar) -> Clause:
    slots, keys = _slots_of(verb, grammar)
    _fill_gap(verb, slots)
    tokens = _subjects_of(verb)
    persons = [cast.person_of(one) for token in tokens for one in conjuncts(token)]
    named = tuple(dict.fromkeys(person for person in persons if person is not None))
    if not tokens and _is_elided(verb):
        named = (Person(cast.speaker),)
    return Clause(
        verb=verb,
        status=status_of(verb, grammar),
        subjects=named,
        subject_tokens=tuple(tokens),
        keys=tuple(dict.fromkeys(keys)),
        slots=slots,
        is_us=any(token.lower_ in {"we", "us"} for token in tokens),
    )


def _subjects_of(verb: Token) -> list[Token]:
    """The subjects of a verb, which may stand by the verb above it, or be the noun that it describes."""
    own, head = subjects(verb) or _joined_to_me(verb), verb.head
    if verb.dep_ == "relcl" and (not own or own[0].lower_ in _LINKS):
        return [head]
    if not own and verb.dep_ == "acl" and verb.tag_ == "VBG":
        return [head]
    above = head.head if verb.dep_ == "pcomp" else head
    is_shared = verb.dep_ in {"conj", "xcomp", "pcomp"}
    is_shared = is_shared or (verb.dep_ in {"advcl", "ccomp", "dep"} and verb.tag_ == "VBG")
    return _subjects_of(above) if not own and is_shared and is_verb(above) else own


def _joined_to_me(verb: Token) -> list[Token]:
    """The first of two subjects that a parse takes for an adverb, as in "Tom and I got divorced"."""
    return [
        child
        for child in children(verb, "npadvmod")
        if child.i < verb.i and any(each.lower_ == "i" for each in children(child, "conj"))
    ]


def _is_elided(verb: Token) -> bool:
    """Whether the speaker left out "I", as in "Sold the car"."""
    is_first = verb.dep_ == "ROOT" or (verb.dep_ == "ccomp" and verb.head.dep_ == "ROOT")
    if verb.dep_ == "advcl" and verb.tag_ in {"VBD", "VBN"} and verb.i < verb.head.i:
        is_first = bool(children(verb, "dobj")) or lemma(verb) in {"start", "begin", "move", "join"}
    leads = [
        token
        for token in verb.sent
        if token.i < verb.i and token.pos_ not in {"ADV", "INTJ", "PUNCT", "CCONJ", "AUX"}
    ]
    return is_first and verb.tag_ in {"VBD", "VBN", "VBG"} and not leads


def _slots_of(verb: Token, grammar: Grammar) -> tuple[Slots, list[str]]:
    slots: Slots = {}
    keys = [verb_key(verb)]
    if not children(verb, "prt"):
        keys.append(lemma(verb))
    _add_prepositions(verb, slots)
    if verb.dep_ == "xcomp" and children(verb.head, "auxpass"):
        slots.pop("by", None)  # "I was told to go by Acme": who told me
    for child in verb.children:
        if is_let_go(child):
            _add_prepositions(child, slots)
        if child.dep_ in _OBJECTS or (child.dep_ == "dative" and child.pos_ != "ADP"):
            _add(slots, child.dep_, child)
        if child.dep_ in _NOUNS:
            _add_prepositions(child, slots)
            _add_modifiers(child, slots)
    for role in slots.get("as", [])[:1]:
        _add_prepositions(role, slots)
    _add_misread(verb, slots)
    keys += _object_keys(verb, slots)
    keys += _complement_keys(verb, slots, grammar)
    return slots, keys


def _add_misread(verb: Token, slots: Slots) -> None:
    """As in "allergic to shellfish", "promoted to manager", where a parse makes a verb of the noun."""
    for governor in (verb, *slots.get("acomp", ())):
        for child in children(governor, "xcomp"):
            others = [each.lower_ for each in child.children if each.dep_ not in _LOOSE]
            if others == ["to"]:
                _add(slots, "to", child)


def _add(slots: Slots, name: str, token: Token) -> None:
    known = slots.setdefault(name, [])
    known += [one for one in conjuncts(token) if one not in known]


def _add_prepositions(token: Token, slots: Slots, *, lead: str = "") -> None:
    """What stands after the prepositions below a token; of two in a row by both, as in "out of"."""
    for child in token.children:
        if child.dep_ not in _LEADS or (not lead and _is_contrasted(child, slots)):
            continue
        for each in children(child, "pobj", "pcomp"):
            _add(slots, f"{lead}{child.lower_}", each)
            if lead and child.dep_ == "prep":
                _add(slots, child.lower_, each)
        for each in children(child, "pobj") if not lead else ():
            _add_prepositions_of(each, child, slots)
        if not lead:
            _add_prepositions(child, slots, lead=f"{child.lower_} ")


def _is_contrasted(preposition: Token, slots: Slots) -> bool:
    """Puts "not in Zadar" and "but in Cologne" under names of their own; whether it is denied."""
    for other in children(preposition, "conj"):
        if any(mark.lower_ == "but" for mark in children(preposition, "cc")):
            for each in children(other, "pobj"):
                _add(slots, f"but {other.lower_}", each)
    for each in children(preposition, "pobj"):
        for other in _denied_beside(each):
            _add(slots, f"not {preposition.lower_}", other)
    is_denied = preposition.i > 1 and preposition.nbor(-1).lower_ == "not"
    is_denied = is_denied and preposition.nbor(-2).text == ","
    for each in children(preposition, "pobj") if is_denied else ():
        _add(slots, f"not {preposition.lower_}", each)
    return is_denied


def _denied_beside(noun: Token) -> list[Token]:
    """As in "in Figueres, not Girona"."""
    is_denied = any(child.i > noun.i for child in children(noun, "neg"))
    return children(noun, "appos", "conj")[:1] if is_denied else []


def _add_prepositions_of(noun: Token, preposition: Token, slots: Slots) -> None:
    """As in "in my third year of architecture at TU Delft", "a house in Ghent on the canal"."""
    for inner in children(noun, "prep"):
        for each in children(inner, "pobj"):
            _add(slots, f"{preposition.lower_} {lemma(noun)} {inner.lower_}", each)
            name = inner.lower_
            if name not in slots:
                _add(slots, name, each)
            for deeper in children(each, "prep"):
                for last in children(deeper, "pobj"):
                    if deeper.lower_ not in slots:
                        _add(slots, deeper.lower_, last)


def _add_modifiers(noun: Token, slots: Slots) -> None:
    found = [
        child
        for child in children(noun, "compound", "amod", "nmod", "npadvmod")
        if child.pos_ in {"NOUN", "PROPN", "ADJ", "VERB"} and child.ent_type_ != "DATE"
    ]
    slots.setdefault("mod", []).extend(found)


def _object_keys(verb: Token, slots: Slots) -> Iterator[str]:
    """Keys of a verb with its object: `lose:job`, `fall:in love`."""
    names = (
        dict.fromkeys((verb_key(verb), lemma(verb)))
        if not children(verb, "prt")
        else (verb_key(verb),)
    )
    if children(verb, "dative"):
        yield f"{lemma(verb)}_to"
    for noun in slots.get("dobj", []):
        yield from (f"{name}:{lemma(noun)}" for name in names)
    for preposition in children(verb, "prep"):
        for noun in children(preposition, "pobj"):
            yield f"{lemma(verb)}_{preposition.lower_}:{lemma(noun)}"
            if not children(noun, "det", "poss", "amod"):
                yield f"{lemma(verb)}:{preposition.lower_} {lemma(noun)}"


def _complement_keys(verb: Token, slots: Slots, grammar: Grammar) -> Iterator[str]:
    """Keys of what somebody is: `be:allergic`, `get:marry`, also by the preposition: `be:charge`."""
    is_passive = bool(children(verb, "auxpass"))
    name = (
        "get"
        if any(child.lemma_ == "get" for child in children(verb, "auxpass")) or lemma(verb) == "get"
        else "be"
    )
    if is_passive:
        yield from (f"{name}:{word}" for word in dict.fromkeys((verb_key(verb), verb.lower_)))
        yield f"be:{verb_key(verb)}"
    if lemma(verb) not in grammar.copulas:
        return
    complements = [
        *slots.get("attr", []),
        *slots.get("acomp", []),
        *slots.get("oprd", []),
        *slots.get("advmod", []),
    ]
    complements += [
        child for child in children(verb, "xcomp", "advcl") if child.tag_ in {"VBN", "VBG"}
    ]
    for word in complements:
        slots.setdefault("self", []).append(word)
        for key in dict.fromkeys((word.lower_, lemma(word), verb_key(word))):
            yield f"{name}:{key}"
            yield f"be:{key}"
        _add_prepositions(word, slots)
    for preposition in children(verb, "prep"):
        yield from (
            f"be:{preposition.lower_} {lemma(noun)}" for noun in children(preposition, "pobj")
        )


def _fill_gap(verb: Token, slots: Slots) -> None:
    """Puts what stands outside of a clause where it belongs."""
    if _asks_where(verb) and verb.dep_ in _SIDE_CLAUSES and lemma(verb.head) == "be":
        others = [each for each in children(verb.head, "nsubj", "attr") if each != verb]
        for name in _PLACES:  # "Goa is where I live"
            for each in others:
                _add(slots, name, each)
    if _asks_where(verb) and verb.dep_ == "relcl" and verb.head.pos_ == "PROPN":
        _add(slots, "in", verb.head)  # "in Zagreb, where I live"
    if verb.dep_ == "relcl" and "dobj" not in slots and not _is_about_subject(verb):
        for each in _after_colon(verb):
            _add(slots, "dobj", each)
        if "dobj" not in slots:
            _fill_relative(verb, slots)


def _fill_relative(verb: Token, slots: Slots) -> None:
    """As in "the languages I speak are Dutch and French"."""
    noun = verb.head
    if noun.dep_ not in {"nsubj", "attr"} or lemma(noun.head) != "be":
        return
    bare = [child.lower_ for child in children(verb, "prep") if not list(child.children)]
    for each in children(noun.head, "nsubj", "attr", "acomp"):
        if each != noun:
            _add(slots, bare[0] if bare else "dobj", each)


def _after_colon(verb: Token) -> list[Token]:
    """What a list names after a colon, as in "the things I love: climbing, jazz"."""
    after = [token for token in verb.sent if token.i > verb.i]
    if not after or after[0].text != ":":
        return []
    named = [
        token
        for token in after[1:]
        if token.pos_ in {"NOUN", "PROPN", "VERB"} and token.dep_ != "compound"
    ]
    return named[:1]


def _asks_where(verb: Token) -> bool:
    return any(child.lower_ == "where" for child in verb.children)


def _is_about_subject(verb: Token) -> bool:
    """Whether the subject of a relative clause is the noun that it describes."""
    return all(each.lower_ in _LINKS for each in subjects(verb))
