"""Values of a tool's record: what each predicate takes as one, so that a placeholder is no fact.

It says, predicate by predicate, what a value looks like.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from datetime import date
from functools import cached_property
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict

from mnestic.activities.clients.messages.patterns import Pattern
from mnestic.memory.knowledge.predicates import default_predicate
from mnestic.memory.language.date_words import date_words
from mnestic.memory.language.word_lists import read_word_lists

_FILE = Path(__file__).with_name("record_values.yaml")
_PLAIN = re.compile(r"[^\W_][^\n{}<>\[\]\"!?;|]{0,80}$")
_MOST_WORDS = 6
_OLDEST = 125
_EMAIL = re.compile(r"[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,4}$")
_PHONE = re.compile(r"\+?[\d(][\d ()/.-]{4,24}\d$")
_TIMEZONE = re.compile(
    r"(?:[A-Z][A-Za-z_]+(?:/[A-Z][\w+-]+){1,2}|UTC|GMT|[A-Z]{3,4}|(?:UTC|GMT)[+-]\d{1,2}(?::\d\d)?)$"
)
_DAY = re.compile(r"(?P<day>\d{1,2})\.? (?P<month>[A-Za-z]+)(?:,? (?P<year>\d{4}))?$")
_LISTED = re.compile(r",\s*(?:and\s+)?|\s+and\s+")


class _Values(BaseModel):
    """`record_values.yaml`."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    unknown: frozenset[str]
    hedges: Pattern
    diets: Pattern
    language_codes: Mapping[str, str]
    more_languages: frozenset[str]

    @cached_property
    def languages(self) -> frozenset[str]:
        """Names of languages."""
        return self.more_languages.union(self.language_codes.values())


def _values() -> _Values:
    values: _Values = read_word_lists(_FILE, _Values)["en"]
    return values


def is_one_valued(predicate: str) -> bool:
    """Whether there is one value at a time, by what is usual."""
    return default_predicate(predicate).cardinality == "single"


def value_of(predicate: str, value: Any) -> Iterator[tuple[str, str]]:
    """The values of a field, each as it is kept and as it is written; none for what says nothing."""
    if isinstance(value, bool) or not isinstance(value, str | int):
        return
    written = str(value).strip()
    if written.casefold() in _values().unknown:
        return
    parts = [written] if is_one_valued(predicate) else _LISTED.split(written)
    for part in parts:
        normalised = _READERS.get(predicate, _text)(part.strip())
        if normalised is not None:
            yield normalised, part.strip()


def _text(text: str) -> str | None:
    is_plain = bool(_PLAIN.match(text)) and len(text.split()) <= _MOST_WORDS
    return text if is_plain and not _values().hedges.search(text) else None


def _words(text: str) -> str | None:
    return text if _text(text) and any(map(str.isalpha, text)) else None


def _name(text: str) -> str | None:
    """A name of a place or an organisation: no number, and not written small."""
    return text if _words(text) and not text[0].islower() else None


def _age(text: str) -> str | None:
    return text if text.isdecimal() and 0 < int(text) <= _OLDEST else None


def _matching(pattern: re.Pattern[str]) -> Callable[[str], str | None]:
    return lambda text: text if pattern.match(text) else None


def _birthday(text: str) -> str | None:
    try:
        return f"{date.fromisoformat(text[:10]):%Y-%m-%d}"
    except ValueError:
        named = _DAY.match(text)
    month = None if named is None else date_words().months.get(named["month"].casefold())
    if named is None or month is None:
        return None
    try:
        date(int(named["year"] or 2000), month, int(named["day"]))
    except ValueError:
        return None
    return text


def _language(text: str) -> str | None:
    low = re.split(r"[-_]", text.casefold())[0]
    name = _values().language_codes.get(low, low.capitalize())
    return name if name in _values().languages else None


def _diet(text: str) -> str | None:
    return text if _values().diets.match(text) else None


_READERS: Mapping[str, Callable[[str], str | None]] = {
    "lives_in": _name,
    "employer": _name,
    "school": _name,
    "job_title": _words,
    "email": _matching(_EMAIL),
    "phone": _matching(_PHONE),
    "birthday": _birthday,
    "age": _age,
    "nationality": _words,
    "timezone": _matching(_TIMEZONE),
    "preferred_language": _language,
    "languages_spoken": _language,
    "diet": _diet,
    "allergic_to": _words,
    "hobby": _words,
}
