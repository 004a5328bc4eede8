"""The plain searches that retrieval is measured against, over the same entries and vectors.

They read the tables themselves, so that what they find cannot be better or worse for what retrieval does.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Self

import numpy as np
import psycopg
from numpy.typing import NDArray

from benchmarks.statements import read_statements

_K1, _B = 1.2, 0.75  # Source: Robertson and Zaragoza, 2009
_FIRST = 60  # of reciprocal ranks. Source: Cormack, Clarke and Büttcher, 2009
_LISTED = 100  # of each list that is fused

_STATEMENTS = read_statements(Path(__file__).with_suffix(".sql"))


class PlainIndex:
    """An agent's entries in the memory of this process."""

    def __init__(
        self,
        names: Sequence[str],
        *,
        scores: Mapping[str, tuple[NDArray[np.intp], NDArray[np.float64]]],
        vectors: NDArray[np.float32],
    ) -> None:
        """`scores` holds for each lexeme the places of its entries, and what it adds to each."""
        self._names, self._scores, self._vectors = names, scores, vectors

    @classmethod
    async def load(
        cls, connection: psycopg.AsyncConnection, *, tenant_id: str, agent_id: str, model: str
    ) -> Self:
        """Reads the entries with their words, and their vectors of a model; one without has none."""
        values = {"tenant_id": tenant_id, "agent_id": agent_id, "model": model}
        entries = await (await connection.execute(_STATEMENTS["list_entries"], values)).fetchall()
        place = {number: index for index, (number, _, _) in enumerate(entries)}
        postings = await (await connection.execute(_STATEMENTS["list_postings"], values)).fetchall()
        stored = await (await connection.execute(_STATEMENTS["list_vectors"], values)).fetchall()
        vectors = np.zeros((len(entries), len(stored[0][1]) if stored else 0), np.float32)
        for number, vector in stored:
            vectors[place[number]] = vector
        return cls(
            [name for _, name, _ in entries],
            scores=_bm25(
                [(lexeme, place[number], frequency) for lexeme, number, frequency in postings],
                lengths=np.array([length for _, _, length in entries], np.float64),
            ),
            vectors=vectors,
        )

    def rank(self, lexemes: Sequence[str], vector: bytes) -> dict[str, list[str]]:
        """The source ids of what each search finds, the best first.

        Args:
            lexemes: Those of the question.
            vector: The question's, as embedders give it.
        """
        words = np.zeros(len(self._names))
        for lexeme in lexemes:
            where, added = self._scores.get(lexeme, (np.empty(0, np.intp), np.empty(0)))
            words[where] += added
        by_words = [each for each in np.argsort(-words, kind="stable") if words[each] > 0]
        cosines = self._vectors @ np.frombuffer(vector, "<f4")
        by_meaning = list(np.argsort(-cosines, kind="stable"))
        fused: defaultdict[int, float] = defaultdict(float)
        for ranking in (by_words, by_meaning):
            for rank, each in enumerate(ranking[:_LISTED], start=1):
                fused[each] += 1 / (_FIRST + rank)
        by_ranks = sorted(fused, key=lambda each: -fused[each])
        return {
            "bm25": [self._names[each] for each in by_words],
            "vectors": [self._names[each] for each in by_meaning],
            "rank_fusion": [self._names[each] for each in by_ranks],
        }


async def lexemes_of(connection: psycopg.AsyncConnection, question: str) -> list[str]:
    """The lexemes of a question, as entries are indexed by them."""
    row = await (await connection.execute(_STATEMENTS["list_lexemes"], [question])).fetchone()
    assert row is not None
    return list(row[0])


def _bm25(
    postings: Sequence[tuple[str, int, int]], *, lengths: NDArray[np.float64]
) -> dict[str, tuple[NDArray[np.intp], NDArray[np.float64]]]:
    """The score that each lexeme adds to its entries."""
    by_lexeme: defaultdict[str, list[tuple[int, int]]] = defaultdict(list)
    for lexeme, place, frequency in postings:
        by_lexeme[lexeme].append((place, frequency))
    norms = _K1 * (1 - _B + _B * lengths / max(lengths.mean(), 1)) if len(lengths) else lengths
    scores = {}
    for lexeme, entries in by_lexeme.items():
        where = np.array([place for place, _ in entries], np.intp)
        frequencies = np.array([frequency for _, frequency in entries], np.float64)
        idf = np.log(1 + (len(lengths) - len(entries) + 0.5) / (len(entries) + 0.5))
        scores[lexeme] = where, idf * frequencies * (_K1 + 1) / (frequencies + norms[where])
    return scores
