"""Words that are alike: how near the words of an entry come to those of a question that it lacks.

It stands apart from the meaning of whole texts, which is a mean: one word that is near is lost there among
others. Source: late interaction, Khattab and Zaharia, ColBERT, 2020.
"""

from collections.abc import Collection

import numpy as np
from numpy.typing import NDArray

from mnestic.memory.candidates import Candidates
from mnestic.memory.ports import WordEmbedder
from mnestic.memory.search import Vocabulary
from mnestic.memory.terms import terms_of

_MOST = 100  # candidates, those that say most by themselves
_LEAST = 0.3  # cosine from which words are alike; most words that have nothing in common are below
_FORM = 0.5  # what a form of the same word adds, where no index tells which entries have it
_SHORTEST, _ENDING = 4, 3  # letters of a stem that begins a word, and of what may follow it


def liken(
    candidates: Candidates,
    vocabulary: Vocabulary,
    *,
    words: WordEmbedder,
    by_meaning: bool = False,
) -> None:
    """Tells the best candidates how near they come to the words that they lack.

    Args:
        candidates: With their words and meanings; `alike` is set.
        vocabulary: The words of the question.
        words: Has their vectors.
        by_meaning: Whether meaning alone is asked, so that nothing has told which words they have.
    """
    whole, rows = sum(vocabulary.weights), candidates.rows
    if not whole:
        return
    best = candidates.ordered(rows["words"] / whole + rows["cosine"])[:_MOST]
    terms = [candidates.texts[place].terms() for place in best.tolist()]
    best, said = best[[bool(one) for one in terms]], [one for one in terms if one]
    if not said:
        return
    asked = [" ".join(terms_of(one.word)) for one in vocabulary.asked]
    nearest = words.compare_words(asked, said)
    lacks = ~rows["lexemes"][best] >> np.arange(len(asked))[:, None] & 1
    weights = np.array(vocabulary.weights)[:, None]
    near = nearest * (nearest >= _LEAST)
    if by_meaning:
        near += _FORM * _have_forms(said, vocabulary)
    rows["alike"][best] = (weights * near * lacks).sum(axis=0) / whole


def _have_forms(said: Collection[Collection[str]], vocabulary: Vocabulary) -> NDArray[np.bool_]:
    """Which texts have a form of each word that is asked: shape `(asked, said)`."""
    known = {word for terms in said for word in terms}
    forms = [_forms(known, one.lexemes) for one in vocabulary.asked]
    return np.array([[not each.isdisjoint(terms) for terms in said] for each in forms])


def _forms(known: Collection[str], stems: Collection[str]) -> set[str]:
    found = set(stems).intersection(known)
    for stem in stems:
        if len(stem) >= _SHORTEST:
            begun = [word for word in known if word.startswith(stem)]
            found.update(word for word in begun if len(word) - len(stem) <= _ENDING)
    return found
