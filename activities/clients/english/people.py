"""People: whom the words of a message mean, by name, by kinship or by a pronoun.

It stands apart because facts about the wrong person are worse than none: where two can be meant, nobody is.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from spacy.tokens import Token

from mnestic.activities.clients.english.classes import ValueClasses
from mnestic.activities.clients.english.lexicon import Lexicon
from mnestic.activities.clients.english.naming import Names
from mnestic.activities.clients.english.trees import children, following, lemma, subjects
from mnestic.activities.clients.english.values import Values

_PARTNERS = frozenset({"married_to", "partner", "engaged_to"})
_WHERE = frozenset({"from", "in", "at", "near"})


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
        self._names = Names(classes, values, lexicon)
        self.speaker, self._earlier = speaker, earlier
        self._mentions: list[tuple[int, Person]] = []
        self._named: dict[str, Person] = {}
        self._shared: set[str] = set()
        self._seen: set[str] = set()

    def read(self, tokens: Sequence[Token]) -> None:
        """Takes note of everybody whom tokens name, in their order."""
        self._find_shared(tokens)
        self._seen = {self._values.word(token) for token in tokens if token.ent_type_ == "PERSON"}
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
        kin = self._names.kin_of(noun)
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
        names = {self._values.word(token) for token in tokens if token.pos_ == "PROPN"}
        has_sign = any(
            token.lower_ in {"two", "three", "another", "other", "both", "same"} for token in tokens
        )
        for token in tokens:
            if token.pos_ not in {"PROPN", "NOUN"} or not token.text[:1].isupper():
                continue
            word = self._values.word(token)
            stem = word.removesuffix("s")
            if has_sign and (
                children(token, "det", "nummod", "amod")
                or (token.i and token.nbor(-1).lower_ in {"other", "another"})
            ):
                self._shared |= {word, stem} & (names | {stem})
            if token.dep_ != "compound":
                name = self._names.full_name(token)
                full.setdefault(name.split()[0], set()).add(name)
            self._note_kin(token, kin)
        for noun in tokens:
            owner = self.owner_of(noun) if self._names.kin_of(noun) else None
            for name, _ in self._names.names_by(noun) if owner else ():
                what = self.kin_predicate(noun) or ""
                what = "partner" if what in _PARTNERS else lemma(noun)
                kin.setdefault(name, set()).add(f"{what} of {owner}")
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
            kin.setdefault(self._names.full_name(token), set()).update(origins)

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

    def is_human(self, person: Person) -> bool:
        """Whether somebody is known to be one, and no firm or place of that name."""
        if person.subject == self.speaker or person.owner:
            return True
        is_known = any(each.subject == person.subject for each in self._earlier)
        return is_known or not self._seen.isdisjoint(person.subject.split())

    def owner_of(self, noun: Token) -> str | None:
        """Whose something is: "my", "her", "Elin's", "of our cat", "of Elin"."""
        for child in children(noun, "poss"):
            return self._possessor(child)
        if noun.dep_ == "compound" and noun.head.pos_ == "PROPN":
            return self.owner_of(noun.head)
        for each in following(noun, "of"):
            if each.lower_ in {"mine", "ours"}:
                return self.speaker
            if each.pos_ == "PROPN" or lemma(each) in self._grammar.kin_of:
                return self._possessor(each)
        is_bare = noun.lower_ in self._grammar.bare_kin and not children(noun, "det", "poss")
        return self.speaker if is_bare and noun.dep_ in {"nsubj", "nsubjpass", "conj"} else None

    def only_other(self) -> str | None:
        """The one person beside the speaker whom the message names; None where there are two."""
        names = list(dict.fromkeys(each.subject for each in self.persons if each.called))
        return names[0] if len(names) == 1 else None

    def bond_of(self, noun: Token) -> Bond | None:
        """What a noun of kin says: "my brother Max", "Max, my brother", "Max is my brother"."""
        kin = self._names.kin_of(noun)
        owner = self.owner_of(noun) if kin else None
        if kin is None or owner is None:
            return None
        pairs = list(self._names.names_by(noun))
        names = tuple(dict.fromkeys(name for name, _ in pairs if name != owner))
        near = [*noun.children, *(noun.head.children if noun.dep_ == "compound" else ())]
        has_ended = any(child.lower_ in self._grammar.gone for child in near)
        has_ended = has_ended or (kin[0] == "married_to" and self._is_one_of_many(noun))
        tokens = (noun, *children(noun, "poss"), *(token for _, token in pairs))
        return Bond(owner, kin[0], self._names.kin_word(noun), names, tokens, has_ended)

    def is_kin(self, noun: Token) -> bool:
        """Whether a noun says what somebody is to somebody, or which animal."""
        return self._names.kin_of(noun) is not None

    def kin_predicate(self, noun: Token) -> str | None:
        """What a noun says that somebody is to somebody; None for other nouns."""
        kin = self._names.kin_of(noun)
        return kin[0] if kin else None

    def full_name(self, token: Token) -> str:
        """A name with the names before it, without kin nouns and titles."""
        return self._names.full_name(token)

    def names_of(self, noun: Token) -> list[tuple[str, Token]]:
        """The names that stand by a noun of kin, each with its token."""
        return list(self._names.names_by(noun))

    def names_beside(self, noun: Token) -> list[tuple[str, Token]]:
        """The names right beside a noun of kin, each with its token."""
        return list(self._names.names_beside(noun))

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
        kin = self._names.kin_of(token)
        if kin is not None and (self._is_owner(token) or token.dep_ != "compound"):
            found = None if self._is_owner(token) else self._of_kin(token, kin)
            if found is not None or not self._classes.is_person_name(token):
                return found
        is_part = token.dep_ == "compound" and token.head.pos_ == "PROPN"
        return None if is_part else self._of_name(token)

    def _of_name(self, token: Token) -> Person | None:
        word, name = self._values.word(token), self._names.full_name(token)
        if {word, name} & self._shared:
            return None
        known = [each for each in self._earlier if each.called and each.called == word]
        if known and token.dep_ != "compound":
            return known[-1]
        is_place = token.dep_ == "pobj" and token.head.lower_ in _WHERE and name not in self._named
        is_name = self._classes.is_person_name(token) or self._is_with_me(token)
        if is_place or not is_name:
            return None
        return self._named.get(name) or self._by_title(token, name)

    def _is_owner(self, noun: Token) -> bool:
        """As in "my wife Ana's brother works": what is said is not said of her."""
        is_subject = noun.dep_ in {"nsubj", "nsubjpass"}
        names = [name for _, name in self._names.names_by(noun)] if is_subject else []
        return any(
            name.i + 1 < len(name.doc) and name.nbor().text == "'s" and name.nbor().dep_ == "case"
            for name in names
        )

    def _is_with_me(self, token: Token) -> bool:
        """As in "Nils and I": a name, whatever the parse makes of it."""
        is_with_me = any(child.lower_ == "i" for child in children(token, "conj"))
        is_name = token.text[:1].isupper() and token.pos_ in {"NOUN", "PROPN"}
        return is_with_me and is_name and not children(token, "det", "poss")

    def _by_title(self, token: Token, name: str) -> Person:
        """Somebody by a name, with the kin noun that stands before or beside it."""
        for child in children(token, "compound", "appos", "nmod"):
            kin = self._names.kin_of(child)
            owner = self.owner_of(child) or self.owner_of(token) if kin else None
            if kin and owner:
                return self._known(name, child, owner, kin=kin)
        return Person(name, called=name)

    def _of_kin(self, noun: Token, kin: tuple[str, str, bool]) -> Person | None:
        owner = self.owner_of(noun)
        if owner is None or noun.tag_ in {"NNS", "NNPS"} or self._is_one_of_many(noun):
            return None
        names = list(dict.fromkeys(name for name, _ in self._names.names_by(noun)))
        if len(names) == 1 and names[0] in self._shared:
            title = f"{names[0]} ({self._names.kin_word(noun)} of {owner})"
            return Person(title, called=names[0], owner=owner, kin=kin[0], gender=kin[1])
        if len(names) == 1:
            return self._known(names[0], noun, owner, kin=kin)
        if names:
            return None
        word = self._names.kin_word(noun)
        word = self._grammar.same_kin.get(word, word)
        return Person(f"{owner}'s {word}", owner=owner, kin=kin[0], gender=kin[1])

    def _is_one_of_many(self, noun: Token) -> bool:
        """Whether it is a former one, or the first of several."""
        return any(
            child.lower_ in self._grammar.gone | {"first", "second", "third"}
            for child in noun.children
        )

    def _known(self, name: str, noun: Token, owner: str, *, kin: tuple[str, str, bool]) -> Person:
        subject = name if kin[2] else f"{name} ({self._names.kin_word(noun)} of {owner})"
        person = Person(subject, called=name, owner=owner, kin=kin[0], gender=kin[1])
        self._named.setdefault(name, person)
        return self._named[name]
