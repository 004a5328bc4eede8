"""Suggestions: what misspelt words may be meant as, among the terms that `suggest_terms.sql` finds.

Words are compared letter by letter here, which Postgres does not do by an index.
"""

import sys
from collections.abc import Collection, Mapping, Sequence
from itertools import pairwise
from typing import Any

from rapidfuzz import process
from rapidfuzz.distance import OSA

from mnestic.memory.knowledge.claims import name_key
from mnestic.memory.language.misspellings import max_misspellings, may_be_other_name
from mnestic.memory.retrieval.search import Suggestions

_SHORTEST = 4  # characters; nothing shorter is taken for misspelt
_MOST = 20  # words of a question that are taken for misspelt
# Words that begin with one of these letters stand between it and the next, in nearly all collations.
_NEXT = dict(pairwise("abcdefghijklmnopqrstuvwxyz"))
# Vowels that are written before the consonant that they follow, and with which collations put words in the place of
# that one (Unicode's Logical_Order_Exception: Thai, Lao, New Tai Lue, Tai Viet).
_BEFORE = frozenset(
    "\u0e40\u0e41\u0e42\u0e43\u0e44\u0ec0\u0ec1\u0ec2\u0ec3\u0ec4\u19b5\u19b6\u19b7\u19ba\uaab5\uaab6\uaab9\uaabb\uaabc"
)
_SURROGATES = 0xD800  # the first of the numbers up to 0xE000, which are no characters


def nearest_terms(names: Collection[str], lexemes: Collection[str]) -> dict[str, Any] | None:
    """The parameters of `suggest_terms.sql`; None where no word is long enough."""
    keys = sorted(_keys(names).values())
    long = sorted(one for one in lexemes if len(one) >= _SHORTEST)[:_MOST]
    if not keys and not long:
        return None
    return {
        "names": keys,
        "name_first": [_first(key[0]) for key in keys],
        "name_next": [_after(key[0]) for key in keys],
        "name_is_english": [key[0] in _NEXT for key in keys],
        "name_longest": [len(key) + max_misspellings(key) for key in keys],
        "lexemes": long,
        "lexeme_first": [_first(one[0]) for one in long],
        "lexeme_next": [_after(one[0]) for one in long],
        "lexeme_is_english": [one[0] in _NEXT for one in long],
        "lexeme_slips": [max_misspellings(one) for one in long],
    }


def suggested(rows: Sequence[Any], names: Collection[str]) -> Suggestions:
    """What words are meant as: names that are a slip or two away; lexemes that begin with them, or likewise."""
    found: dict[str, dict[str, Mapping[str, int]]] = {"name": {}, "lexeme": {}}
    for row in rows:
        terms = row.terms or ()
        found[row.kind][row.word] = dict(zip(terms, row.entries or [1] * len(terms), strict=True))
    near = {word: _nearest(key, found["name"].get(key, {})) for word, key in _keys(names).items()}
    return Suggestions(
        names={word: name for word, name in near.items() if name is not None},
        lexemes={one: _meant(one, entries) for one, entries in found["lexeme"].items()},
    )


def _keys(names: Collection[str]) -> dict[str, str]:
    long = {word: name_key(word) for word in names if len(word) >= _SHORTEST}
    return dict([*long.items()][:_MOST])


def _meant(lexeme: str, entries: Mapping[str, int]) -> Mapping[str, int]:
    """Those that it begins, or else the one that is a slip or two away and in most entries."""
    if next(iter(entries), "").startswith(lexeme):  # then all do
        return entries
    best = _nearest(lexeme, entries)
    return {} if best is None else {best: entries[best]}


def _nearest(word: str, entries: Mapping[str, int]) -> str | None:
    """The one that is a slip or two away; of several the nearest, in most entries, and as hands slip."""
    near = process.extract(
        word, entries.keys(), scorer=OSA.distance, score_cutoff=max_misspellings(word), limit=None
    )
    order = [
        (slips, -entries[one], may_be_other_name(word, one, is_common=False), one)
        for one, slips, _ in near
    ]
    return min(order)[-1] if order else None


def _first(letter: str) -> str:
    """What stands before all that begins with a letter, in any collation."""
    return "" if letter in _BEFORE else letter


def _after(letter: str) -> str:
    """The next letter, or the character with the next number; of the last one that itself."""
    number = ord(letter) + 1
    following = chr(0xE000 if number == _SURROGATES else min(number, sys.maxunicode))
    return _NEXT.get(letter, following)
