"""Questions as people ask them, about stored entries and about absent topics.

The same seed gives the same questions.
"""

from collections.abc import Sequence

import numpy as np

from benchmarks.messages import messages
from mnestic.memory.language.terms import terms_of

_MONTHS = (
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)
_KINDS = (0.5, 0.4, 0.1)  # in the words of an entry, in other words, about a month
_SENTENCE = 12  # words
_ABOUT = 3


def questions(entries: Sequence[tuple[str, str]], *, number: int, seed: int) -> list[str]:
    """So many questions, none of them twice.

    Args:
        entries: Speakers and texts of entries, about which half of them ask; at least one.
        number: How many.
        seed: Whichever.
    """
    chance = np.random.default_rng(seed)
    other = messages(2 * number, seed=seed)
    found: dict[str, None] = {}
    while len(found) < number:
        speaker, text = entries[int(chance.integers(len(entries)))]
        kind = chance.choice(len(_KINDS), p=_KINDS)
        if kind == 0:
            question = f"What did {speaker} say about {_part(text, chance)}?"
        elif kind == 1:
            question = " ".join(next(other).content.split()[:_SENTENCE])
        else:
            month, year = chance.choice(_MONTHS), chance.integers(2015, 2017)
            question = f"What did {speaker} mention about {_part(text, chance)} in {month} {year}?"
        found[question] = None
    return list(found)


def _part(text: str, chance: np.random.Generator) -> str:
    """Some adjacent content words of a text."""
    words = terms_of(text) or tuple(text.split())
    start = chance.integers(max(1, len(words) - _ABOUT + 1))
    return " ".join(words[start : start + _ABOUT])
