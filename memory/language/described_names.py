"""Described names: names that a message gives together with a relation or an origin, which tell namesakes apart.

It stands apart from extraction because it holds for every extractor: the words that describe somebody stand beside the
name. It is pure, and its words are data.
"""

import re
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Literal, NamedTuple

from pydantic import ConfigDict

from mnestic.memory.deferred_model import DeferredModel
from mnestic.memory.language.word_lists import read_word_lists

_FILE = Path(__file__).with_name("described_names.yaml")
_NAME = r"(?-i:[^\W\d_a-z])(?:[^\W_]|-)+"
_APOSTROPHE = "['\u2019]"


class DescriptionWords(DeferredModel):
    """The words of one language; the file says what they are."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    family: tuple[tuple[str, ...], ...]
    pet: tuple[tuple[str, ...], ...]
    origin: tuple[str, ...]
    no_origin: tuple[str, ...]
    own: tuple[str, ...]
    first_person: tuple[str, ...]
    called: tuple[str, ...]
    closing: tuple[str, ...]


class DescribedName(NamedTuple):
    """A name with its description, as in "my brother Otto" of Lena, or "Otto from logistics".

    `subject` is how facts name this one apart from namesakes: "Otto (brother of Lena)". `reference` is what others call
    this one: "Lena's brother".
    """

    name: str
    kind: Literal["family", "pet", "origin"]
    subject: str
    reference: str


class _Patterns(NamedTuple):
    related: tuple[re.Pattern[str], ...]
    origin: re.Pattern[str]


@cache
def _words() -> DescriptionWords:
    words: DescriptionWords = read_word_lists(_FILE, DescriptionWords)["en"]
    return words


@cache
def _patterns() -> _Patterns:
    words = _words()
    nouns = _any(noun for row in (*words.family, *words.pet) for noun in row)
    owner = rf"(?:(?P<own>{_any(words.own)})|(?P<owner>{_NAME}){_APOSTROPHE}s)"
    before = rf"\b{owner}\s+(?:[^\W\d_]+\s+){{0,2}}?(?P<noun>{nouns})"
    called = rf"(?:,?\s+(?:{_any(words.called)})|,)?\s+"
    after = rf"(?P<name>{_NAME}),\s+{owner}\s+(?:[^\W\d_]+\s+)?(?P<noun>{nouns})\b"
    origin, closing = _any(words.origin), _any(words.closing)
    place = rf"(?:the\s+)?(?!(?:{_any(words.no_origin)})\b)(?P<place>(?-i:[a-z]+|[A-Z]{{2,5}}))\b"
    return _Patterns(
        (
            re.compile(rf"{before}{called}(?P<name>{_NAME})\b", re.IGNORECASE),
            # Where a sentence begins, the relation is closed: "Ana, my sister, sings", but not "Sorry, my sister sings".
            re.compile(rf"\b{after}(?=\s*(?:[^\w\s'\u2019]|$|(?:{closing})\b))", re.IGNORECASE),
            re.compile(rf"(?<=[\w,;]\s){after}", re.IGNORECASE),
        ),
        re.compile(rf"\b(?P<name>{_NAME})\s+(?P<origin>{origin})\s+{place}", re.IGNORECASE),
    )


def _any(words: Iterable[str]) -> str:
    return "|".join(sorted((re.escape(word) for word in words), key=len, reverse=True))


def find_described_names(text: str, *, speaker: str) -> tuple[DescribedName, ...]:
    """The names that a text describes, each once. A name with two descriptions in it is left out."""
    by_name: dict[str, set[DescribedName]] = {}
    for one in _described(text, speaker):
        by_name.setdefault(one.name.casefold(), set()).add(one)
    return tuple(one for found in by_name.values() if len(found) == 1 for one in found)


def is_first_person(words: Iterable[str]) -> bool:
    """Whether one of the words means whoever speaks."""
    folded = {word.casefold().replace("\u2019", "'") for word in words}
    return not folded.isdisjoint(_words().first_person)


def is_described(subject_key: str, *, name: str) -> bool:
    """Whether the key of a subject is that of a described one of this name."""
    return any(subject_key.startswith(f"{name} {word}") for word in ("(", *_words().origin))


def _described(text: str, speaker: str) -> Iterator[DescribedName]:
    patterns = _patterns()
    for pattern in patterns.related:
        for match in pattern.finditer(text):
            noun, kind = _relation(match["noun"].casefold())
            owner = match["owner"] or speaker
            if owner.casefold() != match["name"].casefold():
                yield DescribedName(
                    match["name"], kind, f"{match['name']} ({noun} of {owner})", f"{owner}'s {noun}"
                )
    for match in patterns.origin.finditer(text):
        subject = f"{match['name']} {match['origin'].casefold()} {match['place']}"
        yield DescribedName(match["name"], "origin", subject, subject)


def _relation(noun: str) -> tuple[str, Literal["family", "pet"]]:
    words = _words()
    for row in words.family:
        if noun in row:
            return row[0], "family"
    return next(row[0] for row in words.pet if noun in row), "pet"
