"""The local reranker: each word of a question beside the word of a text that is nearest to it.

The mean of an embedder's token vectors tells what a text is about, and this which of its words answer to which of the
question's. Source: late interaction (MaxSim) of ColBERT, Khattab and Zaharia, 2020, over static vectors.
"""

import asyncio
from collections.abc import Sequence
from typing import Any

import numpy as np

from mnestic.activities.clients.token_vectors import NAME, token_vectors
from mnestic.memory.models.messages import RerankScores, TokenUsage

_Matrix = np.ndarray[Any, np.dtype[np.float32]]
_LONGEST = 20_000  # characters of a text that count
_LEAST, _FULL = 0.4, 0.9  # mean cosine that says nothing, and that says all


class TokenMatchReranker:
    """Implements `mnestic.memory.retrieval.ports.Reranker`."""

    name = f"{NAME}-matching"
    model = None

    async def rerank(self, question: str, texts: Sequence[str]) -> RerankScores:
        """See the port. The same question and text always have the same relevance."""
        relevances = await asyncio.to_thread(_relevances, question, texts)
        none = TokenUsage(input_tokens=0, output_tokens=0)
        return RerankScores(relevances=relevances, model=self.name, usage=none)


def _relevances(question: str, texts: Sequence[str]) -> tuple[float, ...]:
    """The mean, over the question's tokens by how telling each is, of the best cosine in the text."""
    query, *documents = token_vectors([text[:_LONGEST] for text in (question, *texts)])
    weights = np.linalg.norm(query, axis=1)  # that of *the* is a tenth of that of *invoice*
    if not weights.sum():
        return (0.0,) * len(documents)
    directions = _directions(query)
    return tuple(
        _relevance(float(weights @ _best(directions, one) / weights.sum())) if len(one) else 0.0
        for one in documents
    )


def _best(directions: _Matrix, text: _Matrix) -> _Matrix:
    """The best cosine that each of the question's tokens has in a text."""
    best: _Matrix = (directions @ _directions(text).T).max(axis=1)
    return best


def _relevance(mean: float) -> float:
    return min(1.0, max(0.0, (mean - _LEAST) / (_FULL - _LEAST)))


def _directions(vectors: _Matrix) -> _Matrix:
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.asarray(vectors / np.maximum(lengths, 1e-9), dtype=np.float32)
