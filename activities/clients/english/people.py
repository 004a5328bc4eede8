"""People: whom the words of a message mean, by name, by kinship or by a pronoun.

It stands apart because facts about the wrong person are worse than none: where two can be meant, nobody is.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from spacy.tokens import Token

from mnestic.activities.clients.english.classes import ValueClasses
from mnestic.activities.clients.english.lexicon import Lexicon
from mnestic.activities.clients.english.trees import children, conjuncts, lemma, subjects
from mnestic.activities.clients.english.values import Values

_NAMING = frozenset({"name", "call"})


@dataclass(frozen=True, slots=True)
class Person:
    """Somebody: as facts name them, as they are called, and whose kin they are."""

    subject: str
    called: str = ""
    owner: str = ""
    kin: str = ""
    gender: str = ""


def _is_in_action(token: Token, person: Person) -> bool:
    """Whether a name is somebody's who does or meets something, and no place or firm."""
    return (
        bool(person.owner)
        or token.ent_type_ == "PERSON"
        or token.dep_ != "pobj"
        or token.head.lower_ == "with"
    )


@dataclass(frozen=True, slots=True)
class Bond:
    """Somebody is something to somebody; the tokens that say so."""

    owner: str
    predicate: str
    noun: str
    names: tuple[str, ...]
    tokens: tuple[Token, ...]
    has_ended: bool = False


class Cast:
    """The people of one message; `earlier` are those of the messages before it, the last one last."""

    def __init__(
        self,
        classes: ValueClasses,
        values: Values,
        lexicon: Lexicon,
        *,
        speaker: str,
        earlier: Sequence[Person],
    ) -> None:
        self._classes, self._values = classes, values
        self._lexicon, self._grammar = lexicon, lexicon.grammar
        self.speaker, self._earlier = speaker, earlier
        self._mentions: list[tuple[int, Person]] = []
        self._named: dict[str, Person] = {}
        self._shared: set[str] = set()

    def read(self, tokens: Sequence[Token]) -> None:
        """Takes note of everybody whom tokens name, in their order."""
        self._find_shared(tokens)
        for token in tokens:
            person = self._of_noun(token) or self._newcomer(token)
            if (
                person is not None
                and person.subject != self.speaker
                and _is_in_action(token, person)
            ):
                self._mentions.append((token.i, person))

    def _newcomer(self, noun: Token) -> Person | None:
        """An animal, or somebody's child, that has come to the speaker without a name: "we adopted a greyhound"."""
        kin = self._kin(noun)
        verb = noun.head
        is_had = noun.dep_ == "dobj" and lemma(verb) in {
            "have",
            "get",
            "adopt",
            "rescue",
            "buy",
            "find",
        }
        is_own = any(subject.lower_ in self._grammar.first_person for subject in subjects(verb))
        if kin is None or not is_had or not is_own or noun.tag_ != "NN":
            return None
        return Person(
            f"{self.speaker}'s {noun.lower_}", owner=self.speaker, kin=kin[0], gender=kin[1]
        )

    def _find_shared(self, tokens: Sequence[Token]) -> None:
        """Finds names that two people have: such a name alone is nobody."""
        full: dict[str, set[str]] = {}
        kin: dict[str, set[str]] = {}
        names = {token.text for token in tokens if token.pos_ == "PROPN"}
        has_sign = any(
            token.lower_ in {"two", "three", "another", "other", "both", "same"} for token in tokens
        )
        for token in tokens:
            if token.pos_ not in {"PROPN", "NOUN"} or not token.text[:1].isupper():
                continue
            stem = token.text.removesuffix("s")
            if has_sign and (
                children(token, "det", "nummod", "amod")
                or (token.i and token.nbor(-1).lower_ in {"other", "another"})
            ):
                self._shared |= {token.text, stem} & (names | {stem})
            if token.dep_ != "compound":
                name = self.full_name(token)
                full.setdefault(name.split()[0], set()).add(name)
            self._note_kin(token, kin)
        for noun in tokens:
            owner = self.owner_of(noun) if self._kin(noun) else None
            for name, _ in self._names_by(noun) if owner else ():
                kin.setdefault(name, set()).add(f"{lemma(noun)} of {owner}")
        self._shared |= {first for first, known in full.items() if len(known - {first}) > 1}
        self._shared |= {
            name for name, known in kin.items() if len(known) > 1 or name == self.speaker
        }
        if any(token.lower_ == "same" for token in tokens) or any(
            token.lower_ == "both" for token in tokens
        ):
            self._shared |= set(kin)

    def _note_kin(self, token: Token, kin: dict[str, set[str]]) -> None:
        """Notes where somebody of a name is from, as in "Tom from work"."""
        origins = {
            each.text
            for child in children(token, "prep")
            if child.lower_ == "from"
            for each in children(child, "pobj")
        }
        if origins:
            kin.setdefault(self.full_name(token), set()).update(origins)

    @property
    def persons(self) -> list[Person]:
        """Everybody that was named, in the order of the words."""
        return [person for _, person in self._mentions]

    def person_of(self, token: Token) -> Person | None:
        """Whom a token means, if it means one person."""
        if token.lower_ in self._grammar.first_person:
            return Person(self.speaker)
        if token.pos_ == "PRON" and token.lower_ in self._grammar.female | self._grammar.male:
            return self._by_pronoun(token)
        return self._of_noun(token)

    def owner_of(self, noun: Token) -> str | None:
        """Whose something is: "my", "her", "Elin's", "of our cat"."""
        for child in children(noun, "poss"):
            return self._possessor(child)
        if noun.dep_ == "compound" and noun.head.pos_ == "PROPN":
            return self.owner_of(noun.head)
        for preposition in children(noun, "prep"):
            for each in preposition.children:
                if preposition.lower_ == "of" and each.lower_ in {"mine", "ours"}:
                    return self.speaker
                if preposition.lower_ == "of" and lemma(each) in self._grammar.kin_of:
                    person = self._of_noun(each)
                    return person.subject if person else None
        is_bare = noun.lower_ in self._grammar.bare_kin and not children(noun, "det", "poss")
        return self.speaker if is_bare and noun.dep_ in {"nsubj", "nsubjpass", "conj"} else None

    def only_other(self) -> str | None:
        """The one person beside the speaker whom the message names; None where there are two."""
        names = list(dict.fromkeys(each.subject for each in self.persons if each.called))
        return names[0] if len(names) == 1 else None

    def bond_of(self, noun: Token) -> Bond | None:
        """What a noun of kin says: "my brother Max", "Max, my brother", "Max is my brother"."""
        kin = self._kin(noun)
        owner = self.owner_of(noun) if kin else None
        if kin is None or owner is None:
            return None
        pairs = list(self._names_by(noun))
        names = tuple(dict.fromkeys(name for name, _ in pairs if name != owner))
        has_ended = any(child.lower_ in self._grammar.gone for child in noun.children)
        has_ended = has_ended or (kin[0] == "married_to" and self._is_one_of_many(noun))
        tokens = (noun, *children(noun, "poss"), *(token for _, token in pairs))
        return Bond(owner, kin[0], noun.lower_, names, tokens, has_ended)

    def is_kin(self, noun: Token) -> bool:
        """Whether a noun says what somebody is to somebody, or which animal."""
        return self._kin(noun) is not None

    def kin_predicate(self, noun: Token) -> str | None:
        """What a noun says that somebody is to somebody; None for other nouns."""
        kin = self._kin(noun)
        return kin[0] if kin else None

    def names_of(self, noun: Token) -> list[tuple[str, Token]]:
        """The names that stand by a noun of kin, each with its token."""
        return list(self._names_by(noun))

    def names_beside(self, noun: Token) -> list[tuple[str, Token]]:
        """The names right beside a noun of kin, each with its token."""
        return list(self._named_beside(noun))

    def _kin(self, noun: Token) -> tuple[str, str, bool] | None:
        """Predicate, gender, and whether there are few of them."""
        if noun.pos_ not in {"NOUN", "PROPN"}:
            return None
        kin = self._grammar.kin_of.get(noun.lower_) or self._grammar.kin_of.get(lemma(noun))
        if kin is not None:
            return kin.predicate, kin.gender, kin.is_close
        return ("pet", "", True) if self._classes.is_of(noun, "pet") else None

    def _possessor(self, token: Token) -> str | None:
        low = token.lower_
        if low in {"my", "our", "mine"}:
            return self.speaker
        if low in {"his", "her"}:
            person = self._by_pronoun(token)
            return person.subject if person else None
        person = self._of_noun(token)
        return person.subject if person else None

    def _by_pronoun(self, token: Token) -> Person | None:
        """The one whom a pronoun means: named before it, of its gender, and no second one."""
        gender = "f" if token.lower_ in self._grammar.female | {"her"} else "m"
        before = [person for place, person in self._mentions if place < token.i]
        for group in (before, self._earlier):
            fitting = [each for each in group if each.gender in {gender, ""}]
            known = [each for each in fitting if each.gender == gender] or fitting
            subjects_ = list(dict.fromkeys(each.subject for each in known))
            if len(subjects_) == 1:
                return known[-1]
            if subjects_:
                return None
        return None

    def _of_noun(self, token: Token) -> Person | None:
        word = self._values.word(token)
        if word in self._named and word not in self._shared:
            return self._named[word]
        kin = self._kin(token)
        if kin is not None and token.dep_ != "compound":
            found = self._of_kin(token, kin)
            if found is not None or not self._classes.is_person_name(token):
                return found
        if (
            token.dep_ in {"compound", "poss"}
            and token.head.pos_ == "PROPN"
            and token.dep_ == "compound"
        ):
            return None
        if self._classes.is_person_name(token):
            name = self.full_name(token)
            return (
                None
                if name in self._shared
                else self._named.get(name) or self._by_title(token, name)
            )
        return None

    def _by_title(self, token: Token, name: str) -> Person:
        """Somebody by a name, with the kin noun that stands before or beside it."""
        for child in children(token, "compound", "appos", "nmod"):
            kin = self._kin(child)
            owner = self.owner_of(child) or self.owner_of(token) if kin else None
            if kin and owner:
                return self._known(name, child, owner, kin=kin)
        return Person(name, called=name)

    def _of_kin(self, noun: Token, kin: tuple[str, str, bool]) -> Person | None:
        owner = self.owner_of(noun)
        if owner is None or noun.tag_ in {"NNS", "NNPS"} or self._is_one_of_many(noun):
            return None
        names = list(dict.fromkeys(name for name, _ in self._names_by(noun)))
        if len(names) == 1:
            return None if names[0] in self._shared else self._known(names[0], noun, owner, kin=kin)
        if names:
            return None
        word = self._grammar.same_kin.get(noun.lower_, noun.lower_)
        return Person(f"{owner}'s {word}", owner=owner, kin=kin[0], gender=kin[1])

    def _is_one_of_many(self, noun: Token) -> bool:
        """Whether it is a former one, or the first of several."""
        return any(
            child.lower_ in self._grammar.gone | {"first", "second", "third"}
            for child in noun.children
        )

    def _known(self, name: str, noun: Token, owner: str, *, kin: tuple[str, str, bool]) -> Person:
        subject = name if kin[2] else f"{name} ({noun.lower_} of {owner})"
        person = Person(subject, called=name, owner=owner, kin=kin[0], gender=kin[1])
        self._named.setdefault(name, person)
        return self._named[name]

    def full_name(self, token: Token) -> str:
        """A name with the names before it, without kin nouns and titles."""
        parts = [
            child
            for child in children(token, "compound")
            if child.pos_ == "PROPN" and self._kin(child) is None and child.text[:1].isupper()
        ]
        return " ".join(self._values.word(each) for each in [*parts, token])

    def _names_by(self, noun: Token) -> Iterator[tuple[str, Token]]:
        """The names that stand by a noun of kin, each with its token."""
        yield from self._named_beside(noun)
        yield from self._name_after(noun)
        head = noun.head
        if noun.dep_ in {"compound", "nmod"} and head.pos_ == "PROPN" and noun.i < head.i:
            yield from self._names([head])
        elif noun.dep_ == "appos" and head.pos_ == "PROPN":
            yield from self._names([head], with_joined=False)
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
        if is_name and not token.is_sent_start and self._kin(token) is None:
            following = token.nbor() if token.i + 1 < len(token.doc) else None
            last = (
                following
                if following is not None and token.dep_ == "compound" and token.head == following
                else token
            )
            yield self.full_name(last) if last != token else self._values.word(token), last

    def _named_beside(self, noun: Token) -> Iterator[tuple[str, Token]]:
        """As in "my brother, Max", "a cat called Tom"."""
        for child in children(noun, "appos", "acl", "relcl"):
            if child.dep_ == "appos" and child.pos_ == "PROPN":
                yield from self._names([child])
            elif lemma(child) in _NAMING:
                yield from self._names(children(child, "oprd", "dobj", "attr", "npadvmod"))
        if noun.tag_ == "NNS":  # "two boys, Max and Leo"
            yield from self._names(
                [child for child in children(noun, "conj") if child.pos_ == "PROPN"]
            )

    def _names_of_copula(self, noun: Token, verb: Token) -> Iterator[tuple[str, Token]]:
        """As in "Max is my brother", "my brother is called Max"."""
        if noun.dep_ == "attr" and lemma(verb) == "be":
            yield from self._names(subjects(verb))
        elif lemma(verb) in {"be", *_NAMING}:
            yield from self._names(children(verb, "attr", "oprd"))

    def _names(
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
                if is_name and self._kin(one) is None:
                    yield self.full_name(one), one
