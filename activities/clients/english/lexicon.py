"""The lexicon: `lexicon.yaml`, validated and indexed once.

Every module of the parser reads words here and none of them has its own.
"""

import re
from collections.abc import Mapping
from functools import cache, cached_property, lru_cache
from pathlib import Path
from typing import NamedTuple

from pydantic import BaseModel, ConfigDict

from mnestic.memory.language.word_lists import read_patterns, read_word_lists

_FILE = Path(__file__).with_name("lexicon.yaml")
_PATTERNS = Path(__file__).with_name("patterns.yaml")
_Words = frozenset[str]


class Kin(NamedTuple):
    """What a noun says somebody is to somebody; close ones are known by a bare name."""

    predicate: str
    gender: str
    is_close: bool


class Lexicon(BaseModel):
    """`lexicon.yaml`, where each list is explained."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    written_in_haste: Mapping[str, str]
    governing: _Words
    conditions: _Words
    modals: _Words
    hedges: _Words
    irrealis: _Words
    reports: _Words
    untrue: _Words
    weak_nouns: _Words
    starts: _Words
    stops: _Words
    no_more: tuple[str, ...]
    first_person: _Words
    female: _Words
    male: _Words
    kin: Mapping[str, str]
    close: _Words
    bare_kin: _Words
    same_kin: Mapping[str, str]
    gone: _Words
    pointing: _Words
    dropped: _Words
    vague: _Words
    trailing: _Words
    job_endings: str
    jobs: _Words
    no_jobs: _Words
    diets: _Words
    states: Mapping[str, str]
    no_places: _Words
    units: _Words
    times: _Words
    now: Mapping[str, str]
    since: Mapping[str, str]
    mutual: Mapping[str, str]
    closing: _Words
    placing: tuple[str, ...]
    ends: Mapping[str, str]
    swaps: Mapping[str, str]
    passing: _Words
    lasting: _Words
    nouns: Mapping[str, str]
    values: Mapping[str, str]
    cues: _Words
    takebacks: _Words
    answers: Mapping[str, str]
    asked_for: _Words
    genres: tuple[str, ...]
    unstated: tuple[str, ...]

    @cached_property
    def kin_of(self) -> Mapping[str, Kin]:
        """Nouns of kin."""
        return {
            noun: Kin(predicate, gender, predicate in self.close)
            for predicate, words in self.kin.items()
            for noun, _, gender in (word.partition(":") for word in words.split())
        }

    @cached_property
    def genre(self) -> re.Pattern[str]:
        """A sign that a message is no report of its speaker's life."""
        return re.compile("|".join(self.genres), re.IGNORECASE | re.MULTILINE)

    @cached_property
    def not_stated(self) -> re.Pattern[str]:
        """A sign that a sentence states nothing."""
        return re.compile("|".join(self.unstated), re.IGNORECASE | re.MULTILINE)

    @cached_property
    def job_ending(self) -> re.Pattern[str]:
        """How nouns end that say what somebody does."""
        return re.compile(self.job_endings)


@lru_cache(maxsize=1)
def load_lexicon() -> Lexicon:
    """The lexicon of English, read once."""
    lexicon: Lexicon = read_word_lists(_FILE, Lexicon)["en"]
    return lexicon


@cache
def pattern(name: str) -> re.Pattern[str]:
    """A pattern of `patterns.yaml`, compiled once."""
    return re.compile(read_patterns(_PATTERNS)[name], re.IGNORECASE)


def without(text: str, name: str) -> str:
    """A text without what a pattern finds at its beginning."""
    found = pattern(name).match(text)
    return text[found.end() :] if found else text
