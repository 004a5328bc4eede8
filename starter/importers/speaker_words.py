"""Tells names from labels: `Mara:` speaks, `Note:` does not.

The words are data, in `speaker_words.yaml`.
"""

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

import yaml
from pydantic import BaseModel, ConfigDict, TypeAdapter

_FILE = Path(__file__).with_name("speaker_words.yaml")
_MOST_WORDS = 7  # of a name
_LONGEST_INITIAL = 2  # as in `speaker A`


class _LanguageWords(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    labels: list[str]
    roles: list[str] = []
    particles: list[str] = []
    openers: list[str] = []


class _Words(NamedTuple):
    labels: frozenset[str]
    roles: frozenset[str]
    particles: frozenset[str]
    openers: frozenset[str]


def is_name(text: str, *, is_free: bool = False) -> bool:
    """Whether words have the shape of a name: one in any case, or several that begin with capitals.

    Args:
        text: The words.
        is_free: Other words may be a name as well, since it is marked as one.
    """
    words = text.split()
    if not words or len(words) > _MOST_WORDS:
        return False
    if len(words) == 1 or is_free:
        return True
    if begins_sentence(text):
        return False
    return _is_numbered(words) or all(map(_can_be_in_name, words))


def begins_sentence(text: str) -> bool:
    """Whether the first word is one with which a sentence begins and no name does."""
    if text.isupper() and " " in text:
        return False  # `THE COURT`
    return text.split(maxsplit=1)[0].casefold().strip(",") in _words().openers


def is_label(name: str, *, is_certain: bool) -> bool:
    """Whether a name is a label.

    Args:
        name: The words before a colon.
        is_certain: They stand with a time or come again, so only a label as a whole is one.
    """
    words = list(_without_numbers(name))
    whole = " ".join(words)
    if whole in _words().labels:
        return True
    return not is_certain and bool(words) and words[-1] in _words().labels


def is_role(name: str) -> bool:
    """Whether it is a role of a speaker, such as `user` or `Speaker 1`."""
    return " ".join(_without_numbers(name)) in _words().roles


def _is_numbered(words: list[str]) -> bool:
    return all(len(word) <= _LONGEST_INITIAL or word.isdigit() for word in words[1:])


def _can_be_in_name(word: str) -> bool:
    return not word[0].islower() or word in _words().particles


def _without_numbers(name: str) -> Iterator[str]:
    words = name.casefold().split()
    yield from (word for word in words if not word.strip("#").isdigit() or len(words) == 1)


@cache
def _words() -> _Words:
    read = TypeAdapter(dict[str, _LanguageWords]).validate_python(
        yaml.safe_load(_FILE.read_text(encoding="utf-8"))
    )
    return _Words(
        labels=frozenset(word for one in read.values() for word in one.labels),
        roles=frozenset(word for one in read.values() for word in one.roles),
        particles=frozenset(word for one in read.values() for word in one.particles),
        openers=frozenset(word for one in read.values() for word in one.openers),
    )
