"""Word forms: the stem of an English word, and the irregular forms of a verb that text search takes for other words.

The stems are those of a library, Postgres' own algorithm; irregular verbs are data, in `word_forms.yaml`.
"""

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from types import MappingProxyType

from Stemmer import Stemmer

from mnestic.memory.language.terms import terms_of
from mnestic.memory.language.word_lists import read_word_lists

_FILE = Path(__file__).with_name("word_forms.yaml")


def stem(word: str) -> str:
    """What the forms of an English word have in common, such as *planned* and *plans*, or *drove* and *drive*."""
    found: str = _stemmer().stemWord(_verbs().get(word, word))
    return found


def stems_of(text: str) -> frozenset[str]:
    """The stems of the content words of a text."""
    return frozenset(map(stem, terms_of(text)))


def other_forms(word: str) -> frozenset[str]:
    """The irregular forms of an English verb that are other words for text search: *bought* for *buy*, and *buy* for *bought*."""
    return _forms().get(stem(word), frozenset()) - {word}


@cache
def _forms() -> Mapping[str, frozenset[str]]:
    """The verb and its irregular forms, by their stem."""
    return MappingProxyType(
        {stem(verb): frozenset({verb, *forms}) for verb, forms in _irregular().items()}
    )


@cache
def _verbs() -> Mapping[str, str]:
    """The verb of each irregular form."""
    return {form: verb for verb, forms in _irregular().items() for form in forms}


def _irregular() -> dict[str, list[str]]:
    verbs: dict[str, list[str]] = read_word_lists(_FILE, dict[str, list[str]])["en"]
    return verbs


@cache
def _stemmer() -> Stemmer:
    return Stemmer("english", 0)  # without a cache of the words that people say
