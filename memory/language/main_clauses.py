"""Main clauses: the statements that a sentence joins by a word such as *and*, each with a subject of its own.

They stand apart from sentences because a sentence is told by its marks, and a clause by words, which are data
(`main_clauses.yaml`). Where it is not certain that a clause begins, none does: *Ida and Otto came* is one.
"""

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

from pydantic import ConfigDict

from mnestic.memory.deferred_model import DeferredModel
from mnestic.memory.language.terms import normalised
from mnestic.memory.language.word_lists import read_word_lists

_FILE = Path(__file__).with_name("main_clauses.yaml")
_WORD = re.compile(r"[^\W_]+(?:['’ʼ-][^\W_]+)*")  # noqa: RUF001 (apostrophes of many kinds are meant)
_NEAR = 5  # words between a subject's first word and its verb
_FEWEST = 2  # words of a clause
_LONGEST = 2000  # characters of a sentence that somebody says; longer ones are lists and logs
_OPENING, _CLOSING = "([{«“„", ")]}»”“"
_END = re.compile(r"[\s.!?…]*$")


class Clause(NamedTuple):
    """Where a clause stands in a sentence; `joint` is where the word or mark that joins it to the one before begins."""

    joint: int
    start: int
    end: int


def split_clauses(sentence: str) -> tuple[Clause, ...]:
    """The main clauses of a sentence, in their order; one if it joins none. The mark that ends it is in none."""
    last = _END.search(sentence)
    end = last.start() if last else len(sentence)
    clauses: list[Clause] = []
    joint = start = 0
    if end > _LONGEST:
        return (Clause(joint, start, end),)
    for match in _joints().finditer(sentence, 0, end):
        before, after = sentence[start : match.start()], sentence[match.end() : end]
        if _is_inside(sentence[: match.start()]):
            continue
        if any(_joins(match, before, after, words=words) for words in _lists()):
            clauses.append(Clause(joint, start, match.start()))
            joint, start = match.start(), match.end()
    return (*clauses, Clause(joint, start, end))


@cache
def clause_pattern() -> str:
    """A pattern of Postgres for a clause with the mark or the word that ends it, which takes every character of a text.

    Postgres splits the few texts of which a part is superseded, without looking at verbs: a sentence's mark ends a clause,
    and so does a joint before a subject, a determiner or a possessive of its language.
    """
    joined = [
        rf"\s(?:{'|'.join(one.joints)})\s+(?=(?:{_either(one.subjects, one.possessives, one.determiners)})\M)"
        rf"|,\s+(?=(?:{_either(one.subjects, one.possessives)})\M)"
        for one in _lists()
    ]
    return rf"(.+?(?:[.!?;\u2026](?=\W)|[\u3002\uff01\uff1f]|\n|{'|'.join(joined)}|$))"


def _either(*lists: frozenset[str]) -> str:
    return "|".join(sorted(frozenset[str]().union(*lists)))


def _joins(match: re.Match[str], before: str, after: str, *, words: "_Words") -> bool:
    """Whether a mark or a word joins two clauses in a language."""
    if not _is_clause(before, words):
        return False
    if match["mark"]:
        return True
    if match["word"]:
        return normalised(match["word"]) in words.joints and _has_subject(after, words)
    first, following = _first(before), _first(after)
    is_pronoun = following in words.subjects or following in words.possessives
    return is_pronoun and first not in words.subordinators and _has_subject(after, words)


def _first(text: str) -> str:
    return next(_words(text), ("", True))[0]


def _is_inside(before: str) -> bool:
    """Whether a place is in brackets or between quotation marks."""
    opened = sum(map(before.count, _OPENING)) - sum(map(before.count, _CLOSING))
    return opened > 0 or before.count('"') % 2 == 1


def _is_clause(text: str, words: "_Words") -> bool:
    """Whether a text says something by itself in a language: there is a subject or a verb."""
    said = list(_words(text))
    if len(said) < _FEWEST:
        return False
    before = ["", *(word for word, _ in said)]
    return any(
        word in words.subjects
        or word in words.verbs
        or (
            previous not in words.determiners | words.possessives
            and _is_third_person(word, is_small, words)
        )
        for previous, (word, is_small) in zip(before, said, strict=False)
    )


def _has_subject(text: str, words: "_Words") -> bool:
    """Whether a text begins with a subject whose verb follows, in a language."""
    said = list(_words(text))
    if len(said) < _FEWEST:
        return False
    first, is_small = said[0]
    if first in words.subjects:
        return True
    is_determiner = first in words.determiners or first in words.possessives
    return (is_determiner or not is_small) and any(
        word in words.verbs or _is_third_person(word, is_small, words)
        for word, is_small in said[1 + is_determiner : _NEAR]
    )


def _is_third_person(word: str, is_small: bool, words: "_Words") -> bool:
    """Whether a word ends as an English verb does in the third person or the past, and is no plural that is known."""
    if not is_small or not words.not_verbs or len(word) < 5 or word in words.not_verbs:  # noqa: PLR2004
        return False
    return word.endswith("ed") or (word.endswith("s") and not word.endswith(("ss", "us", "'s")))


def _words(text: str) -> Iterator[tuple[str, bool]]:
    for match in _WORD.finditer(text):
        yield normalised(match[0]).replace("’", "'"), match[0][0].islower()  # noqa: RUF001


class _Words(DeferredModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    joints: tuple[str, ...]
    subjects: frozenset[str]
    determiners: frozenset[str]
    possessives: frozenset[str]
    verbs: frozenset[str]
    not_verbs: frozenset[str]
    subordinators: frozenset[str]


@cache
def _lists() -> tuple[_Words, ...]:
    return tuple(read_word_lists(_FILE, _Words).values())


@cache
def _joints() -> re.Pattern[str]:
    """Marks and words that may join clauses, without the space after them."""
    words = "|".join(joint for one in _lists() for joint in one.joints)
    return re.compile(
        rf"(?P<mark>\s*;)(?=\s)|\s*,?\s+(?P<word>{words})(?=\s)|\s*,(?=\s)", re.IGNORECASE
    )
