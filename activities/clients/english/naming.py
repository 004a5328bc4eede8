"""Naming: which nouns say what somebody is to somebody, and which names stand by them.

It stands apart from people because it only looks at the words, and does not say whom they mean.
"""

from collections.abc import Iterator, Sequence

from spacy.tokens import Token

from mnestic.activities.clients.english.classes import ValueClasses
from mnestic.activities.clients.english.lexicon import Lexicon
from mnestic.activities.clients.english.trees import children, conjuncts, lemma, subjects
from mnestic.activities.clients.english.values import Values

_LONGEST_LIST = 16  # tokens
_WHERE = frozenset({"in", "at", "near"})
_NAMING = frozenset({"name", "call"})


def is_naming(verb: Token) -> bool:
    """Whether a verb says who somebody is: "is", "is called", and no "my friend called"."""
    is_passive = bool(children(verb, "auxpass")) or verb.dep_ in {"acl", "relcl"}
    return lemma(verb) == "be" or (lemma(verb) in _NAMING and is_passive)


class Names:
    """Nouns of kin and the names that stand by them, in one message."""

    def __init__(self, classes: ValueClasses, values: Values, lexicon: Lexicon) -> None:
        self._classes, self._values = classes, values
        self._lexicon, self._grammar = lexicon, lexicon.grammar

    def kin_of(self, noun: Token) -> tuple[str, str, bool] | None:
        """Predicate, gender, and whether there are few of them."""
        if noun.pos_ not in {"NOUN", "PROPN"} or self._is_at_one_remove(noun):
            return None
        word = self.kin_word(noun)
        kin = self._grammar.kin_of.get(word)
        if kin is None and word == noun.lower_:
            kin = self._grammar.kin_of.get(lemma(noun))
        if kin is not None:
            is_other = kin.beside is not None and _noun_before(noun) - kin.beside
            return None if is_other else (kin.predicate, kin.gender, kin.is_close)
        return ("pet", "", True) if self._classes.is_of(noun, "pet") else None

    def _is_at_one_remove(self, noun: Token) -> bool:
        """Whether a hyphen makes it another relation: "great-granddaughter", but not "ex-wife"."""
        is_joined = noun.i > 1 and noun.nbor(-1).text == "-"
        return is_joined and noun.nbor(-2).lower_ not in self._grammar.gone

    def kin_word(self, noun: Token) -> str:
        """A noun of kin as it is known; "step-father" is a stepfather, "father in law" a father-in-law."""
        if self._values.kind_of(noun) != "kin":
            return noun.lower_
        word = "-".join(self._values.word(noun).lower().split())
        return word if word in self._grammar.kin_of else word.replace("step-", "step", 1)

    def full_name(self, token: Token) -> str:
        """A name with the names before it, without kin nouns and titles."""
        parts = [
            child
            for child in children(token, "compound")
            if child.pos_ == "PROPN" and self.kin_of(child) is None and child.text[:1].isupper()
        ]
        return " ".join(self._values.word(each) for each in [*parts, token])

    def names_by(self, noun: Token) -> Iterator[tuple[str, Token]]:
        """The names that stand by a noun of kin, each with its token."""
        yield from self.names_beside(noun)
        yield from self._name_after(noun)
        head = noun.head
        if noun.dep_ in {"compound", "nmod"} and head.pos_ == "PROPN" and noun.i < head.i:
            yield from self._of([head])
        elif noun.dep_ == "appos" and head.pos_ == "PROPN" and not _is_where(head, noun):
            yield from self._of([head], with_joined=False)
        elif noun.dep_ in {"attr", "nsubj", "nsubjpass"}:
            yield from self._names_of_copula(noun, head)

    def _name_after(self, noun: Token) -> Iterator[tuple[str, Token]]:
        """The name right after a noun of kin, whatever the parse makes of it: "my cat Pickles"."""
        if noun.i + 1 >= len(noun.doc) or not children(noun, "poss"):
            return
        token = noun.nbor()
        is_name = (
            token.text[:1].isupper()
            and token.is_alpha
            and token.lower_ not in self._lexicon.classes["no_name"]
        )
        if is_name and not token.is_sent_start and self.kin_of(token) is None:
            following = token.nbor() if token.i + 1 < len(token.doc) else None
            last = (
                following
                if following is not None and token.dep_ == "compound" and token.head == following
                else token
            )
            yield self.full_name(last) if last != token else self._values.word(token), last

    def names_beside(self, noun: Token) -> Iterator[tuple[str, Token]]:
        """As in "my brother, Max", "a cat called Tom"."""
        for child in children(noun, "appos", "acl", "relcl"):
            if child.dep_ == "appos" and child.pos_ == "PROPN":
                yield from self._of([child])
            elif lemma(child) in _NAMING:
                yield from self._of(children(child, "oprd", "dobj", "attr", "npadvmod"))
        if noun.tag_ == "NNS":  # "two boys, Max and Leo"
            yield from self._of(
                [child for child in children(noun, "conj") if child.pos_ == "PROPN"]
            )
            yield from self._of(_listed(noun), with_joined=False)

    def _names_of_copula(self, noun: Token, verb: Token) -> Iterator[tuple[str, Token]]:
        """As in "Max is my brother", "my brother is called Max"."""
        if noun.dep_ == "attr" and lemma(verb) == "be":
            yield from self._of(subjects(verb))
        elif is_naming(verb):
            yield from self._of(children(verb, "attr", "oprd"))

    def _of(
        self, tokens: Sequence[Token], *, with_joined: bool = True
    ) -> Iterator[tuple[str, Token]]:
        for token in tokens:
            for one in conjuncts(token) if with_joined else [token]:
                is_capital = one.text[:1].isupper() and one.pos_ in {
                    "PROPN",
                    "NOUN",
                    "ADJ",
                    "VERB",
                    "X",
                }
                is_name = self._classes.is_person_name(one) or (
                    is_capital
                    and one.lower_ not in self._lexicon.classes["no_name"]
                    and not children(one, "det", "poss", "amod")
                )
                if is_name and self.kin_of(one) is None and not self._classes.is_address(one):
                    yield self.full_name(one), one


def _is_where(name: Token, noun: Token) -> bool:
    """Whether a name is a place, and a noun beside it begins anew: "in Spa, our son in Ghent"."""
    preposition = name.head.lower_ if name.dep_ == "pobj" else ""
    after = [*children(noun, "prep"), *children(name, "prep")]
    is_again = any(child.i > noun.i and child.lower_ == preposition for child in after)
    return preposition in _WHERE or is_again


def _listed(noun: Token) -> list[Token]:
    """The names after a colon, as in "three children: Ada, Bo and Cy"."""
    rest = list(noun.doc[noun.i + 1 : noun.i + _LONGEST_LIST])
    if not rest or rest[0].text != ":":
        return []
    found: list[Token] = []
    for token in rest[1:]:
        if not (token.pos_ == "PROPN" or token.text == "," or token.lower_ == "and"):
            break
        found += [token] if token.pos_ == "PROPN" else []
    return found


def _noun_before(noun: Token) -> set[str]:
    """The common nouns that a noun is composed with."""
    return {child.lower_ for child in children(noun, "compound") if child.pos_ == "NOUN"}
