"""Words of new values: by which a later text gives another value, and those that say nothing about it.

They stand apart from new values, which compare texts by them, because they are about one text. The words are data, in `new_values.yaml`.
"""

import re
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import NamedTuple

from pydantic import ConfigDict

from mnestic.memory.deferred_model import DeferredModel
from mnestic.memory.language.function_words import function_words
from mnestic.memory.language.updates import usual_asides
from mnestic.memory.language.word_lists import read_word_lists

_FILE = Path(__file__).with_name("new_values.yaml")
_PAST = re.compile(  # but not *is planned*, *is needed* or *the speed*
    r"(?<!\bis )(?<!\bare )(?<!\bbe )(?<!['\u2019]s )(?<!['\u2019]m )\b[a-z]{2,}(?<!ne)ed\b",
    re.IGNORECASE,
)


class _Words(DeferredModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    changes: list[str]
    replacements: list[str]
    events: list[str]


class ValuePatterns(NamedTuple):
    """The words of all languages as patterns; see `new_values.yaml`."""

    changes: re.Pattern[str]
    replacements: re.Pattern[str]
    events: re.Pattern[str]


def is_event(text: str) -> bool:
    """Whether a clause tells what happened, rather than what is so."""
    return bool(value_patterns().events.search(text) or _PAST.search(text))


@cache
def usual_words() -> frozenset[str]:
    """Words that say nothing about which of several things is meant, in all languages."""
    return usual_asides().union(*function_words().values())


@cache
def value_patterns() -> ValuePatterns:
    """The patterns, read once."""
    lists = [*read_word_lists(_FILE, _Words).values()]
    return ValuePatterns(
        *(
            _pattern(word for one in lists for word in getattr(one, name))
            for name in ValuePatterns._fields
        )
    )


def _pattern(phrases: Iterable[str]) -> re.Pattern[str]:
    longest = sorted(phrases, key=len, reverse=True)
    parts = (r"(?:\S+ ){1,5}?".join(map(re.escape, one.split("* "))) for one in longest)
    return re.compile(rf"\b(?:{'|'.join(parts)})\b", re.IGNORECASE)
