"""Subjects: who or what a clause is about, by the words that stand before its verb.

They stand apart from clauses because here it is decided of whom a fact is kept, or of nobody.
"""

# ruff: noqa: SIM905 (word lists read best as text)

from collections.abc import Sequence
from dataclasses import dataclass, replace

from mnestic.activities.clients.rules.lexicon import KIN, KIN_PLURALS
from mnestic.activities.clients.rules.lexing import Word
from mnestic.activities.clients.rules.namesakes import is_name, name_at
from mnestic.activities.clients.rules.people import Cast, Relationship, bond_at
from mnestic.activities.clients.rules.verbs import FORMS

_PERSONS = {"i": "first", "we": "first", "you": "second", "he": "third", "she": "third"}
_OTHERS = frozenset(
    "they it this that there these those everyone everybody someone somebody nobody who which".split()
)
_STARTS_NOUN = frozenset("the a an this that my our his her your their".split())
_VERBS_AFTER_NOUNS = frozenset(
    "is are was were has have had will would can got gets goes starts ends takes used".split()
)
_ENDS_NOUN = frozenset(
    ", ; : ( ) . ! … - and but so because since while when if or that which who then yet".split()
)
_LONGEST_NOUN = 6


@dataclass(frozen=True, slots=True)
class Subject:
    """Who or what a clause is about.

    `names` are those of whom facts are kept: none for somebody unknown. `noun` is a thing of theirs
    ("birthday" in "my birthday"), or the thing itself where there is no owner.
    """

    names: tuple[str, ...] = ()
    noun: str = ""
    person: str = "third"
    with_speaker: str = ""
    is_plural: bool = False

    def alone(self) -> "Subject":
        """The speaker alone, of "Tom and I"."""
        return replace(self, names=self.names[:1], with_speaker="") if self.with_speaker else self


class Subjects:
    """Reads the subjects of a sentence.

    Args:
        words: Of the sentence.
        cast: Whom the message speaks of.
    """

    def __init__(self, words: Sequence[Word], cast: Cast) -> None:
        self._words, self._cast = words, cast

    def at(self, index: int) -> tuple[Subject, int] | None:
        """The subject that begins at a word, and what follows it; None where none begins."""
        word = self._words[index]
        if word.low in _PERSONS:
            return self._pronoun(index)
        bond = bond_at(self._words, index, speaker=self._cast.speaker)
        if bond:
            return self._bonded(bond)
        if word.low in {"my", "our", "his", "her"} or is_name(word):
            return self._named(index) if is_name(word) else self._attribute(index)
        is_last = index + 1 >= len(self._words)
        if word.low in _OTHERS and (is_last or not _is_noun(self._words[index + 1])):
            return Subject(person="other"), index + 1
        if word.low in _STARTS_NOUN:
            return self._thing(index)
        return None

    def _pronoun(self, index: int) -> tuple[Subject, int]:
        word = self._words[index]
        person = _PERSONS[word.low]
        if person == "first":
            speaker = (self._cast.speaker,)
            return Subject(speaker, person="first", is_plural=word.low == "we"), index + 1
        if person == "second":
            return Subject(person="second"), index + 1
        referent = self._cast.referent(word)
        return Subject((referent,) if referent else ()), index + 1

    def _bonded(self, bond: Relationship) -> tuple[Subject, int]:
        stated = self._cast.bond_from(bond.start) or bond
        place = bond.following
        if place < len(self._words) and self._words[place].low == "'s":
            noun, following = self._noun_until_verb(place + 1)
            return Subject((stated.subject,) if noun else (), noun=noun), following
        if (
            stated.word.rsplit(" ", 1)[-1] not in KIN
            and stated.kin in KIN_PLURALS.values()
            and not stated.names
        ) or len(stated.names) > 1:
            return self._many(place)
        return self._with_speaker(stated.subject, self._after_aside(place))

    def _after_aside(self, place: int) -> int:
        """What follows "a pilot," in "my brother Leo, a pilot, lives in Rome"."""
        lows = [word.low for word in self._words[place : place + _LONGEST_NOUN + 2]]
        if lows[:1] == [","] and lows[1:2] and lows[1] in {"a", "an", "the"} and "," in lows[2:]:
            return place + lows.index(",", 2) + 1
        return place

    def _many(self, place: int) -> tuple[Subject, int]:
        """As in "My brothers": of no one of them; "my colleagues and I": of the speaker."""
        if [word.low for word in self._words[place : place + 2]] == ["and", "i"]:
            return Subject((self._cast.speaker,), person="first", is_plural=True), place + 2
        return Subject(person="other"), place

    def _with_speaker(self, subject: str, place: int) -> tuple[Subject, int]:
        """As in "Tom and I": both."""
        lows = [word.low for word in self._words[place : place + 2]]
        if lows == ["and", "i"]:
            return Subject(
                (self._cast.speaker, subject), person="first", with_speaker=subject
            ), place + 2
        if (
            lows[:1] == ["and"]
            and len(lows) > 1
            and (is_name(self._words[place + 1]) or lows[1] in {"my", "our", "his", "her"})
        ):
            return Subject(person="other"), place
        return Subject((subject,)), place

    def _named(self, index: int) -> tuple[Subject, int] | None:
        name, place = name_at(self._words, index)
        lows = [word.low for word in self._words[place : place + 2]]
        if lows[:1] == ["'s"]:
            noun, following = self._noun_until_verb(place + 1)
            subject = self._cast.subject_of(name, at=self._words[index].start)
            return (Subject((subject,) if subject else (), noun=noun), following) if noun else None
        if lows[:1] and lows[0] in {"from", "at"} and len(lows) > 1:
            place += 2
        elif lows[:1] == [","]:  # "Elin, my sister, lives"
            bond = next(
                (each for each in self._cast.bonds if each.start == self._words[index].start), None
            )
            if bond is not None:
                place = bond.following + (
                    bond.following < len(self._words) and self._words[bond.following].low == ","
                )
        subject = self._cast.subject_of(name, at=self._words[index].start)
        if subject is None:
            return Subject(), place
        return self._with_speaker(subject, place)

    def _attribute(self, index: int) -> tuple[Subject, int] | None:
        """As in "My birthday", "her favourite colour"."""
        noun, place = self._noun_until_verb(index + 1)
        if not noun:
            return None
        low = self._words[index].low
        if low in {"my", "our"}:
            return Subject((self._cast.speaker,), noun=noun, person="third"), place
        referent = self._cast.referent(self._words[index])
        return Subject((referent,) if referent else (), noun=noun), place

    def _thing(self, index: int) -> tuple[Subject, int] | None:
        noun, place = self._noun_until_verb(index + 1)
        return (Subject(noun=noun), place) if noun else None

    def _noun_until_verb(self, index: int) -> tuple[str, int]:
        """The words of a noun, five at most, up to the verb after it."""
        for place in range(index, min(index + 6, len(self._words))):
            word = self._words[place]
            if place > index and (
                word.low in _VERBS_AFTER_NOUNS or (word.low in FORMS and word.low.endswith("s"))
            ):
                return " ".join(each.text for each in self._words[index:place]), place
            if word.low in _ENDS_NOUN:
                return "", index
        return "", index

    def noun_before(self, place: int) -> str:
        """The thing that ends at a word, from its article on."""
        start = place
        while start and place - start < 5:  # noqa: PLR2004
            if self._words[start].low in FORMS or self._words[start].low in _VERBS_AFTER_NOUNS:
                return ""
            if self._words[start].low in {"the", "a", "an", "my", "our"}:
                return _noun(self._words[start : place + 1], self._cast.speaker)
            start -= 1
        return ""


def _is_noun(word: Word) -> bool:
    """Whether a word goes on as a noun after "this" or "that": no verb is known by it."""
    return (
        word.low not in FORMS
        and word.low not in {"is", "are", "was", "were", "will", "would", "has"}
        and word.low.isalpha()
    )


def _noun(words: Sequence[Word], speaker: str) -> str:
    text = " ".join(word.text for word in words[1:])
    return f"{speaker}'s {text}" if words[0].low in {"my", "our"} else text
