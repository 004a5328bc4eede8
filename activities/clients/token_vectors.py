"""The local embedder: the mean of a text's token vectors.

No network and no GPU: WordLlama's tokenizer and its 256-dimensional vectors are in its wheel. Source:
https://github.com/dleemiller/WordLlama. Its own `embed` pads each batch; adding up rows of one matrix
is twice as fast.
"""

import asyncio
import threading
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mnestic.memory.language import Embedded, TokenUsage

DIMENSIONS = 256
NAME = f"wordllama-{DIMENSIONS}"
_BATCH = 512
_LONGEST = 20_000  # characters of a text that count; a mean of more says less
_SHORT = 2000  # characters that are embedded at once, in a tenth of a millisecond
_WORDS = 30_000  # whose vectors are kept, 1 KB each
# Cosine with what tokens of other languages share from which a question is in one: 99 % of LoCoMo's are below.
_FOREIGN = 0.16
_SHARED = (
    3  # directions, a hundredth of the width. Source: Mu and Viswanath, All-but-the-Top, 2018.
)


class TokenVectorEmbedder:
    """Implements `mnestic.memory.ports.Embedder`."""

    name = NAME
    model = None
    batch = _BATCH

    async def embed(self, texts: Sequence[str]) -> Embedded:
        """See the port. The same text always has the same vector."""
        cut = [text[:_LONGEST] for text in texts]
        # A question takes less time than the way to a thread and back.
        is_short = sum(map(len, cut)) <= _SHORT
        vectors = _embed(cut) if is_short else await asyncio.to_thread(_embed, cut)
        none = TokenUsage(input_tokens=0, output_tokens=0)
        return Embedded(vectors=vectors, model=NAME, usage=none)

    def embed_words(self, words: Sequence[str]) -> NDArray[np.float32]:
        """See `mnestic.memory.ports.WordEmbedder`."""
        return _KEPT.vectors(words)

    def embed_foreign(
        self, text: str, *, telling: str, is_sure: bool = False
    ) -> NDArray[np.float32] | None:
        """See `mnestic.memory.ports.WordEmbedder`."""
        shared = _shared()
        whole, said = self.embed_words([text, telling])
        if not is_sure and shared[0] @ whole < _FOREIGN:
            return None
        return np.asarray(said - (shared @ said) @ shared, dtype="<f4")


class _KeptWords:
    """The vectors of words that were asked for, in one matrix; forgotten all at once when it is full."""

    def __init__(self) -> None:
        self._places: dict[str, int] = {}
        self._matrix = np.zeros((0, DIMENSIONS), dtype=np.float32)
        self._adding = threading.Lock()

    def vectors(self, words: Sequence[str]) -> NDArray[np.float32]:
        """Those of words, a row each."""
        with self._adding:
            places = [self._places.get(word, -1) for word in words]
            if -1 in places:
                self._add(words)
                places = [self._places[word] for word in words]
            return self._matrix[places]

    def _add(self, words: Sequence[str]) -> None:
        new = [word for word in dict.fromkeys(words) if word not in self._places]
        if len(self._places) + len(new) > _WORDS:
            self._places.clear()
            new = list(dict.fromkeys(words))
        first = len(self._places)
        last = first + len(new)
        if last > len(self._matrix):
            larger = np.zeros((max(last, 2 * len(self._matrix)), DIMENSIONS), dtype=np.float32)
            larger[:first] = self._matrix[:first]
            self._matrix = larger
        told = b"".join(_embed([word[:_LONGEST] for word in new]))
        self._matrix[first:last] = np.frombuffer(told, dtype="<f4").reshape(-1, DIMENSIONS)
        self._places |= {word: first + place for place, word in enumerate(new)}


_KEPT = _KeptWords()


def token_vectors(texts: Sequence[str]) -> list[np.ndarray[Any, np.dtype[np.float32]]]:
    """The vectors of each text's tokens, `(tokens, DIMENSIONS)` float32, longer the more telling one is."""
    tokenizer, matrix = _model()
    found = tokenizer.encode_batch_fast(list(texts), add_special_tokens=False)
    return [matrix[one.ids] for one in found]


@cache
def _model() -> tuple[Any, Any]:
    """The tokenizer and the matrix, a row a token; loaded once, in a fifth of a second."""
    import wordllama  # noqa: PLC0415 - a third of a second, which only who embeds pays

    model = wordllama.WordLlama.load(
        dim=DIMENSIONS, cache_dir=Path(wordllama.__file__).parent, disable_download=True
    )
    model.tokenizer.no_padding()
    model.tokenizer.no_truncation()
    return model.tokenizer, model.embedding.astype(np.float32)


@cache
def _shared() -> NDArray[np.float32]:
    """What tokens with letters of other languages than English have in common, the most common first.

    The model has hardly seen them, so that their vectors tell little but that they are foreign.

    Returns:
        Shape `(3, 256)`, orthonormal.
    """
    tokenizer, matrix = _model()
    places = [
        place
        for token, place in tokenizer.get_vocab().items()
        if any(letter.isalpha() and not letter.isascii() for letter in token)
    ]
    rows = matrix[places]
    rows = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    _, directions = np.linalg.eigh(rows.T @ rows)
    shared = directions.T[::-1][:_SHARED]
    return np.asarray(shared * np.sign(shared @ rows.mean(axis=0))[:, None], dtype=np.float32)


def _embed(texts: Sequence[str]) -> tuple[bytes, ...]:
    tokenizer, matrix = _model()
    told = np.zeros((len(texts), DIMENSIONS), dtype="<f4")
    tokens = [
        found.ids for found in tokenizer.encode_batch_fast(list(texts), add_special_tokens=False)
    ]
    said = [index for index, ids in enumerate(tokens) if ids]
    if not said:
        return tuple(row.tobytes() for row in told)
    lengths = [len(tokens[index]) for index in said]
    rows = matrix[np.concatenate([tokens[index] for index in said])]
    starts = np.concatenate(([0], np.cumsum(lengths)[:-1]))
    sums = np.add.reduceat(rows, starts, axis=0)
    told[said] = sums / np.maximum(np.linalg.norm(sums, axis=1, keepdims=True), 1e-9)
    return tuple(row.tobytes() for row in told)
