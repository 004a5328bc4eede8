"""Exact terms of a query: identifiers, numbered names and names of things of a kind, which an entry has or has not.

For words and meaning, T-2713 and T-1731 are nearly the same. But an entry that has another identifier in the place of
the one in the query does not answer it, nor does *the Canon printer* for *the Epson printer*.
"""

import re
from bisect import bisect_right
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from functools import cache
from itertools import islice, product
from operator import attrgetter
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from pydantic import ConfigDict, Field

from mnestic.memory.deferred_model import DeferredModel
from mnestic.memory.language.data_texts import flat_text
from mnestic.memory.language.date_words import date_words
from mnestic.memory.language.function_words import stop_words
from mnestic.memory.language.identifiers import (
    Identifier,
    find_identifiers,
    letters_and_digits,
    windows_of,
)
from mnestic.memory.language.terms import normalised, words_of
from mnestic.memory.language.word_forms import stem
from mnestic.memory.language.word_lists import read_word_lists
from mnestic.memory.retrieval.candidates import Candidates, CandidateText

SAME, OTHER = (
    1,
    -1,
)  # of `Candidates.rows["identity"]`; 0 for an entry without an exact term of these kinds
_FILE = Path(__file__).with_name("exact_terms.yaml")
# What no exact term is without: a figure, a sign as in C#, or what joins the parts of addresses.
_MAY_HAVE = re.compile(r"[\d@#]|[.:][\w/:]|\+\+|[\[(]at[\])]", re.IGNORECASE)
_LETTERS_AND_NUMBER = re.compile(r"(?P<name>[a-z]+)(?P<number>\d+)")
_LONG = 4  # digits, from which on a number is compared even if nothing names it
_BARE = 3  # likewise where the text has nothing else to search for
_WORDS = re.compile(r"[^\W\d_]{2,}")
_PIECES = re.compile(r"[^\W\d_]+|\d+")
# What is between a name and its number, as in "PR #512", "room no. 204", "redis v7" and "room -204".
_BETWEEN = r"(?:[ \u00a0](?:(?:number|no\.?|nr\.?) )?(?:[#\u2116] ?|-|v(?=\d))?|[#\u2116] ?)"
_NUMBER = r"\d+(?:\.\d+)*(?:-?(?:rc|alpha|beta)\.?\d*)?"
_SIGNED = re.compile(r"(?<![\w&/.@#+-])(?P<name>[A-Za-z]{1,2})(?P<sign>\+\+|#)(?![\w+#])")
_SHORTEST = 3  # letters of a short name
# Of a longer text its beginning is read, and so many windows that may have a term of the query, with what is around them.
_READ_CHARS, _WINDOW, _AROUND, _MOST_WINDOWS = 20_000, 2_000, 200, 40
_LONG_CORE = 5  # figures, which may be written in groups
_ALIKE = 0.8  # share of letters from which one name may be another, misspelt
# Not at the beginning of a sentence, where any word has a capital.
_NAME_OF_KIND = re.compile(r"(?<=[\w,:] )(?P<name>(?:[A-Z][\w-]+ ){1,3})(?P<noun>[a-z][a-z-]{2,})")
_WITH_NUMBERS = frozenset({"number", "version"})  # kinds of identifiers that a name may precede


class _Words(DeferredModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    no_names: list[str]
    titles: list[str] = Field(default_factory=list)
    short_names: dict[str, str] = Field(default_factory=dict)


class Numbered(NamedTuple):
    """A number, or a sign as in C#, with the folded name before it; a number by itself has the empty name."""

    name: str
    number: str

    def is_same(self, other: "Numbered") -> bool:
        """Whether another has the number: *redis 7* is also in *redis 7.2.4*, but *redis 7.0* is not."""
        is_it = other.number == self.number or other.number.startswith(f"{self.number}.")
        return is_it and self.name in ("", other.name)

    def is_other(self, other: "Numbered") -> bool:
        """Whether another has a different number in the place of this one."""
        looks_alike = not self.name and len(other.number) == len(self.number)
        return other.name == self.name or looks_alike


class NamedKind(NamedTuple):
    """A noun in small letters with the words of the name before it, folded: *Epson* of *the Epson printer*; or a title before it."""

    name: tuple[str, ...]
    noun: str

    @property
    def keys(self) -> frozenset[str]:
        """The name and each of its words."""
        return frozenset({*self.name, " ".join(self.name)})

    def is_other(self, other: "NamedKind") -> bool:
        """Whether another is of the same kind, with a name that is not this one, however it is spelt or shortened."""
        return self.noun == other.noun and not any(
            _may_be_same(one, each)
            for one, each in product(_forms_of(self.name), _forms_of(other.name))
        )


@dataclass(frozen=True, slots=True)
class ExactTerms:
    """The identifiers in a text, its numbered names, and its names of things of a kind."""

    identifiers: tuple[Identifier, ...] = ()
    numbered: tuple[Numbered, ...] = ()
    kinds: tuple[NamedKind, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.identifiers or self.numbered or self.kinds)

    def without_known(self, names: Collection[str]) -> "ExactTerms":
        """Without the names of whom the memory knows, who may be called otherwise elsewhere."""
        kinds = (one for one in self.kinds if one.keys.isdisjoint(names))
        return replace(self, kinds=tuple(kinds))

    def has_other_kind(self, text: str) -> bool:
        """Whether a text names only others of the kinds."""
        words = set(words_of(text))
        if any(not words.isdisjoint(one.name) for one in self.kinds):
            return False
        found = find_kinds(text)
        return any(one.is_other(each) for one in self.kinds for each in found)

    def identity(self, other: "ExactTerms") -> int:
        """`SAME` if the other text has one of these, `OTHER` if it has only others of their kinds, else 0."""
        if any(one.is_same(each) for one in self.identifiers for each in other.identifiers):
            return SAME
        pairs = [*product(self.numbered, other.numbered)]
        if any(one.is_same(each) for one, each in pairs):
            return SAME
        kinds = {one.kind for one in self.identifiers}
        has_others = any(one.kind in kinds for one in other.identifiers)
        return OTHER if has_others or any(one.is_other(each) for one, each in pairs) else 0

    def may_have_kin(self, text: str) -> bool:
        """Whether a text may have one of these or another of their kinds, which is quickly seen."""
        folded = normalised(text)
        names = {name for name, _ in self.numbered}
        return bool(self.identifiers) or any(
            _MAY_HAVE.search(folded) if name in ("", *_short_names().values()) else name in folded
            for name in names
        )


def find_exact_terms(text: str) -> ExactTerms:
    """The exact terms of a text."""
    if _MAY_HAVE.search(text) is None:
        return ExactTerms()
    identifiers = find_identifiers(text)
    signed = (Numbered(one["name"].casefold(), one["sign"]) for one in _SIGNED.finditer(text))
    return ExactTerms(identifiers, (*_codes(identifiers), *_numbered(text, identifiers), *signed))


def find_kinds(text: str) -> tuple[NamedKind, ...]:
    """The names before a noun inside a sentence, as in *the Epson printer*, and those behind a title, as in *Aunt Hilde*."""
    of_nouns = (_kind(one["name"], one["noun"]) for one in _NAME_OF_KIND.finditer(text))
    of_titles = (_kind(one["name"], one["title"]) for one in _title_pattern().finditer(text))
    found = (*of_nouns, *of_titles)
    return tuple(one for one in found if one.name and one.noun not in stop_words())


def _kind(name: str, noun: str) -> NamedKind:
    words = tuple(word for word in words_of(name) if word not in stop_words())
    without_titles = tuple(word for word in words if word not in _titles())
    return NamedKind(without_titles or words, stem(noun.casefold()))


def _may_be_same(one: str, other: str) -> bool:
    """Whether a name may be another, misspelt or for short: *Chevy* of *Chevrolet*, *Xmas* of *Christmas*."""
    least = max(_SHORTEST, min(len(one), len(other)) - 1)
    ends = (one[:least] == other[:least], one[-least:] == other[-least:])
    return any(ends) or SequenceMatcher(None, one, other).ratio() >= _ALIKE


def _forms_of(name: Sequence[str]) -> Iterator[str]:
    """The words of a name, its words in one, and their first letters."""
    yield from (*name, "".join(name))
    if len(name) > 1:
        yield "".join(word[0] for word in name)


def set_identity(candidates: Candidates, terms: ExactTerms) -> None:
    """Sets `identity` of candidates: whether each has an exact term of the query, or only another of its kind.

    A number in the name of whoever says it counts as well: *user_77* is not *user_78*.
    """
    if terms:
        may_have = _finder(terms)
        candidates.rows["identity"] = [
            _identity(text, terms, may_have=may_have) for text in candidates.texts
        ]


def _identity(text: CandidateText, terms: ExactTerms, *, may_have: Callable[[str], bool]) -> int:
    speaker, identity = find_exact_terms(text.speaker), 0
    for part in _parts(flat_text(text.content), may_have):
        found = find_exact_terms(part) if terms.may_have_kin(part) else ExactTerms()
        of_part = terms.identity(replace(found, numbered=(*found.numbered, *speaker.numbered)))
        if of_part == SAME:
            return SAME
        identity = identity or of_part
    return identity or (OTHER if terms.kinds and _has_other_kind(text.content, terms) else 0)


def _has_other_kind(text: str, terms: ExactTerms) -> bool:
    """Whether a text names only others of the kinds, as far as it is read."""
    names = {word for one in terms.kinds for word in one.name}

    def has_name(part: str) -> bool:
        folded = normalised(part)
        return any(name in folded for name in names) and not names.isdisjoint(words_of(part))

    beginning, *others = _parts(text, has_name)
    return not others and terms.has_other_kind(beginning)


def _parts(text: str, may_have: Callable[[str], bool]) -> Iterator[str]:
    """A text; of a long one its beginning, and behind it the first windows that may have what is looked for."""
    if len(text) <= _READ_CHARS:
        yield text
        return
    (_, begin), *_ = windows_of(text, _READ_CHARS)
    yield text[:begin]
    windows = (
        _with_words_around(text, begin + first, begin + last)
        for first, last in windows_of(text[begin:], _WINDOW)
    )
    yield from islice(filter(may_have, windows), _MOST_WINDOWS)


def _with_words_around(text: str, begin: int, end: int) -> str:
    """A window of a text with the whole words before and behind it, which a term may begin or end with."""
    words_before = text[max(0, begin - _AROUND) : begin].partition(" ")[2]
    words_behind = text[end : end + _AROUND].rpartition(" ")[0]
    return f"{words_before}{text[begin:end]}{words_behind}"


def _finder(terms: ExactTerms) -> Callable[[str], bool]:
    """A quick test of whether a part of a text may have one of the terms."""
    cores = {one.core for one in terms.identifiers}
    whole = [rf"(?<!\d){re.escape(core)}(?!\d)" for core in cores if core.isdigit()]
    for name, number in terms.numbered:
        long_names = (long for long, short in _short_names().items() if short == name)
        names = "|".join(re.escape(normalised(one)) for one in (name, *long_names) if one)
        before = rf"(?<![^\W_])(?:{names})\D{{0,30}}" if names else r"(?<!\d)"
        whole.append(rf"{before}{re.escape(number)}(?!\d)")
    pattern = re.compile("|".join(whole)) if whole else None
    written = {core for core in cores if not core.isdigit() or len(core) >= _LONG_CORE}

    def may_have(part: str) -> bool:
        if pattern is not None and pattern.search(normalised(part)):
            return True
        plain = letters_and_digits(part) if written else ""
        return any(core in plain for core in written)

    return may_have


def spellings(identifier: str) -> frozenset[str]:
    """How an identifier may be written elsewhere: as it is, apart at each mark, and without any mark."""
    pieces = _PIECES.findall(identifier)
    return frozenset({identifier, " ".join(pieces), "".join(pieces)})


def _codes(identifiers: Iterable[Identifier]) -> Iterator[Numbered]:
    """Codes of letters and one number, which may be written apart in small letters: "jira 4899"."""
    for one in identifiers:
        if one.kind == "code" and (match := _LETTERS_AND_NUMBER.fullmatch(one.core)):
            yield Numbered(match["name"], match["number"])


def _numbered(text: str, identifiers: Sequence[Identifier]) -> Iterator[Numbered]:
    taken = [one for one in identifiers if one.kind not in _WITH_NUMBERS]  # none overlaps another
    least = _BARE if _has_no_words(text) else _LONG
    for match in _pattern().finditer(text):
        name, (start, end) = (match["name"] or "").casefold(), match.span("number")
        at = bisect_right(taken, start, key=attrgetter("end"))
        if at < len(taken) and taken[at].start < end:
            continue
        number = match["number"].lower()
        if name and not (
            name in stop_words() or name in date_words().months or name in _no_names()
        ):
            yield Numbered(_short_names().get(name, name), number)
        if end - start >= least:
            yield Numbered("", number)


def _has_no_words(text: str) -> bool:
    """Whether a text has nothing but numbers and words without meaning."""
    return all(word[0].casefold() in stop_words() for word in _WORDS.finditer(text))


@cache
def _pattern() -> re.Pattern[str]:
    """A name with a number behind it, such as "Postgres 16" or "Python 3.12"; no amount, time or part of a date."""
    named = "|".join(map(re.escape, _short_names()))
    return re.compile(
        rf"(?<![\w@./'\u2019-])(?:(?P<name>(?i:{named})|[^\W\d_][\w+]*(?:[.-][^\W_]+)*){_BETWEEN})?"
        rf"(?P<number>{_NUMBER})(?![\w%]|[.,:/-]\d|(?i:\s?[ap]m\b))"
    )


@cache
def _titles() -> frozenset[str]:
    return frozenset(
        title for words in read_word_lists(_FILE, _Words).values() for title in words.titles
    )


@cache
def _title_pattern() -> re.Pattern[str]:
    """A title with a name behind it."""
    titles = "|".join(sorted(_titles()))
    return re.compile(rf"\b(?P<title>(?i:{titles})) (?P<name>[A-Z][\w-]+)")


@cache
def _no_names() -> frozenset[str]:
    return frozenset(
        word for words in read_word_lists(_FILE, _Words).values() for word in words.no_names
    )


@cache
def _short_names() -> Mapping[str, str]:
    """Names of several words, each with what it is called for short."""
    return MappingProxyType(
        {
            name: short
            for words in read_word_lists(_FILE, _Words).values()
            for name, short in words.short_names.items()
        }
    )
