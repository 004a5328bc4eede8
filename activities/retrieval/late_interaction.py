"""Late interaction: the similarity of an entry's words to those words of a query that it lacks.

In the mean of a whole text, one similar word is lost. A word with figures is the same or another, and comes near to
none. Source: Khattab and Zaharia, ColBERT, 2020; here over static token vectors.
"""

from collections.abc import Collection, Sequence
from itertools import compress

import numpy as np
from numpy.typing import NDArray

from mnestic.memory.language.terms import terms_of
from mnestic.memory.ports import WordEmbedder
from mnestic.memory.retrieval.candidates import Candidates, CandidateText
from mnestic.memory.retrieval.search import Vocabulary

_MOST = 100  # of the best candidates are compared
_LEAST = 0.3  # cosine from which a word counts; most unrelated words are below it
_FORM = 0.5  # what a form of the same word adds, if no index was asked for it
_SHORTEST, _ENDING = 4, 3  # letters of a stem, and of an ending after it


def late_interaction(
    candidates: Candidates,
    vocabulary: Vocabulary,
    *,
    words: WordEmbedder,
    by_meaning: bool = False,
) -> None:
    """Sets `late_interaction` of the best candidates.

    Args:
        candidates: Their words and meanings are set.
        vocabulary: The words of the question.
        words: Compares words with texts.
        by_meaning: Whether the search is by meaning alone, so that no index gave the words of the candidates.
    """
    whole, rows = sum(vocabulary.weights), candidates.rows
    if not whole:
        return
    best = candidates.ordered(rows["words"] / whole + rows["cosine"])[:_MOST]
    texts = [candidates.texts[place] for place in best.tolist()]
    tokens = _tokens(texts, words)
    says = [bool(one) for one in tokens]
    best, texts = best[says], [*compress(texts, says)]
    if not texts:
        return
    query = [" ".join(terms_of(one.word)) for one in vocabulary.query_lexemes]
    nearest = words.compare_words(query, [*compress(tokens, says)])
    lacks = ~rows["lexemes"][best] >> np.arange(len(query))[:, None] & 1
    is_exact = np.array([any(map(str.isdigit, word)) for word in query])[:, None]
    near = nearest * (nearest >= _LEAST) * ~is_exact
    if by_meaning:
        forms = _have_forms([text.terms() for text in texts], vocabulary)
        near += forms * np.where(is_exact, 1, _FORM)
    weights = np.array(vocabulary.weights)[:, None]
    rows["late_interaction"][best] = (weights * near * lacks).sum(axis=0) / whole


def _tokens(texts: Sequence[CandidateText], words: WordEmbedder) -> Sequence[bytes]:
    """The tokens of each text, as they were stored with it; else of its words."""
    lacking = [text for text in texts if text.tokens is None]
    made = iter(words.tokenize([" ".join(text.terms()) for text in lacking]))
    return [next(made) if text.tokens is None else text.tokens for text in texts]


def _have_forms(texts: Collection[Collection[str]], vocabulary: Vocabulary) -> NDArray[np.bool_]:
    """Which texts have a form of each word of the question: shape `(words, texts)`."""
    known = {word for terms in texts for word in terms}
    forms = [_forms(known, one.lexemes) for one in vocabulary.query_lexemes]
    return np.array([[not each.isdisjoint(terms) for terms in texts] for each in forms])


def _forms(known: Collection[str], stems: Collection[str]) -> set[str]:
    found = set(stems).intersection(known)
    for stem in stems:
        if len(stem) >= _SHORTEST and stem.isalpha():
            begun = [word for word in known if word.startswith(stem)]
            found.update(word for word in begun if len(word) - len(stem) <= _ENDING)
    return found
