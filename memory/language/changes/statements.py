"""Statements: a text by its clauses, with the words of each and what kind of value they are.

They stand apart from revisions, which compare them, because they look at one text alone. They are English alone.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from functools import cached_property
from itertools import chain, pairwise, repeat
from typing import Literal, NamedTuple

from mnestic.memory.language.changes.change_words import (
    CLAUSES,
    JOINT,
    NEGATED,
    OWN,
    PREPOSITION,
    TAKER,
    TOKEN,
    change_words,
    stem,
)
from mnestic.memory.language.numbers import number_words
from mnestic.memory.language.sentences import split_sentences
from mnestic.memory.language.terms import terms_of

_BEGINNING = 1000  # characters that are looked at

_DETERMINER = r"\b(?i:the|an?|my|our|your|his|her|its|their)"
_OF = re.compile(r"\bof\b")
_GOES_ON = re.compile(
    r"\s*(?:(?:of|per)\s+(?:(?:an?|the)\s+)?)?"
)  # to another word of the same phrase
_NEW_NAME = re.compile(r"New [A-Z]")  # as New York
Kind = Literal["word", "time", "number", "name"]


class Word(NamedTuple):
    """What kind of word one is, in which row of words with nothing but articles and *and* between them, and after what.

    Its `phrase` ends where an article begins the next, as in *sold | the old caravan*. `is_of`: it follows *of*.
    """

    kind: Kind
    row: int
    phrase: int
    is_of: bool
    preposition: str
    text: str


class Clause(NamedTuple):
    """A clause by its terms, in their order, and its sentence by number.

    `times` is how many weekdays, months and times of day it names. `has_taker`: somebody takes over in it; `has_many`:
    of what it says there may be several, as of languages that somebody speaks; `denies`: it says what is not so.
    """

    terms: Mapping[str, Word]
    sentence: int
    times: tuple[int, ...]
    has_taker: bool
    has_many: bool
    denies: bool
    text: str

    def from_rows_of(self, terms: AbstractSet[str]) -> frozenset[str]:
        """The words from the first row on that has some of these, and those that begin the clause as a name does.

        *I share the car with my neighbour Gert*: from *neighbour* on, these are *neighbour* and *Gert*.
        """
        having = [word.row for term, word in self.terms.items() if term in terms]
        if not having:
            return frozenset()
        first = next(iter(self.terms.values()))
        begins = -1 if self.text.find(first.text) else first.phrase  # not *I*, *we* or *the band*
        return frozenset(
            term
            for term, word in self.terms.items()
            if word.row >= min(having) or word.phrase == begins
        )


class Statements:
    """A text by its clauses; each part is worked out when it is first needed."""

    def __init__(self, text: str) -> None:
        self._text = text[:_BEGINNING]

    @cached_property
    def sentences(self) -> tuple[str, ...]:
        """All sentences."""
        return split_sentences(self._text)

    @cached_property
    def clauses(self) -> tuple[Clause, ...]:
        """All clauses."""
        parts = (
            (place, part, is_first)
            for place, one in enumerate(self.sentences)
            for is_first, part in zip(chain([True], repeat(False)), _parts(one), strict=False)
        )
        return tuple(
            clause
            for place, part, is_first in parts
            if (clause := _clause(part, place, is_first=is_first)).terms
        )

    @cached_property
    def is_first_person(self) -> bool:
        """Whether it speaks of whoever says it."""
        return OWN.search(self._text) is not None


def begins_later(text: str) -> bool:
    """Whether a text says from when on something is so, as in *from June on*."""
    return change_words().begins.search(text[:_BEGINNING]) is not None


def words_in(clauses: Iterable[Clause]) -> Iterator[tuple[str, Word]]:
    """The words of clauses, each with its stem."""
    return (word for clause in clauses for word in clause.terms.items())


def amounts_of(words: Iterable[tuple[str, Word]]) -> Iterator[tuple[str, str]]:
    """The amounts, each with its unit: a number and the word behind it."""
    return (
        (amount, unit)
        for (amount, first), (unit, second) in pairwise(words)
        if first.kind == "number" and second.kind == "word" and first.phrase == second.phrase
    )


def is_compound(clause: Clause, last: Word) -> bool:
    """Whether a noun follows another: *the birthday cake*, but not *the gym closes*, *room Elm* or *I drink tea*."""
    if (
        last.kind != "word"
        or last.text.endswith(("s", "ed", "ly"))
        or change_words().past.fullmatch(last.text)
    ):
        return False
    return re.search(rf"{_DETERMINER} \S+ {re.escape(last.text)}\b", clause.text) is not None


def _parts(sentence: str) -> Iterator[str]:
    return filter(None, map(str.strip, CLAUSES.split(sentence)))


def _clause(part: str, sentence: int, *, is_first: bool = True) -> Clause:
    taker = TAKER.match(part)
    words = change_words()
    plain = words.onset.sub(" ", part)
    spans = [match.span() for match in words.time.finditer(plain)]
    terms: dict[str, Word] = {}
    row, phrase, end, preposition = 0, 0, 0, ""
    for match in TOKEN.finditer(plain):
        token = match.group().removesuffix("'s").removesuffix("\u2019s")
        is_next = plain[end : match.start()] in ("", " ")
        if not is_next and JOINT.fullmatch(plain, end, match.start()) is None:
            row += 1
            before = PREPOSITION.search(plain, end, match.start())
            preposition = before[1].casefold() if before else ""
        if not is_next and not _GOES_ON.fullmatch(plain, end, match.start()):
            phrase += 1
        is_of = _OF.search(plain, end, match.start()) is not None
        is_part = _NEW_NAME.match(plain, match.start()) is not None
        stems = [stem(term) for term in terms_of(token) if is_part or term not in words.all]
        if stems:
            is_time = any(first <= match.start() < last for first, last in spans)
            is_name = end > 0 or not is_first or (taker is not None and token == taker["name"])
            kind = "time" if is_time else _kind(token, is_name=is_name)
            for one in stems:
                terms.setdefault(one, Word(kind, row, phrase, is_of, preposition, token))
        if not stems and end == 0 and PREPOSITION.match(f"{token} "):
            preposition = token.casefold()
        if stems or end == 0:
            end = match.end()
    times = tuple(len(each.findall(plain)) for each in words.kinds_of_time)
    has_many, denies = (each.search(part) is not None for each in (words.several, NEGATED))
    return Clause(terms, sentence, times, taker is not None, has_many, denies, part)


def _kind(token: str, *, is_name: bool) -> Kind:
    if any(char.isdigit() for char in token) or token.casefold() in number_words().cardinals:
        return "number"
    return "name" if token[0].isupper() and is_name else "word"
