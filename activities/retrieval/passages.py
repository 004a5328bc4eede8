"""Passages: the meaning of a long entry is that of its best sentence near the words of the query.

The sources have one vector for each entry, and the mean of a long text is near to nothing.
"""

from collections.abc import Sequence

import numpy as np

from mnestic.memory.language.sentences import split_sentences
from mnestic.memory.long_texts import work_on
from mnestic.memory.ports import Embedder
from mnestic.memory.retrieval.candidates import Candidates


async def compare_passages(
    candidates: Candidates, *, vector: bytes | None, embedder: Embedder
) -> None:
    """Raises `cosine` of candidates with a passage to that of its best sentence.

    It is for local embedders alone, as a server would be asked for vectors during each search.

    Args:
        candidates: Their cosines are set.
        vector: The vector of the query, if it has one.
        embedder: The embedder of that vector.
    """
    if vector is None or embedder.model is not None:
        return
    contents = (text.content for text in candidates.texts)
    sentences = await work_on(contents, lambda: _sentences(candidates))
    if not sentences:
        return
    every = [one for found in sentences.values() for one in found]
    vectors = np.frombuffer(b"".join((await embedder.embed(every)).vectors), "<f4")
    cosines = vectors.reshape(len(every), -1) @ np.frombuffer(vector, "<f4")
    first = np.cumsum([0, *map(len, sentences.values())])[:-1]
    places, cosine = [*sentences], candidates.rows["cosine"]
    cosine[places] = np.maximum(cosine[places], np.maximum.reduceat(cosines, first))


def _sentences(candidates: Candidates) -> dict[int, Sequence[str]]:
    """The sentences of each passage, by the place of its candidate."""
    return {
        place: found
        for place, text in enumerate(candidates.texts)
        if text.passage and (found := split_sentences(text.passage))
    }
