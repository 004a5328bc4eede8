"""Exact terms of a query: identifiers and numbered names, which an entry has or has not.

They stand apart from words and meaning, for which T-2713 and T-1731 are nearly the same: an entry that has another
identifier in the place of the one in the query does not answer it.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from pydantic import ConfigDict

from mnestic.memory.deferred_model import DeferredModel
from mnestic.memory.language.data_texts import flat_text
from mnestic.memory.language.date_words import date_words
from mnestic.memory.language.function_words import stop_words
from mnestic.memory.language.identifiers import Identifier, find_identifiers
from mnestic.memory.language.terms import normalised
from mnestic.memory.language.word_lists import read_word_lists
from mnestic.memory.retrieval.candidates import Candidates

SAME, OTHER = (
    1,
    -1,
)  # of `Candidates.rows["identity"]`; 0 for an entry without an exact term of these kinds
_FILE = Path(__file__).with_name("exact_terms.yaml")
# What no exact term is without: a figure, a sign as in C#, or what joins the parts of addresses.
_MAY_HAVE = re.compile(r"[\d@#]|[.:][\w/:]|\+\+|[\[(]at[\])]", re.IGNORECASE)
_LETTERS_AND_NUMBER = re.compile(r"(?P<name>[a-z]+)(?P<number>\d+)")
_LONG = 4  # digits, from which on a number is compared even if nothing names it
_LONG_NUMBER = re.compile(rf"[\d.]{{{_LONG}}}")
_PIECES = re.compile(r"[^\W\d_]+|\d+")
# A name with a number behind it, such as "Postgres 16" or "Python 3.12"; no amount, time or part of a date.
_NUMBERED = re.compile(
    r"(?<![\w@./-])(?:(?P<name>[^\W\d_][\w+#]*(?:[.-][^\W_]+)*)[ \u00a0])?(?P<number>\d+(?:\.\d+)*)(?![\w%]|[.,:/-]\d|(?i:\s?[ap]m\b))"
)

_SIGNED = re.compile(r"(?<![\w&/.@#+-])(?P<name>[A-Za-z]{1,2})(?P<sign>\+\+|#)(?![\w+#])")


class _Words(DeferredModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    no_names: list[str]


@dataclass(frozen=True, slots=True)
class ExactTerms:
    """The identifiers in a text, and its numbered names, each as the folded name and its number, or its sign as in C#.

    A long number by itself has the empty name.
    """

    identifiers: tuple[Identifier, ...] = ()
    numbered: tuple[tuple[str, str], ...] = ()

    def __bool__(self) -> bool:
        return bool(self.identifiers or self.numbered)

    def identity(self, other: "ExactTerms") -> int:
        """`SAME` if the other text has one of these, `OTHER` if it has only others of their kinds, else 0."""
        if any(one.is_same(each) for one in self.identifiers for each in other.identifiers):
            return SAME
        if not set(self.numbered).isdisjoint(other.numbered):
            return SAME
        kinds = {one.kind for one in self.identifiers}
        names = {name for name, _ in self.numbered}
        has_others = any(one.kind in kinds for one in other.identifiers)
        return OTHER if has_others or any(name in names for name, _ in other.numbered) else 0

    def may_have_kin(self, text: str) -> bool:
        """Whether a text may have one of these or another of their kinds, which is quickly seen."""
        folded = normalised(text)
        return bool(self.identifiers) or any(
            name in folded if name else _LONG_NUMBER.search(folded) for name, _ in self.numbered
        )


def find_exact_terms(text: str) -> ExactTerms:
    """The exact terms of a text."""
    if _MAY_HAVE.search(text) is None:
        return ExactTerms()
    signed = tuple((match["name"].casefold(), match["sign"]) for match in _SIGNED.finditer(text))
    identifiers = find_identifiers(text)
    return ExactTerms(identifiers, (*_codes(identifiers), *_numbered(text, identifiers), *signed))


def set_identity(candidates: Candidates, terms: ExactTerms) -> None:
    """Sets `identity` of candidates: whether each has an exact term of the query, or only another of its kind."""
    if not terms:
        return
    contents = (flat_text(text.content) for text in candidates.texts)
    candidates.rows["identity"] = [
        terms.identity(find_exact_terms(content)) if terms.may_have_kin(content) else 0
        for content in contents
    ]


def spellings(identifier: str) -> frozenset[str]:
    """How an identifier may be written elsewhere: as it is, apart at each mark, and without any mark."""
    pieces = _PIECES.findall(identifier)
    return frozenset({identifier, " ".join(pieces), "".join(pieces)})


def _codes(identifiers: Iterable[Identifier]) -> Iterator[tuple[str, str]]:
    """Codes of letters and one number, which may be written apart in small letters: "jira 4899"."""
    for one in identifiers:
        if one.kind == "code" and (match := _LETTERS_AND_NUMBER.fullmatch(one.core)):
            yield match["name"], match["number"]


def _numbered(text: str, identifiers: Sequence[Identifier]) -> Iterator[tuple[str, str]]:
    for match in _NUMBERED.finditer(text):
        name, (start, end) = (match["name"] or "").casefold(), match.span("number")
        if any(one.start < end and start < one.end for one in identifiers):
            continue
        if name and not (
            name in stop_words() or name in date_words().months or name in _no_names()
        ):
            yield name, match["number"]
        if end - start >= _LONG:
            yield "", match["number"]


@cache
def _no_names() -> frozenset[str]:
    return frozenset(
        word for words in read_word_lists(_FILE, _Words).values() for word in words.no_names
    )
