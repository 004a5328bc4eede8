"""In which language a text asks, and which words of it say something in that language.

It is pure: what each language takes for a word that says nothing comes from the database's text search.
"""

from collections import Counter
from collections.abc import Collection, Hashable, Sequence
from typing import NamedTuple

LANGUAGE = "english"
"""The text search configuration of entries where none is set; questions may be in it in any case."""

_FEWEST = 2  # function words that tell a language


class LanguageVote(NamedTuple):
    """The languages in which a word says something, and whether an entry has it in one of them."""

    languages: Collection[Hashable]
    is_known: bool


def content_words(
    words: Sequence[LanguageVote], languages: Collection[Hashable]
) -> tuple[bool, ...]:
    """Which words of a question say something.

    In a question whose language is told by its function words, those that are none of that language. In
    others also a function word of one language that entries have as a word of another: "hat" and "war" are
    looked for among English entries that have them, though in German they say nothing.

    Args:
        words: Those of the question.
        languages: Those that it may be in.
    """
    silent = [frozenset(languages).difference(word.languages) for word in words]
    language = _spoken(silent)
    return tuple(
        word.is_known or not silent_in if language is None else language not in silent_in
        for word, silent_in in zip(words, silent, strict=True)
    )


def _spoken(silent: Sequence[Collection[Hashable]]) -> Hashable | None:
    """The language with more function words than any other, if it has enough."""
    counts = Counter(language for each in silent for language in each).most_common(2)
    if not counts or counts[0][1] < _FEWEST:
        return None
    return counts[0][0] if len(counts) == 1 or counts[0][1] > counts[1][1] else None
