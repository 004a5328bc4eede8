"""People: whom the words of a message mean, by name, by kinship or by a pronoun.

Facts about the wrong person are worse than none: where two can be meant, nobody is.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from spacy.tokens import Token

from mnestic.activities.clients.english.lexicon import Kin, Lexicon
from mnestic.activities.clients.english.parsing import Parsed
from mnestic.activities.clients.english.trees import (
    children,
    conjuncts,
    following,
    lemma,
    owned_behind,
    subjects_of,
)
from mnestic.activities.clients.english.values import ObjectReader

_PLURAL = frozenset({"NNS", "NNPS"})
_ANOTHER = frozenset({"another", "other", "two", "three", "both"})
_GETTING = frozenset({"have", "get", "adopt", "rescue", "name", "call"})
_ONE_OF_MANY = frozenset({"first", "second", "third"})


@dataclass(frozen=True, slots=True)
class Person:
    """Somebody: as facts name them, as they are called, and whose kin they are."""

    subject: str
    called: str = ""
    owner: str = ""
    kin: str = ""
    gender: str = ""


class Entities:
    """The people of one message; `earlier` are those of the messages before it, the last one last, and `recent` of the last few."""

    def __init__(
        self,
        parsed: Parsed,
        values: ObjectReader,
        lexicon: Lexicon,
        *,
        speaker: str,
        earlier: Sequence[Person],
        recent: Sequence[Person] = (),
    ) -> None:
        self._parsed, self._values, self._lexicon = parsed, values, lexicon
        self.speaker, self._earlier, self._recent = speaker, earlier, recent
        self._words = [token for sentence in parsed.sentences for token in sentence]
        self._known = {word for one in earlier for word in one.called.split()}
        self._mentions: list[tuple[int, Person]] = []
        self._named: dict[str, Person] = {}
        self._kin_of_name = self._bonds_by_name()
        self._shared = {name for name, kin in self._kin_of_name.items() if len(kin) > 1}
        self._shared |= self._names_of_several()
        for token in self._words:
            person = self._of_noun(token)
            if person is not None and person.subject != speaker:
                self._mentions.append((token.i, person))

    @property
    def persons(self) -> list[Person]:
        """Everybody that was named, in the order of the words."""
        return [person for _, person in self._mentions]

    @property
    def everybody(self) -> list[Person]:
        """Those of the message, and those of the messages before it, the last ones first."""
        return [*self.persons, *reversed(self._earlier)]

    def person_of(self, token: Token) -> Person | None:
        """Whom a token means, if it means one person."""
        if token.lower_ in self._lexicon.first_person:
            return Person(self.speaker)
        if token.lower_ in self._lexicon.female | self._lexicon.male:
            return self._by_pronoun(token)
        return self._of_noun(token)

    def kin_of(self, noun: Token) -> Kin | None:
        """What a noun says somebody is to somebody."""
        if noun.pos_ not in {"NOUN", "PROPN"}:
            return None
        is_joined = noun.i > 1 and noun.nbor(-1).text == "-"
        if is_joined and noun.nbor(-2).lower_ not in {"ex", "half", "step"}:
            return None
        kin = self._lexicon.kin_of
        return kin.get(self.kin_word(noun)) or kin.get(lemma(noun))

    def kin_word(self, noun: Token) -> str:
        """A noun of kin as it is known, such as mother-in-law."""
        after = noun.doc[noun.i + 1 : noun.i + 5].text.lower().replace(" ", "")
        return f"{noun.lower_}-in-law" if after.startswith(("-in-law", "inlaw")) else noun.lower_

    def is_over(self, noun: Token) -> bool:
        """Whether a noun of kin names a former one, or one that is none."""
        near = [*noun.children, *(noun.head.children if noun.dep_ == "compound" else ())]
        return any(child.lower_ in self._lexicon.gone - _ONE_OF_MANY for child in near)

    def owner_of(self, noun: Token) -> str | None:
        """Whose something is: "my", "her", "Elin's", "of Elin"."""
        for child in self._possessors(noun):
            return self._possessor(child)
        for each in following(noun, "of"):
            if each.lower_ in {"mine", "ours"}:
                return self.speaker
            person = self.person_of(each)
            return person.subject if person else None
        if noun.dep_ == "dobj" and lemma(noun.head) in _GETTING and self.kin_of(noun):
            owners = [self.person_of(one) for one in subjects_of(noun.head)]
            return owners[0].subject if owners and owners[0] else None
        is_bare = noun.lower_ in self._lexicon.bare_kin and not children(noun, "det")
        return self.speaker if is_bare else None

    def _possessors(self, noun: Token) -> list[Token]:
        """The owner's token, which a parse may hang on the name behind the noun."""
        own = children(noun, "poss")
        if own or noun.i == noun.sent.start or noun.pos_ not in {"NOUN", "PROPN"}:
            return own
        before = noun.nbor(-1)
        while before.dep_ in {"amod", "compound", "nummod"} and before.i > noun.sent.start:
            before = before.nbor(-1)
        return [before] if before.tag_ == "PRP$" else []

    def _possessor(self, token: Token) -> str | None:
        if token.lower_ in {"my", "our", "mine"}:
            return self.speaker
        person = self._by_pronoun(token) if token.tag_ == "PRP$" else self._of_noun(token)
        return person.subject if person else None

    def names_by(self, noun: Token) -> list[Token]:
        """The heads of the names beside a noun: "my brother Max", "Max, my brother", "a cat called Minka"."""
        for child in children(noun, "acl"):
            if lemma(child) in {"call", "name"}:
                named = children(child, "oprd", "dobj", "attr")
                return [each for each in named if self._values.is_name(each)][:1]
        if (called := self._name_by_verb(noun)) is not None:
            return [called]
        first = self._name_after(noun)
        if first is None and noun.dep_ == "appos" and self._is_person_name(noun.head):
            return [noun.head]
        if first is None or noun.tag_ not in _PLURAL:
            return [first] if first else []
        return [each for each in conjuncts(first) if self._is_person_name(each)]

    def _name_by_verb(self, noun: Token) -> Token | None:
        """As in "Elin is my sister", "my sister is called Elin"."""
        verb = noun.head
        is_of_another = noun.tag_ in _PLURAL or owned_behind(noun) != noun
        if is_of_another or lemma(verb) not in {"be", "call", "name"}:
            return None
        is_subject = noun.dep_ in {"nsubj", "nsubjpass"}
        others = ("attr", "oprd") if is_subject else ("nsubj",) if noun.dep_ == "attr" else ()
        return next((one for one in children(verb, *others) if self._is_person_name(one)), None)

    def _name_after(self, noun: Token) -> Token | None:
        """The head of the name right behind a noun, or behind a comma that closes again."""
        doc, after = noun.doc, noun.i + 1
        has_comma = after < len(doc) and doc[after].text in {",", ":"}
        place = after + 1 if has_comma else after
        if place >= len(doc) or doc[place].sent != noun.sent:
            return None
        last = doc[place]
        if not (self._is_person_name(last) or (not has_comma and self._may_be_name(last))):
            return None
        while last.dep_ == "compound" and last.head.i == last.i + 1 and last.head.pos_ == "PROPN":
            last = last.head
        following_text = last.nbor().text if last.i + 1 < len(doc) else "."
        is_closed = following_text in {",", ".", ")", "and"} or last.dep_ == "appos"
        is_owner = following_text == "'s" and last.nbor().dep_ == "case"
        return last if (is_closed or not has_comma) and not is_owner else None

    def _may_be_name(self, token: Token) -> bool:
        """Whether a word with a capital, which the parser takes for another, is a name behind a noun of kin."""
        is_other = token.pos_ in {"PRON", "AUX"} or self._values.is_date(token)
        return token.text[:1].isupper() and token.is_alpha and not is_other

    def _is_person_name(self, token: Token) -> bool:
        if not token.text[:1].isupper() or token.is_stop or token.lower_ in self._lexicon.kin_of:
            return False
        is_other = self._values.is_date(token) or bool(self._parsed.kind_of(token))
        is_name = token.pos_ == "PROPN" or self._parsed.text(token, token) in self._known
        return is_name and not is_other and not children(token, "det", "nummod")

    def full_name(self, token: Token) -> str:
        """A name with the names before it."""
        first = token
        while first.i > token.sent.start and first.nbor(-1).dep_ == "compound":
            if not self._is_person_name(first.nbor(-1)):
                break
            first = first.nbor(-1)
        text = self._parsed.text(first, token)
        end = token.idx + len(token)
        return self._parsed.repaired.text[first.idx : end] if text.islower() else text

    def _by_pronoun(self, token: Token) -> Person | None:
        """The one whom a pronoun means: named before it, of its gender, and no second one."""
        gender = "f" if token.lower_ in self._lexicon.female else "m"
        before = [person for place, person in self._mentions if place < token.i]
        for group in (before, self._recent):
            fitting = [each for each in group if each.gender in {gender, ""}]
            known = [each for each in fitting if each.gender == gender] or fitting
            if known:
                return known[-1] if len({each.subject for each in known}) == 1 else None
        return None

    def _bonds_by_name(self) -> dict[str, set[str]]:
        """What each name is said to be: two kinds of kin are two people."""
        found: dict[str, set[str]] = defaultdict(set)
        for noun in self._words:
            if self.kin_of(noun) is not None:
                for name in self.names_by(noun):
                    found[self.full_name(name)].add(self.kin_word(noun))
        return found

    def _names_of_several(self) -> set[str]:
        """Names that two people have, such as *another Anna*, or Anna Berg and Anna Holt: such a name alone is nobody."""
        full: dict[str, set[str]] = defaultdict(set)
        several: set[str] = set()
        for token in self._words:
            if token.i and token.nbor(-1).lower_ in _ANOTHER and token.text[:1].isupper():
                several |= {token.text, token.text.removesuffix("s")}
            if self._is_person_name(token) and token.dep_ != "compound":
                name = self.full_name(token)
                full[name.split()[0]].add(name)
        return several | {first for first, names in full.items() if len(names - {first}) > 1}

    def _of_noun(self, token: Token) -> Person | None:
        kin = self.kin_of(token)
        if kin is not None:
            return self._of_kin(token, kin)
        is_part = token.dep_ == "compound" and token.head.pos_ == "PROPN"
        return None if is_part or not self._is_person_name(token) else self._of_name(token)

    def _of_name(self, token: Token) -> Person | None:
        word, name = self._parsed.text(token, token), self.full_name(token)
        if {word, name} & self._shared:
            return None
        if name in self._named:
            return self._named[name]
        for child in (*children(token, "compound", "appos", "nmod"), token.head):
            kin = self.kin_of(child) if child != token else None
            if kin is not None and token in self.names_by(child):
                return self._of_kin(child, kin)
        known = [each for each in self._earlier if each.called and word in each.called.split()]
        if known:
            return known[-1]
        is_place = token.dep_ == "pobj" and token.head.lower_ not in {"with", "by", "for", "of"}
        return None if is_place else Person(name, called=name)

    def _of_kin(self, noun: Token, kin: Kin) -> Person | None:
        owner = self.owner_of(noun)
        names = [] if noun.tag_ in _PLURAL else self.names_by(noun)
        if owner is None:
            return self._the_known(noun, kin)
        if noun.tag_ in _PLURAL or self.is_over(noun):
            return None
        if names:
            return self.relative(noun, self.full_name(names[0]), owner=owner, kin=kin)
        if any(child.lower_ in _ONE_OF_MANY for child in noun.children):
            return None
        return self._unnamed(noun, owner, kin)

    def relative(self, noun: Token, name: str, *, owner: str, kin: Kin) -> Person:
        """Somebody's relative by name."""
        title = f"{name} ({self.kin_word(noun)} of {owner})"
        if name in self._shared:
            return Person(title, name, owner, kin.predicate, kin.gender)
        subject = name if kin.is_close else title
        person = Person(subject, name, owner, kin.predicate, kin.gender)
        return self._named.setdefault(name, person)

    def _unnamed(self, noun: Token, owner: str, kin: Kin) -> Person:
        """As in "my sister": the one whose name is known, if there is one."""
        same = {
            each
            for each in self.everybody
            if each.called and (each.kin, each.owner) == (kin.predicate, owner)
            if each.gender in {kin.gender, ""} or not kin.gender
        }
        word = self._lexicon.same_kin.get(self.kin_word(noun), self.kin_word(noun))
        unnamed = Person(f"{owner}'s {word}", "", owner, kin.predicate, kin.gender)
        return same.pop() if len(same) == 1 else unnamed

    def _the_known(self, noun: Token, kin: Kin) -> Person | None:
        """As in "the dog is called Pudding": the one that was spoken of."""
        is_definite = any(child.lower_ == "the" for child in noun.children)
        same = {each for each in self.everybody if each.kin == kin.predicate}
        return same.pop() if is_definite and len(same) == 1 else None

    def relatives(self, noun: Token) -> Iterator[tuple[Person, Token]]:
        """Whom a noun of kin with names beside it introduces, each with the token of the name."""
        kin = self.kin_of(noun)
        owner = self.owner_of(noun) if kin else None
        if kin is None or owner is None or self.is_over(noun):
            return
        for token in self.names_by(noun):
            name = self.full_name(token)
            if name != owner:
                yield self.relative(noun, name, owner=owner, kin=kin), token
