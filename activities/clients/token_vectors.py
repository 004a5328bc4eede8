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
from typing import Any, NamedTuple

import numkong
import numpy as np
from numpy.typing import NDArray

from mnestic.memory.language import Embedded, TokenUsage

DIMENSIONS = 256
NAME = f"wordllama-{DIMENSIONS}"
_BATCH = 512
_LONGEST = 20_000  # characters of a text that count; a mean of more says less
_SHORT = 2000  # characters that are embedded at once, in a tenth of a millisecond
_FEW = 100  # texts that are not worth waking the tokenizer's threads, which may wait for a core
_WORDS = 30_000  # whose vectors are kept, half a KB each
_SAID = 500_000  # words of texts, whose places are kept, some 30 bytes each
_AHEAD = 2 / 3  # of both, what is prepared ahead; what is asked for has the rest
# Cosine with what tokens of other languages share from which a question is in one: 99 % of LoCoMo's are below.
_FOREIGN = 0.16
_SHARED = 3  # directions, a hundredth of the width. Source: Mu and Viswanath, All-but-the-Top, 2018
# Found by orthogonal iteration, as all directions together have BLAS wake and await its threads hundreds of times, for a
# second where others need the cores. One more than is asked for, which speeds it up; so often that they stay as they are.
_ITERATED, _ITERATIONS = _SHARED + 1, 60


class TokenVectorEmbedder:
    """Implements `mnestic.memory.ports.Embedder`."""

    name = NAME
    model = None
    batch = _BATCH

    async def embed(self, texts: Sequence[str]) -> Embedded:
        """See the port. The same text always has the same vector."""
        cut = [text[:_LONGEST] for text in texts]
        # A question takes less time than the way to a thread and back.
        is_short = sum(map(len, cut)) <= _SHORT and _loaded.cache_info().currsize
        vectors = _embed(cut) if is_short else await asyncio.to_thread(_embed, cut)
        none = TokenUsage(input_tokens=0, output_tokens=0)
        told = tuple(vector.tobytes() for vector in vectors)
        return Embedded(vectors=told, model=NAME, usage=none)

    def compare_words(
        self, asked: Sequence[str], said: Sequence[tuple[str, ...]]
    ) -> NDArray[np.float32]:
        """See `mnestic.memory.ports.WordEmbedder`."""
        return _KEPT.compare(asked, said)

    def prepare_words(self, said: tuple[str, ...]) -> None:
        """See `mnestic.memory.ports.WordEmbedder`."""
        _KEPT.prepare(said)

    def embed_foreign(
        self, text: str, *, telling: str, is_sure: bool = False
    ) -> NDArray[np.float32] | None:
        """See `mnestic.memory.ports.WordEmbedder`."""
        shared = _model().shared
        whole, said = _embed([text[:_LONGEST], telling[:_LONGEST]])
        if not is_sure and shared[0] @ whole < _FOREIGN:
            return None
        return np.asarray(said - (shared @ said) @ shared, dtype="<f4")


class _KeptWords:
    """The vectors of words that were asked for or prepared, in one matrix of halves; forgotten all at once when it is full.

    The places of a text's words are kept too, as texts are compared with many a question; by the hash of the words, so
    that no whole text stays here once it is gone.
    """

    def __init__(self) -> None:
        self._places: dict[str, int] = {}
        self._texts: dict[int, NDArray[np.int32]] = {}
        self._said = 0
        self._matrix = np.zeros((0, DIMENSIONS), dtype=np.float16)
        self._comparing = threading.Lock()

    def compare(self, asked: Sequence[str], said: Sequence[tuple[str, ...]]) -> NDArray[np.float32]:
        """See `WordEmbedder.compare_words`."""
        with self._comparing:
            texts = self._add(asked, said)
            all_said = np.concatenate(texts)
            is_said = np.zeros(len(self._places), dtype=bool)
            is_said[all_said] = True
            words = np.flatnonzero(is_said)
            of_asked = self._matrix[[self._places[word] for word in asked]]
            products = numkong.cdist(self._matrix[words], of_asked, "dot")
        row_of = np.empty(len(is_said), dtype=np.intp)
        row_of[words] = np.arange(len(words))
        cosines = np.asarray(products, dtype=np.float32)[row_of[all_said]]
        starts = np.cumsum([0, *map(len, texts[:-1])])
        return np.maximum.reduceat(cosines, starts, axis=0).T

    def prepare(self, said: tuple[str, ...]) -> None:
        """See `WordEmbedder.prepare_words`."""
        with self._comparing:
            words, places = len(self._places) + len(said), self._said + len(said)
            if words <= _AHEAD * _WORDS and places <= _AHEAD * _SAID:
                self._add((), [said])

    def _add(
        self, asked: Sequence[str], said: Sequence[tuple[str, ...]]
    ) -> list[NDArray[np.int32]]:
        """Has all of these words and texts kept; returns the places of each text's words."""
        kept = [self._texts.get(hash(terms)) for terms in said]  # once each: it looks at all words
        texts = [terms for terms, places in zip(said, kept, strict=True) if places is None]
        words = dict.fromkeys((*asked, *(word for terms in texts for word in terms)))
        new = [word for word in words if word not in self._places]
        if len(self._places) + len(new) > _WORDS or self._said + sum(map(len, texts)) > _SAID:
            self._places.clear()
            self._texts.clear()
            self._said, kept = 0, [None] * len(said)
            words = dict.fromkeys((*asked, *(word for terms in said for word in terms)))
            new = list(words)
        if new:
            first, last = len(self._places), len(self._places) + len(new)
            if last > len(self._matrix):
                larger = np.zeros((max(last, 2 * len(self._matrix)), DIMENSIONS), dtype=np.float16)
                larger[:first] = self._matrix[:first]
                self._matrix = larger
            self._matrix[first:last] = _embed([word[:_LONGEST] for word in new])
            self._places.update(zip(new, range(first, last), strict=True))
        return [
            self._keep(terms) if places is None else places
            for terms, places in zip(said, kept, strict=True)
        ]

    def _keep(self, terms: tuple[str, ...]) -> NDArray[np.int32]:
        places = np.array([self._places[word] for word in terms], dtype=np.int32)
        self._texts[hash(terms)] = places
        self._said += len(terms)
        return places


_KEPT = _KeptWords()
_LOADING = threading.Lock()


def token_vectors(texts: Sequence[str]) -> list[np.ndarray[Any, np.dtype[np.float32]]]:
    """The vectors of each text's tokens, `(tokens, DIMENSIONS)` float32, longer the more telling one is."""
    matrix = _model().matrix
    return [matrix[ids] for ids in _tokens(texts)]


class _Model(NamedTuple):
    """A tokenizer, the matrix of its tokens, a row each, and what those of other languages than English have in common."""

    tokenizer: Any
    matrix: NDArray[np.float32]
    shared: NDArray[np.float32]


def _model() -> _Model:
    """The model; whoever comes while it is loaded waits for that."""
    with _LOADING:
        return _loaded()


@cache
def _loaded() -> _Model:
    """The model, loaded once, in half a second; what some question needs is worked out then, so that none waits for it later."""
    import wordllama  # noqa: PLC0415 - a third of a second, which only who embeds pays

    model = wordllama.WordLlama.load(
        dim=DIMENSIONS, cache_dir=Path(wordllama.__file__).parent, disable_download=True
    )
    model.tokenizer.no_padding()
    model.tokenizer.no_truncation()
    matrix = model.embedding.astype(np.float32)
    return _Model(model.tokenizer, matrix, _shared(model.tokenizer, matrix))


def _shared(tokenizer: Any, matrix: NDArray[np.float32]) -> NDArray[np.float32]:
    """What tokens with letters of other languages than English have in common, the most common first.

    The model has hardly seen them, so that their vectors tell little but that they are foreign.

    Returns:
        Shape `(3, 256)`, orthonormal.
    """
    places = [
        place
        for token, place in tokenizer.get_vocab().items()
        if any(letter.isalpha() and not letter.isascii() for letter in token)
    ]
    rows = matrix[places]
    rows = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    shares = rows.T.astype(float) @ rows
    found = np.eye(DIMENSIONS, _ITERATED)
    for _ in range(_ITERATIONS):
        found, _ = np.linalg.qr(shares @ found)
    _, directions = np.linalg.eigh(found.T @ shares @ found)
    shared = (found @ directions).T[::-1][:_SHARED]
    return np.asarray(shared * np.sign(shared @ rows.mean(axis=0))[:, None], dtype=np.float32)


def _tokens(texts: Sequence[str]) -> list[list[int]]:
    """The tokens of each text."""
    tokenizer = _model().tokenizer
    if len(texts) <= _FEW or sum(map(len, texts)) <= _SHORT:
        found = [tokenizer.encode(text, add_special_tokens=False) for text in texts]
    else:
        found = tokenizer.encode_batch_fast(list(texts), add_special_tokens=False)
    return [one.ids for one in found]


def _embed(texts: Sequence[str]) -> NDArray[np.float32]:
    """The vectors of texts, a row each; 0 of one without tokens."""
    matrix = _model().matrix
    told = np.zeros((len(texts), DIMENSIONS), dtype="<f4")
    tokens = _tokens(texts)
    lengths = np.array([len(ids) for ids in tokens], dtype=np.intp)
    says = lengths > 0
    if not says.any():
        return told
    rows = matrix[[place for ids in tokens for place in ids]]
    starts = np.cumsum(lengths[says]) - lengths[says]
    sums = np.add.reduceat(rows, starts, axis=0)
    told[says] = sums / np.maximum(np.linalg.norm(sums, axis=1, keepdims=True), 1e-9)
    return told
