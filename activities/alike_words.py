"""Words that are alike: how near the words of an entry come to those of a question that it lacks.

It stands apart from the meaning of whole texts, which is a mean: one word that is near is lost there among
others. Source: late interaction, Khattab and Zaharia, ColBERT, 2020.
"""

import heapq
from collections.abc import Collection
from functools import cache

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import ThreadpoolController

from mnestic.memory.candidates import Candidate
from mnestic.memory.ports import WordEmbedder
from mnestic.memory.search import Vocabulary
from mnestic.memory.terms import terms_of

_MOST = 100  # candidates, those that say most by themselves
_LEAST = 0.3  # cosine from which words are alike; most words that have nothing in common are below
_FORM = 0.5  # what a form of the same word adds, where no index tells which entries have it
_SHORTEST, _ENDING = 4, 3  # letters of a stem that begins a word, and of what may follow it


def liken(
    candidates: Collection[Candidate],
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
    whole = sum(vocabulary.weights)
    if not whole:
        return
    best = heapq.nlargest(_MOST, candidates, key=lambda one: one.words / whole + one.cosine)
    of = [(one, terms) for one in best if (terms := one.terms())]
    if not of:
        return
    starts = np.cumsum([0, *(len(terms) for _, terms in of[:-1])])
    said = [term for _, terms in of for term in terms]
    of_entries = words.embed_words(said)
    with _blas().limit(limits=1, user_api="blas"):  # other cores would wait for it, busily
        cosines = _asked(vocabulary, words) @ of_entries.T
    nearest = np.maximum.reduceat(cosines, starts, axis=1)
    lexemes = np.array([one.lexemes for one, _ in of])
    lacks = ~lexemes >> np.arange(len(vocabulary.weights))[:, None] & 1
    weights = np.array(vocabulary.weights)[:, None]
    near = nearest * (nearest >= _LEAST)
    if by_meaning:
        near += _FORM * np.maximum.reduceat(_are_forms(said, vocabulary), starts, axis=1)
    alike = (weights * near * lacks).sum(axis=0) / whole
    for (one, _), share in zip(of, alike.tolist(), strict=True):
        one.alike = share


def _asked(vocabulary: Vocabulary, words: WordEmbedder) -> NDArray[np.float32]:
    """The vectors of the words of a question; 0 of one that says nothing or is no word."""
    return words.embed_words([" ".join(terms_of(one.word)) for one in vocabulary.asked])


def _are_forms(said: Collection[str], vocabulary: Vocabulary) -> NDArray[np.bool_]:
    """Which of the words that are said are forms of each word that is asked: shape `(asked, said)`."""
    known = set(said)
    forms = [_forms(known, one.lexemes) for one in vocabulary.asked]
    return np.array([[word in each for word in said] for each in forms])


def _forms(known: Collection[str], stems: Collection[str]) -> set[str]:
    found = set(stems).intersection(known)
    for stem in stems:
        if len(stem) >= _SHORTEST:
            begun = [word for word in known if word.startswith(stem)]
            found.update(word for word in begun if len(word) - len(stem) <= _ENDING)
    return found


@cache
def _blas() -> ThreadpoolController:
    return ThreadpoolController()
