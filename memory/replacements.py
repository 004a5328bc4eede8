"""Replacements: whether a later text tells what an earlier one does, of the same thing, and is another by now.

*The bin goes out on Thursdays* is replaced by *The bin goes out on Fridays now*, but not by *The green bin goes out on
Fridays now*. It stands apart from revisions, which only come first: what is replaced is told no more, so one time,
number or name has to be in the place of another, and all else the same. It is English alone.
"""

import math
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Literal, NamedTuple

from mnestic.memory.date_words import MONTHS, WEEKDAYS
from mnestic.memory.numbers import CARDINAL, CARDINALS, ORDINAL
from mnestic.memory.revisions import FROM_ON, OF_CHANGE, is_revision
from mnestic.memory.sentences import split_sentences
from mnestic.memory.terms import terms_of

_BEGINNING = 1000  # characters that are looked at
_SHORTEST_STEM, _STEM = (
    5,
    0.7,
)  # characters, and share of the shorter word, that two forms have in common
_MOST_LEFT = (
    1  # words of the earlier text that the later one may leave out, as "home" of a home match
)

_MONTH = "|".join(sorted(MONTHS, key=len, reverse=True))
_DATE = rf"(?:{ORDINAL} (?:of )?|\d{{1,2}} )?(?:{_MONTH})\b(?: (?:\d{{1,2}}\b(?!:)|{ORDINAL}))?(?:,? \d{{4}}\b)?|{'|'.join(WEEKDAYS)}"

Kind = Literal["word", "time", "number", "name"]

_CLAUSES = re.compile(r"[,;:\u2013\u2014()]+(?!\d)|\s-\s|\b(?:because|but)\b")
# When it began to be so is no value.
_ONSET = re.compile(
    rf"\b(?:{FROM_ON}|(?:as of|as from|starting|effective)(?: in| from| on)? (?:{_DATE})"
    r"|today|yesterday|this (?:week|month|year|morning)|recently|finally|again)\b",
    re.IGNORECASE,
)
_TAKER = re.compile(
    r"^(?:(?:and|so)\s+)?(?P<name>[A-Z][\w'-]+)(?= (?:took|takes|has taken|will take) over\b)"
)
_TOKEN = re.compile(r"[^\W_](?:[^\s,;!?()\"\u201c\u201d]*[^\W_])?")
_UNIT = re.compile(r"(?<=\d )[a-z%]+(?: (?:an?|per|each) [a-z]+)?")
_TIME = re.compile(
    rf"\b(?:{_DATE}|(?:{'|'.join(WEEKDAYS)})s?|noon|midnight|\d{{1,2}}[:.]\d\d(?: ?[ap]m)?|\d{{1,2}} ?[ap]m"
    rf"|(?<=at )(?:(?:half past|quarter (?:past|to)) )?{CARDINAL})\b",
    re.IGNORECASE,
)
_JOINT = re.compile(r"\s*(?:(?:and|of|an?|the|per|&)\s+)*")
_OWN = re.compile(r"\b(?:I|me|my|mine|I'm)\b", re.IGNORECASE)


class _Word(NamedTuple):
    """What kind of word one is, and in which row of words with nothing but articles and *and* between them."""

    kind: Kind
    row: int


_Terms = Mapping[str, _Word]  # of a clause, in their order


def replaces(new: str, old: str, *, by_same: bool) -> bool:
    """Whether a later text, which says that something changed, tells something else in the place of an earlier one.

    Args:
        new: The later text.
        old: The earlier one.
        by_same: Whether the same person said both, so that *my* is the same one's.
    """
    before = _terms_of(old)
    added = [found for change in _changes(new) if (found := _added(change, before))]
    if not added or (not by_same and (_OWN.search(new) or _OWN.search(old))):
        return False
    return any(
        _is_in_place(change, kind, said, whole=_terms_of(new))
        for change, kind in added
        for said in _clauses(old)
    )


def _added(change: _Terms, before: frozenset[str]) -> tuple[_Terms, Kind] | None:
    """A clause that has one value, and no other word, more than what was said before; and what kind of value."""
    added = []
    for term, word in change.items():
        if not _is_among(term, before):
            if word.kind == "word":
                return None
            added.append(word)
    kinds = {word.kind for word in added}
    if len(kinds) != 1 or ("time" not in kinds and len({word.row for word in added}) > 1):
        return None
    return change, kinds.pop()


def _is_in_place(change: _Terms, kind: Kind, said: _Terms, *, whole: frozenset[str]) -> bool:
    """Whether a clause says the same with another value of a kind, and has no other value that is gone."""
    if kind not in {word.kind for word in said.values()}:
        return False
    gone = [word.kind for term, word in said.items() if not _is_among(term, whole)]
    common = [
        term for term, word in said.items() if word.kind == "word" and _is_among(term, change)
    ]
    return bool(common) and gone.count("word") <= _MOST_LEFT and {*gone} <= {kind, "word"}


@lru_cache(5_000)
def _changes(text: str) -> tuple[_Terms, ...]:
    """The clauses of a text that say that something has changed."""
    changes = (part for part in _parts(text) if is_revision(part) or _ONSET.search(part))
    return tuple(terms for terms in map(_terms_in, changes) if terms)


@lru_cache(5_000)
def _clauses(text: str) -> tuple[_Terms, ...]:
    return tuple(terms for terms in map(_terms_in, _parts(text)) if terms)


def _parts(text: str) -> Iterator[str]:
    for sentence in split_sentences(text[:_BEGINNING]):
        yield from filter(None, map(str.strip, _CLAUSES.split(sentence)))


def _terms_in(part: str) -> _Terms:
    taker = _TAKER.match(part)
    plain = _ONSET.sub(" ", part)
    spans: dict[Kind, list[tuple[int, int]]] = {
        "time": [match.span() for match in _TIME.finditer(plain)],
        "number": [match.span() for match in _UNIT.finditer(plain)],
    }
    terms: dict[str, _Word] = {}
    row, end = 0, 0
    for match in _TOKEN.finditer(plain):
        token = match.group().removesuffix("'s").removesuffix("\u2019s")
        row += _JOINT.fullmatch(plain, end, match.start()) is None
        told = [term for term in terms_of(token) if term not in OF_CHANGE]
        if told:
            is_name = end > 0 or (taker is not None and token == taker["name"])
            within = (kind for kind, those in spans.items() if _is_within(match.start(), those))
            kind = next(within, None) or _kind(token, is_name=is_name)
            for term in told:
                terms.setdefault(term, _Word(kind, row))
        if told or end == 0:
            end = match.end()
    return terms


def _is_within(place: int, spans: Iterable[tuple[int, int]]) -> bool:
    return any(start <= place < end for start, end in spans)


def _kind(token: str, *, is_name: bool) -> Kind:
    if any(char.isdigit() for char in token) or token.casefold() in CARDINALS:
        return "number"
    return "name" if token[0].isupper() and is_name else "word"


@lru_cache(5_000)
def _terms_of(text: str) -> frozenset[str]:
    return frozenset(terms_of(text[:_BEGINNING]))


def _is_among(term: str, terms: Collection[str]) -> bool:
    """Whether a term, or another form of the word, is among others."""
    return term in terms or any(_is_form(term, other) for other in terms)


def _is_form(one: str, other: str) -> bool:
    if one == other:
        return True
    common = max(_SHORTEST_STEM, math.ceil(_STEM * min(len(one), len(other))))
    return one.isalpha() and len(one) >= common and one[:common] == other[:common]
