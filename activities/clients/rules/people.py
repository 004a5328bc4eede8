"""Whom a message speaks of: kin and pets by name, what is known of a name, whom "she" can mean.

A name that the message ties to somebody by a looser bond than close kin, or to a place, gets that as a
part of it: "Anna (colleague of Mara)", "Anna (from school)". So two people of one name are never
taken for each other where the messages tell them apart. Close kin and bare names stay as they are.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from mnestic.activities.clients.rules.lexicon import (
    GONE,
    KIN,
    KIN_ADJECTIVES,
    KIN_PLURALS,
    MEETINGS,
    PEOPLE,
    PETS,
    Gender,
    Kin,
)
from mnestic.activities.clients.rules.lexing import Word
from mnestic.activities.clients.rules.namesakes import name_at, shared_names
from mnestic.activities.clients.rules.verbs import FORMS
from mnestic.memory.knowledge.claims import name_key

_PET = Kin("pet", is_close=True)
_NAMING = frozenset({"called", "named"})
_IS = frozenset({"is", "was"})
_PLACED = frozenset("in at to from near of around via through visit visited".split())  # noqa: SIM905
_MOST = 100  # people of one message; whoever comes after them is nobody's kin, and no "she" is told
_COUNTS = frozenset({"a", "an", "one", "two", "three", "four", "five", "six"})
_KEPT = frozenset(
    "older younger oldest youngest eldest elder other twin big little first second".split()  # noqa: SIM905
)
_FROM = frozenset("from at".split())  # noqa: SIM905
_CIRCLES = frozenset(
    [
        "school",
        "work",
        "church",
        "uni",
        "university",
        "college",
        "gym",
        "yoga",
        "accounting",
        "marketing",
        "hr",
        "sales",
        "next",
        "class",
        "football",
        "choir",
        "upstairs",
        "downstairs",
        "finance",
        "legal",
        "support",
        "engineering",
        "research",
        "kindergarten",
        "daycare",
    ]
)
_MEN, _WOMEN = (
    frozenset(["man", "guy", "boy", "waiter"]),
    frozenset(["woman", "girl", "lady", "waitress"]),
)
_COUPLES = frozenset({"married_to", "partner", "engaged_to"})
_OPENS = frozenset(", ; . : ! - \u2013 \u2014 ( and but so because btw actually".split())  # noqa: SIM905
_AUX = frozenset(
    "is was has had will does did and 's who , used no still also now just always never".split()  # noqa: SIM905
)


@dataclass(frozen=True, slots=True)
class Relationship:
    """As in "My colleague Anna": whose, what, who; `subject` is how facts name whoever it is."""

    owner: str
    word: str
    kin: Kin
    names: tuple[str, ...]
    subject: str
    start: int
    end: int
    following: int
    has_ended: bool = False


@dataclass(frozen=True, slots=True)
class _Mention:
    subject: str
    gender: Gender
    start: int
    is_person: bool


def bond_at(words: Sequence[Word], index: int, *, speaker: str) -> Relationship | None:
    """As in "My younger sister Elin", "Tom's cat", "our neighbours Ann and Bo", where it begins."""
    owner, place = speaker, index + 1
    if words[index].low not in {"my", "our"}:
        owner, place = name_at(words, index)
        if not owner or place >= len(words) or words[place].low != "'s":
            return None
        place += 1
    bond = _bond_of(words, index, place, owner=owner)
    if (
        bond
        and not bond.names
        and [word.low for word in words[bond.following : bond.following + 1]] == ["'s"]
    ):
        return _bond_of(words, index, bond.following + 1, owner=bond.subject) or bond
    return bond


def _bond_of(words: Sequence[Word], index: int, place: int, *, owner: str) -> Relationship | None:
    adjectives: list[str] = []
    place += place < len(words) and words[place].low in _COUNTS - {"a", "an"}
    while place < len(words) and words[place].low in KIN_ADJECTIVES | GONE:
        adjectives.append(words[place].low)
        place += 1
    if place >= len(words):
        return None
    word = words[place].low.removeprefix("ex-")
    gone = next((f"{each} " for each in adjectives if each in GONE), "")
    if word != words[place].low or gone.startswith("ex"):
        gone = "ex-"
    kin = KIN.get(word) or KIN_PLURALS.get(word) or (_PET if word in PETS else None)
    if kin is None or (word == "leader" and "team" not in adjectives):
        return None
    if place + 1 < len(words) and words[place + 1].low in MEETINGS:
        return None  # "my dentist appointment"
    many = word not in KIN and word in KIN_PLURALS
    names, following = _names_after(words, place + 1, many=many)
    titles = [each for each in adjectives if each in _KEPT]
    title = "team leader" if word == "leader" else " ".join([*titles, word])
    return Relationship(
        owner,
        title,
        kin,
        names,
        _subject(owner, title if names else f"{gone}{title}", kin, names=names),
        words[index].start,
        words[following - 1].end,
        following,
        has_ended=bool(gone) or ("first" in adjectives and kin.predicate in _COUPLES),
    )


def _names_after(words: Sequence[Word], index: int, *, many: bool) -> tuple[tuple[str, ...], int]:
    """The names of those who were just called kin, and what follows them."""
    is_apart = index < len(words) and words[index].low in {",", ":", "("}
    name, place = name_at(words, index + is_apart)
    if not name:
        return (), index
    if not many:
        if not is_apart:
            return (name,), place
        closed = place < len(words) and words[place].low in {",", ")"}
        return ((name,), place + 1) if closed else ((), index)
    names = [name]
    while place < len(words) and words[place].low in {",", "and"}:
        step = place + 1 + (place + 1 < len(words) and words[place + 1].low == "and")
        name, following = name_at(words, step)
        if not name:
            break
        names, place = [*names, name], following
    return tuple(names), place


def _subject(owner: str, title: str, kin: Kin, *, names: tuple[str, ...]) -> str:
    if not names:
        return f"{owner}'s {title}"
    return names[0] if kin.is_close else f"{names[0]} ({title} of {owner})"


def _is_told_of(words: Sequence[Word], index: int) -> bool:
    """Whether a word says what somebody is who was just named, as in "Carol is a retired teacher"."""
    start = index
    while start and index - start < 4 and words[start].low not in {"a", "an"}:  # noqa: PLR2004
        start -= 1
    if start < 2 or words[start].low not in {"a", "an"} or words[start - 1].low not in _IS:  # noqa: PLR2004
        return False
    who = words[start - 2]
    return who.low in {"he", "she"} or who.low in KIN or bool(name_at(words, start - 2)[0])


class Cast:
    """Everybody whom a message speaks of.

    Args:
        sentences: The words of each sentence, also of those that state nothing.
        speaker: Who speaks.
    """

    def __init__(self, sentences: Sequence[Sequence[Word]], *, speaker: str) -> None:
        self.speaker = speaker
        self.bonds: list[Relationship] = []
        self._mentions: list[_Mention] = []
        self._named: dict[str, set[str]] = {}
        self._shared = shared_names(sentences)
        for words in sentences:
            self._read(words)
        for words in sentences:
            self._name_the_nameless(words)
        self._part_namesakes()

    def subject_of(self, name: str, *, at: int) -> str | None:
        """How facts name somebody at a place; None for the speaker, and for a name that two people have."""
        key = name_key(name)
        if key == name_key(self.speaker) or at >= self._shared.get(key, at + 1):
            return None
        known = self._named.get(key, set())
        return next(iter(known)) if len(known) == 1 else None if known else name

    def bond_from(self, start: int) -> Relationship | None:
        """The bond that is told at a place of the message."""
        return next((bond for bond in self.bonds if bond.start == start), None)

    def referent(self, pronoun: Word) -> str | None:
        """Whom "she" or "he" means: the one person before it who can be meant, else nobody."""
        if len(self._mentions) > _MOST:
            return None
        other: Gender = "m" if pronoun.low in {"she", "her"} else "f"
        before = [
            each for each in self._mentions if each.start < pronoun.start and each.gender != other
        ]
        subjects = {each.subject for each in before}
        if len(subjects) != 1 or not any(each.is_person for each in before):
            return None
        return subjects.pop() or None

    def only_person(self) -> str | None:
        """The one person whom the message names, besides the speaker."""
        subjects = {each.subject for each in self._mentions}
        is_person = any(each.is_person for each in self._mentions)
        return subjects.pop() if len(subjects) == 1 and is_person else None

    def _read(self, words: Sequence[Word]) -> None:
        index = 0
        while index < len(words):
            bond = bond_at(words, index, speaker=self.speaker) or self._apposed(words, index)
            bond = bond or self._had(words, index)
            if bond:
                self._add(bond)
                index = bond.following
            else:
                index = self._read_word(words, index)

    def _add(self, bond: Relationship) -> None:
        if len(self.bonds) >= _MOST:
            return
        self.bonds.append(bond)
        self._mentions.append(_Mention(bond.subject, bond.kin.gender, bond.start, is_person=True))
        if len(bond.names) == 1:
            self._named.setdefault(name_key(bond.names[0]), set()).add(bond.subject)

    def _part_namesakes(self) -> None:
        """Tells close kin of one name apart, as a brother and a son, who else would be one person."""
        kin: dict[str, set[str]] = {}
        for bond in self.bonds:
            if bond.kin.is_close and len(bond.names) == 1:
                tie = "partner" if bond.kin.predicate in _COUPLES else bond.kin.predicate
                kin.setdefault(name_key(bond.names[0]), set()).add(f"{bond.owner} {tie}")
        for index, bond in enumerate(self.bonds):
            key = name_key(bond.names[0]) if len(bond.names) == 1 else ""
            if bond.kin.is_close and len(kin.get(key, ())) > 1:
                subject = f"{bond.names[0]} ({bond.word} of {bond.owner})"
                self.bonds[index] = replace(bond, subject=subject)
                self._named.setdefault(key, set()).discard(bond.subject)
                self._named[key].add(subject)

    def _apposed(self, words: Sequence[Word], index: int) -> Relationship | None:
        """As in "Elin is my sister", "Elin, my sister,"."""
        name, place = name_at(words, index)
        if not name or place + 2 >= len(words) or words[place].low not in {"is", ","}:
            return None
        is_claimed = words[place].low == "is"
        if is_claimed and index and words[index - 1].low not in _OPENS:
            return None  # "It is false that Nora is my sister"
        is_past = is_claimed and [word.low for word in words[place + 1 : place + 3]] == [
            "no",
            "longer",
        ]
        place += 2 * is_past
        bond = bond_at(words, place + 1, speaker=self.speaker)
        if (
            bond is None
            or bond.names
            or (bond.following < len(words) and words[bond.following].low == "'s")
        ):
            return None
        start, end = words[index].start, words[bond.following - 1].end
        subject = _subject(bond.owner, bond.word, bond.kin, names=(name,))
        return replace(
            bond,
            names=(name,),
            subject=subject,
            start=start,
            end=end,
            has_ended=bond.has_ended or is_past,
        )

    def _had(self, words: Sequence[Word], index: int) -> Relationship | None:
        """As in "I have two brothers, Tom and Ben"."""
        if words[index].low != "have" or not index or words[index - 1].low not in {"i", "we"}:
            return None
        place = index + 1 + (words[index + 1 : index + 2] != [] and words[index + 1].low == "got")
        if place >= len(words) or words[place].low not in _COUNTS:
            return None
        bond = _bond_of(words, index, place + 1, owner=self.speaker)
        return None if bond is None or bond.kin is _PET else bond

    def _read_word(self, words: Sequence[Word], index: int) -> int:
        word = words[index]
        name, place = name_at(words, index)
        if name:
            self._read_name(words, index, place)
            return place
        is_new = index and words[index - 1].low not in {"my", "our", "'s"}
        if word.low in PEOPLE and is_new and not _is_told_of(words, index):
            gender: Gender = "m" if word.low in _MEN else "f" if word.low in _WOMEN else ""
            self._mentions.append(_Mention(f"the {word.low}", gender, word.start, is_person=False))
        return index + 1

    def _read_name(self, words: Sequence[Word], index: int, place: int) -> None:
        name = " ".join(word.text for word in words[index:place])
        before = words[index - 1].low if index else ""
        following = words[place].low if place < len(words) else ""
        if name_key(name) == name_key(self.speaker) or before in _PLACED:
            return
        if following in _FROM and place + 1 < len(words) and words[place + 1].low in _CIRCLES:
            qualified = f"{name} (from {words[place + 1].low})"
            self._named.setdefault(name_key(name), set()).add(qualified)
        is_named = before in _NAMING or (before in _IS and words[index - 2].low == "name")
        is_person = (
            is_named or following in _AUX or following in FORMS or before in {"and", "with", "met"}
        )
        if not index and not is_person:
            return  # any word is written large at the beginning
        subject = self.subject_of(name, at=words[index].start) or name
        self._mentions.append(_Mention(subject, "", words[index].start, is_person=is_person))

    def _name_the_nameless(self, words: Sequence[Word]) -> None:
        """As in "My niece … Her name is Ida": gives the name to the one who was called kin alone."""
        for index, word in enumerate(words):
            name, place = "", index
            if word.low == "name" and index + 2 < len(words) and words[index + 1].low in _IS:
                name, place = name_at(words, index + 2)
            elif word.low in _NAMING:
                name, place = name_at(words, index + 1)
            if name:
                self._baptise(words[:index], name, end=words[place - 1].end)

    def _baptise(self, before: Sequence[Word], name: str, *, end: int) -> None:
        owner = next((word for word in reversed(before) if word.low not in _IS | {"'s"}), None)
        if owner is None:
            return
        nameless = [bond for bond in self.bonds if not bond.names and bond.start < owner.end]
        if owner.low in {"her", "his", "she", "he"}:
            avoided: Gender = "m" if owner.low in {"her", "she"} else "f"
            nameless = [bond for bond in nameless if bond.kin.gender != avoided]
        else:
            nameless = [bond for bond in nameless if bond.end == owner.end]
        if len(nameless) != 1:
            return
        old = nameless[0]
        subject = _subject(old.owner, old.word, old.kin, names=(name,))
        self.bonds[self.bonds.index(old)] = replace(old, names=(name,), subject=subject, end=end)
        self._named.setdefault(name_key(name), set()).add(subject)
        self._mentions = [
            _Mention(subject, each.gender, each.start, is_person=True)
            if each.subject in {old.subject, name}
            else each
            for each in self._mentions
        ]
