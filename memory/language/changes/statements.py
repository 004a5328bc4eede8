"""Statements: a text by its clauses, with the words of each and what kind of value they are.

They stand apart from comparisons, which compare them, because they look at one text alone. They are English alone.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from functools import cached_property
from itertools import pairwise
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
_FIGURES = re.compile(r"\d+")
_NEW_NAME = re.compile(r"New [A-Z]")  # as New York
Kind = Literal["word", "time", "number", "name"]
VALUES: frozenset[Kind] = frozenset({"number", "time", "name"})
"""The kinds of words that name a value."""


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
    of what it says there may be several, as of languages that somebody speaks; `denies`: it says what is not so;
    `is_label`: a colon follows, and then what it says.
    """

    terms: Mapping[str, Word]
    sentence: int
    times: tuple[int, ...]
    has_taker: bool
    has_many: bool
    denies: bool
    is_label: bool
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
        clauses = (
            _clause(part, sentence, is_first=not place, is_label=is_label)
            for sentence, one in enumerate(self.sentences)
            for place, (part, is_label) in enumerate(_parts(one))
        )
        return tuple(clause for clause in clauses if clause.terms)

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


def labelled_forms(words: Iterable[tuple[str, Word]], labels: AbstractSet[str]) -> frozenset[str]:
    """The forms of the numbers behind one of the labels that are no plain ones, such as that of *4.2.1* in *version 4.2.1*."""
    numbers = (
        number_form(second.text)
        for (label, first), (value, second) in pairwise(words)
        if label in labels and value not in labels and first.phrase == second.phrase
    )
    return frozenset(form for form in numbers if "0" in form) - {"0"}


def number_form(text: str) -> str:
    """What a number has in common with others like it: where its figures stand, and what is between them."""
    return _FIGURES.sub("0", text)


def values_in(
    clauses: Iterable[Clause],
    terms: AbstractSet[str],
    *,
    without: AbstractSet[str],
    names: bool = False,
) -> list[set[str]]:
    """What of some terms names a value: each name by its words, numbers and times, or else the last word of each phrase.

    Args:
        clauses: The clauses.
        terms: The terms that count.
        without: Words that say nothing by themselves, unless they are names.
        names: Whether names count alone, if there are some.
    """
    found: dict[tuple[int, int], list[tuple[Word, set[str]]]] = {}
    for place, clause in enumerate(clauses):
        for term, word in clause.terms.items():
            if term not in terms or (word.kind == "word" and term in without):
                continue
            of_phrase = found.setdefault((place, word.phrase), [])
            last = of_phrase[-1][0] if of_phrase else word
            if last.kind == word.kind == "name" and f"{last.text} {word.text}" in clause.text:
                of_phrase[-1] = (word, of_phrase[-1][1] | {term})
            else:
                of_phrase.append((word, {term}))
    values = [one for of_phrase in found.values() for one in of_phrase if one[0].kind in VALUES]
    named = [parts for word, parts in values if word.kind == "name"]
    if names and named:
        return named
    return [parts for _, parts in values] or [of_phrase[-1][1] for of_phrase in found.values()]


def is_compound(clause: Clause, last: Word) -> bool:
    """Whether a noun follows another: *the birthday cake*, but not *the gym closes*, *room Elm* or *I drink tea*."""
    if (
        last.kind != "word"
        or last.text.endswith(("s", "ed", "ly"))
        or change_words().past.fullmatch(last.text)
    ):
        return False
    return re.search(rf"{_DETERMINER} \S+ {re.escape(last.text)}\b", clause.text) is not None


def _parts(sentence: str) -> list[tuple[str, bool]]:
    """The clauses of a sentence as texts, and whether a colon follows."""
    marks = [*CLAUSES.finditer(sentence)]
    starts = [0, *(mark.end() for mark in marks)]
    ends = [*(mark.start() for mark in marks), len(sentence)]
    are_labels = [*(mark[0].startswith(":") for mark in marks), False]
    parts = (sentence[start:end].strip() for start, end in zip(starts, ends, strict=True))
    return [(part, is_label) for part, is_label in zip(parts, are_labels, strict=True) if part]


def _clause(part: str, sentence: int, *, is_first: bool = True, is_label: bool = False) -> Clause:
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
    return Clause(terms, sentence, times, taker is not None, has_many, denies, is_label, part)


def _kind(token: str, *, is_name: bool) -> Kind:
    if any(char.isdigit() for char in token) or token.casefold() in number_words().cardinals:
        return "number"
    return "name" if token[0].isupper() and is_name else "word"
