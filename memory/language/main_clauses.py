"""Main clauses: the statements that a sentence joins by a word such as *and*, each with a subject of its own.

They stand apart from sentences because a sentence is told by its marks, and a clause by words, which are data
(`main_clauses.yaml`). Where it is not certain that a clause begins, none does: *Ida and Otto came* is one.
"""

import re
from collections.abc import Iterator
from functools import cache
from itertools import dropwhile, takewhile
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
_SHORTEST = 4  # letters of a verb such as "pays"
_LONGEST = 2000  # characters of a sentence that somebody says; longer ones are lists and logs
_OPENING, _CLOSING = "([{«“„", ")]}»”“"
_END = re.compile(r"[\s.!?…]*$")


class Clause(NamedTuple):
    """Where a clause stands in a sentence; `joint` is where the word or mark that joins it to the one before begins.

    One that `continues` has the subject of the one before: *then went home*.
    """

    joint: int
    start: int
    end: int
    continues: bool = False


def split_clauses(sentence: str) -> tuple[Clause, ...]:
    """The main clauses of a sentence, in their order; one if it joins none. The mark that ends it is in none."""
    last = _END.search(sentence)
    end = last.start() if last else len(sentence)
    clauses: list[Clause] = []
    joint = start = 0
    continues = False
    if end > _LONGEST:
        return (Clause(joint, start, end),)
    for match in _joints().finditer(sentence, 0, end):
        before, after = sentence[start : match.start()], sentence[match.end() : end]
        if _is_inside(sentence[: match.start()]):
            continue
        if any(_joins(match, before, after, words=words) for words in _lists()):
            clauses.append(Clause(joint, start, match.start(), continues))
            joint, start = match.start(), match.end()
            continues = any(_continues(before, after, words) for words in _lists())
    return (*clauses, Clause(joint, start, end, continues))


def is_order(word: str) -> bool:
    """Whether a folded word says what to do where a sentence begins with it."""
    return any(word in words.orders for words in _lists())


def split_subject(clause: str) -> tuple[str, str]:
    """What stands before the first verb of a clause, and the rest; of one without a known verb, two words are before it.

    Nothing stands before the verb of an order, or of a question that begins with its verb.
    """
    if any(_is_order(clause, words) for words in _lists()):
        return "", clause
    places = [match.start() for match in _WORD.finditer(clause)]
    verbs = (
        place
        for place, (word, is_small) in zip(places, _words(clause), strict=True)
        if any(word in words.verbs or _is_third_person(word, is_small, words) for words in _lists())
    )
    otherwise = places[_FEWEST] if len(places) > _FEWEST else len(clause)
    place = next(verbs, otherwise)
    return clause[:place], clause[place:]


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


def clause_spans(text: str) -> Iterator[tuple[int, int]]:
    """Where the clauses of a text are by `clause_pattern`, so that Python and Postgres agree on them."""
    pattern = clause_pattern().replace(r"\M", r"\b")
    return (match.span() for match in re.finditer(pattern, text, re.IGNORECASE | re.DOTALL))


def _either(*lists: frozenset[str]) -> str:
    return "|".join(sorted(frozenset[str]().union(*lists)))


def _joins(match: re.Match[str], before: str, after: str, *, words: "_Words") -> bool:
    """Whether a mark or a word joins two clauses in a language."""
    if match["field"]:
        return True
    if not (_is_clause(before, words) or _is_order(before, words)):
        return False
    if match["mark"]:
        return True
    if match["pause"]:
        return _has_subject(after, words) or _is_order(after, words)
    is_next = _is_next_order(before, after, words) or _follows(after, words)
    if match["word"]:
        is_joint = normalised(match["word"]) in words.joints
        return is_joint and (is_next or _has_subject(after, words))
    following = _first(after)
    is_pronoun = following in words.subjects or following in words.possessives
    is_named = _is_named_subject(after, words, least=_FEWEST)  # not "Ida says", of what is before
    has_subject = (is_pronoun and _has_subject(after, words)) or is_named
    return _first(before) not in words.subordinators and (has_subject or is_next)


def _is_order(text: str, words: "_Words") -> bool:
    """Whether a text begins with a verb that says what to do, in a language."""
    said = [word for word, _ in _words(text)]
    rest = [*dropwhile(words.leads.__contains__, said)]
    return len(said) >= _FEWEST and bool(rest) and rest[0] in words.orders


def _is_next_order(before: str, after: str, words: "_Words") -> bool:
    """Whether an order follows: behind another one, or after a word that announces one."""
    is_announced = _is_order(before, words) or _first(after) in words.leads
    return is_announced and _is_order(after, words)


def _follows(after: str, words: "_Words") -> bool:
    """Whether a text says what comes next: *then he came home*, *then went home*."""
    (_, first, rest) = _partition_word(after)
    if first not in words.sequels:
        return False
    return _has_subject(rest, words) or _is_verb(_first(rest), words)


def _continues(before: str, after: str, words: "_Words") -> bool:
    """Whether what comes next has no subject of its own."""
    (_, first, rest) = _partition_word(after)
    if first not in words.sequels or _is_order(before, words) or _has_subject(rest, words):
        return False
    return _is_verb(_first(rest), words)


def _is_named_subject(text: str, words: "_Words", *, least: int = 1) -> bool:
    """Whether a text begins with a name that its verb follows at once, in at least so many words behind the name."""
    said = [*_words(text)]
    name = [*takewhile(lambda one: not one[1], said)]
    following = said[len(name) :]
    return bool(name) and len(following) >= least and _is_verb(following[0][0], words)


def _is_verb(word: str, words: "_Words") -> bool:
    """Whether a word behind a name, which no noun follows often, is a verb."""
    return word in words.verbs or _is_third_person(word, True, words, least=_SHORTEST)


def _partition_word(text: str) -> tuple[str, str, str]:
    """What is before the first word of a text, that word folded, and what is behind it."""
    match = _WORD.search(text)
    if match is None:
        return text, "", ""
    return text[: match.start()], normalised(match[0]), text[match.end() :]


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
    return _is_named_subject(text, words) or any(
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
    if first in words.subjects or _is_named_subject(text, words):
        return True
    is_determiner = first in words.determiners or first in words.possessives
    return (is_determiner or not is_small) and any(
        word in words.verbs or _is_third_person(word, is_small, words)
        for word, is_small in said[1 + is_determiner : _NEAR]
    )


def _is_third_person(word: str, is_small: bool, words: "_Words", *, least: int = 5) -> bool:
    """Whether a word ends as an English verb does in the third person or the past, and is no plural that is known."""
    if not is_small or not words.not_verbs or len(word) < least or word in words.not_verbs:
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
    orders: frozenset[str] = frozenset()
    leads: frozenset[str] = frozenset()
    sequels: frozenset[str] = frozenset()


@cache
def _lists() -> tuple[_Words, ...]:
    return tuple(read_word_lists(_FILE, _Words).values())


@cache
def _joints() -> re.Pattern[str]:
    """Marks and words that may join clauses, without the space after them."""
    words = "|".join(joint for one in _lists() for joint in one.joints)
    return re.compile(
        rf"(?P<field>\s+\|)(?=\s)|(?P<mark>\s*;)(?=\s)|(?P<pause>:|\s+[\u2013\u2014-])(?=\s)"
        rf"|\s*,?\s+(?P<word>{words})(?=\s)|\s*,(?=\s)",
        re.IGNORECASE,
    )
