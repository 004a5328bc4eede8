"""Function words: words of a question that have no meaning of their own, in the language that it is in.

The text search of the database knows few of them and none of the words that ask: a question is answered by its content
words, in whichever language it is.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

from pydantic import ConfigDict

from mnestic.memory.deferred_model import DeferredModel
from mnestic.memory.language.word_lists import parse_yaml

ENGLISH = "en"
_FILE = Path(__file__).with_name("function_words.yaml")
_FEWEST = (
    2  # function words by which a language is recognised; one that begins a question counts twice
)
_JOINTS = re.compile("['\u2019\u02bc-]")
_HIRAGANA, _KANA = re.compile("[\u3040-\u309f]"), re.compile("[\u3040-\u30ff]")
UNSPACED = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]+"
)
"""A run of a script that puts no space between words."""


class _Spaced(DeferredModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    questions: list[str]
    others: list[str]
    elided: tuple[str, ...] = ()


class _Unspaced(DeferredModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    questions: list[str]
    particles: list[str]
    prefixes: list[str]
    endings: list[str]


class _Patterns(NamedTuple):
    """Function words of an unspaced script: at the beginning, behind another script or function word, and elsewhere."""

    opening: re.Pattern[str]
    joined: re.Pattern[str]
    within: re.Pattern[str]


class _Lists(DeferredModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    spaced: dict[str, _Spaced]
    unspaced: dict[str, _Unspaced]


class _Words(NamedTuple):
    function_words: Mapping[str, frozenset[str]]
    question_words: Mapping[str, frozenset[str]]
    elided: frozenset[str]
    unspaced: Mapping[str, _Patterns]


def stop_words() -> frozenset[str]:
    """The function words of English, and what people say to be polite."""
    return function_words()[ENGLISH]


def function_words() -> Mapping[str, frozenset[str]]:
    """The function words of each language that puts spaces between words."""
    return _words().function_words


def question_words() -> Mapping[str, frozenset[str]]:
    """The words that ask, of each language that puts spaces between words."""
    return _words().question_words


def find_function_words(words: Sequence[str]) -> frozenset[str]:
    """Those of a question's words that are function words of the language that it is in.

    None where it is in English, whose words the caller knows, or in a language that its function words do not tell.

    Args:
        words: The words of the question in their order.
    """
    parts = {word: _parts(word) for word in words}
    languages = _spoken([part for word in words for part in parts[word]])
    if not languages:
        return frozenset()
    silent = frozenset().union(*(function_words()[name] for name in languages))
    return frozenset(word for word in words if silent.issuperset(parts[word]))


def elided_words(word: str) -> frozenset[str]:
    """The elided words at the beginning of a word, such as *l* of *l'affitto*."""
    before, *rest = _JOINTS.split(word.casefold())
    return frozenset({before}) if rest and before in _words().elided else frozenset()


def content_spans(run: str) -> list[tuple[int, int]]:
    """Where the content words of an unspaced run stand.

    Texts of such scripts are indexed by pairs of characters, and those of the grammar are in every text. So a word of one
    character comes with the one behind it, or before it at the end.
    """
    spans, end = [], 0
    for start, next_end in (*_function_spans(run), (len(run), len(run))):
        if end < start:
            spans.append((end, start) if start - end > 1 else _pair(end, len(run)))
        end = next_end
    return spans


def _pair(place: int, length: int) -> tuple[int, int]:
    start = max(0, min(place, length - 2))
    return start, min(length, start + 2)


def _function_spans(run: str) -> Iterator[tuple[int, int]]:
    """Where function words stand in an unspaced run, of those that begin at one place the longest."""
    patterns = _words().unspaced["ja" if _KANA.search(run) else "zh"]
    place, pattern = 0, patterns.opening
    while place < len(run):
        if match := pattern.match(run, place):
            yield match.span()
            place, pattern = match.end(), patterns.joined
        else:
            is_kana = _HIRAGANA.match(run, place) is not None
            place, pattern = place + 1, patterns.within if is_kana else patterns.joined


def _parts(word: str) -> tuple[str, ...]:
    return tuple(part for part in _JOINTS.split(word.casefold()) if part)


def _spoken(parts: Sequence[str]) -> tuple[str, ...]:
    """The languages that have most of the parts as function words, if these are enough; none if English is one of them."""
    counts = {name: sum(part in own for part in parts) for name, own in function_words().items()}
    if parts and not counts[ENGLISH]:  # "come to Rome" does not ask in Italian
        for name, asking in question_words().items():
            counts[name] += parts[0] in asking
    most = max(counts.values(), default=0)
    if most < _FEWEST or counts[ENGLISH] == most:
        return ()
    return tuple(name for name, count in counts.items() if count == most)


@cache
def _words() -> _Words:
    lists = _Lists.model_validate(parse_yaml(_FILE.read_text("utf-8")))
    spaced = lists.spaced
    return _Words(
        function_words={
            name: frozenset((*one.questions, *one.others)) for name, one in spaced.items()
        },
        question_words={name: frozenset(one.questions) for name, one in spaced.items()},
        elided=frozenset(word for one in spaced.values() for word in one.elided),
        unspaced={name: _patterns(one) for name, one in lists.unspaced.items()},
    )


def _patterns(lists: _Unspaced) -> _Patterns:
    asking, ending = _either(lists.questions), _either(lists.endings)
    apart = _either(word for word in lists.questions if not _HIRAGANA.match(word))
    before = rf"(?:{_either(lists.prefixes)})(?=[^\u3040-\u30ff])" if lists.prefixes else "(?!)"
    particle = _either(lists.particles) or "(?!)"
    follows = rf"(?:{particle})(?=$|[^\u3040-\u309f]|{asking}|{ending})"
    joined = _either((*lists.questions, *lists.particles, *lists.endings))
    return _Patterns(
        opening=re.compile(f"{asking}|{ending}|{before}"),
        joined=re.compile(f"{joined}|{before}"),
        within=re.compile(f"{ending}|{apart}|{follows}"),
    )


def _either(words: Iterable[str]) -> str:
    return "|".join(sorted(words, key=len, reverse=True))
