"""The local embedder: the mean of a text's token vectors.

No network and no GPU: WordLlama's tokenizer and its 256-dimensional vectors are in its wheel. Source:
https://github.com/dleemiller/WordLlama. Its own `embed` pads each batch; adding up rows of one matrix
is twice as fast.
"""

import asyncio
import threading
from collections.abc import Callable, Sequence
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mnestic.memory.models.messages import Embeddings, TokenUsage

DIMENSIONS = 256
NAME = f"wordllama-{DIMENSIONS}"
_WEIGHTS = f"weights/l2_supercat_{DIMENSIONS}.safetensors"  # in WordLlama's package
_TOKENIZER = "tokenizers/l2_supercat_tokenizer_config.json"
_BATCH = 512
_STORED = np.dtype("<u2")  # a token, of which there are 32,000; entries have theirs stored so
_LONGEST = 20_000  # characters of a text that count; a mean of more says less
_SHORT = 2000  # characters that are embedded at once, in a tenth of a millisecond
_FEW_RANGES = 8  # of tokens, which are added up one by one
_FEW = 100  # texts that are not worth waking the tokenizer's threads, which may wait for a core
# Cosine with what tokens of other languages share from which a question is in one: 99 % of LoCoMo's are below.
_FOREIGN = 0.16
_SPACE = "\u2581"  # before a token that begins a word
_SHARED = 3  # directions, a hundredth of the width. Source: Mu and Viswanath, All-but-the-Top, 2018
# Found by orthogonal iteration, as all directions together have BLAS wake and await its threads hundreds of times, for a
# second where others need the cores. One more than is asked for, which speeds it up; so often that they stay as they are.
_ITERATED, _ITERATIONS = _SHARED + 1, 60


class TokenVectorEmbedder:
    """Implements `mnestic.memory.ports.Embedder`."""

    name = NAME
    model = None
    batch = _BATCH

    async def embed(self, texts: Sequence[str]) -> Embeddings:
        """See the port. The same text always has the same vector."""
        cut = [text[:_LONGEST] for text in texts]
        # A question takes less time than the way to a thread and back.
        is_short = sum(map(len, cut)) <= _SHORT and _loaded.cache_info().currsize
        vectors = _embed(cut) if is_short else await asyncio.to_thread(_embed, cut)
        none = TokenUsage(input_tokens=0, output_tokens=0)
        embedded = tuple(vector.tobytes() for vector in vectors)
        return Embeddings(vectors=embedded, model=NAME, usage=none)

    def tokenize(self, texts: Sequence[str]) -> list[bytes]:
        """See `mnestic.memory.ports.WordEmbedder`."""
        return [np.array(ids, dtype=_STORED).tobytes() for ids in _tokens(texts)]

    def compare_words(self, words: Sequence[str], texts: Sequence[bytes]) -> NDArray[np.float32]:
        """See `mnestic.memory.ports.WordEmbedder`."""
        tokens = np.frombuffer(b"".join(texts), _STORED).astype(np.intp)
        first = np.cumsum([0, *map(len, texts[:-1])]) // _STORED.itemsize
        starts, word_of, vectors = _words(tokens, first)
        # Numkong, as BLAS wakes and awaits its threads for a product of this size.
        cosines = np.asarray(_model().cdist(vectors, _embed(words), "dot"), dtype=np.float32)
        return np.maximum.reduceat(cosines[word_of], np.searchsorted(starts, first), axis=0).T

    def embed_foreign(
        self, text: str, *, content: str, is_sure: bool = False
    ) -> NDArray[np.float32] | None:
        """See `mnestic.memory.ports.WordEmbedder`."""
        shared = _shared()
        whole, of_content = _embed([text[:_LONGEST], content[:_LONGEST]])
        if not is_sure and shared[0] @ whole < _FOREIGN:
            return None
        return np.asarray(of_content - (shared @ of_content) @ shared, dtype="<f4")


_LOADING = threading.Lock()


def token_vectors(texts: Sequence[str]) -> list[np.ndarray[Any, np.dtype[np.float32]]]:
    """The vectors of each text's tokens, `(tokens, DIMENSIONS)` float32, longer the more telling one is."""
    matrix = _model().matrix
    return [matrix[ids] for ids in _tokens(texts)]


class _Model(NamedTuple):
    """A tokenizer, and what is known of its tokens, in their order.

    `matrix` has a vector for each, `codes` a random number, and `begins` whether a word begins with it. `cdist` compares vectors.
    """

    tokenizer: Any
    matrix: NDArray[np.float32]
    codes: NDArray[np.uint64]
    begins: NDArray[np.bool_]
    cdist: Callable[..., Any]


def _model() -> _Model:
    """The model; whoever comes while it is loaded waits for that."""
    with _LOADING:
        return _loaded()


@cache
def _loaded() -> _Model:
    """The model, loaded once, in a tenth of a second.

    The files are read without WordLlama's own code: that imports an HTTP client, which takes three times as long, and
    configures the logging of the whole process.
    """
    from numkong import cdist  # noqa: PLC0415 - only who embeds needs them
    from safetensors.numpy import load_file  # noqa: PLC0415 - likewise
    from tokenizers import Tokenizer  # noqa: PLC0415 - likewise

    spec = find_spec("wordllama")
    assert spec is not None, "wordllama is not installed"
    assert spec.origin is not None, "wordllama has no files"
    folder = Path(spec.origin).parent
    tokenizer = Tokenizer.from_file(str(folder / _TOKENIZER))
    tokenizer.no_padding()
    tokenizer.no_truncation()
    matrix = load_file(folder / _WEIGHTS)["embedding.weight"].astype(np.float32)
    places = tokenizer.get_vocab()
    tokens = sorted(places, key=places.__getitem__)
    return _Model(
        tokenizer,
        matrix,
        codes=np.random.default_rng(seed=0).integers(2**64, size=len(matrix), dtype=np.uint64),
        begins=np.array([token.startswith(_SPACE) for token in tokens]),
        cdist=cdist,
    )


@cache
def _shared() -> NDArray[np.float32]:
    """What tokens with letters of other languages than English have in common, the most common first.

    The model has hardly seen them, so that their vectors tell little but that they are foreign. It is worked out once, for
    the first question that may be in another language, in a tenth of a second.

    Returns:
        Shape `(3, 256)`, orthonormal.
    """
    tokenizer, matrix = _model().tokenizer, _model().matrix
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


def _words(
    tokens: NDArray[np.intp], first: NDArray[np.intp]
) -> tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.float32]]:
    """The words of texts: where each begins, and of the distinct ones which it is, and their vectors.

    Args:
        tokens: Those of all texts, one after the other.
        first: Where each text begins.
    """
    model = _model()
    begins = model.begins[tokens]
    begins[first] = True
    starts = np.flatnonzero(begins)
    lengths = np.diff(starts, append=len(tokens))
    # A vector is the sum of its tokens' in any order, and so is what tells words apart.
    codes = np.add.reduceat(model.codes[tokens], starts)
    _, one, word_of = np.unique(codes, return_index=True, return_inverse=True)
    ends = np.cumsum(lengths[one])
    places = np.arange(ends[-1]) + np.repeat(starts[one] + lengths[one] - ends, lengths[one])
    return starts, word_of, _means(tokens[places], lengths[one])


def _embed(texts: Sequence[str]) -> NDArray[np.float32]:
    """The vectors of texts, a row each; 0 of one without tokens."""
    embedded = np.zeros((len(texts), DIMENSIONS), dtype="<f4")
    tokens = _tokens(texts)
    lengths = np.array([len(ids) for ids in tokens], dtype=np.intp)
    says = lengths > 0
    if not says.any():
        return embedded
    embedded[says] = _means(np.array([place for ids in tokens for place in ids]), lengths[says])
    return embedded


def _means(tokens: NDArray[Any], lengths: NDArray[np.intp]) -> NDArray[np.float32]:
    """The directions of the means of tokens that follow each other, so many each, one at least.

    Most words are of a token or two, so these are added by their places, which takes a third of adding up each range.
    """
    matrix = _model().matrix
    starts = np.cumsum(lengths) - lengths
    sums = matrix[tokens[starts]]
    for place in range(1, int(lengths.max(initial=1))):
        longer = np.flatnonzero(lengths > place)
        if len(longer) < _FEW_RANGES:
            for one in longer.tolist():
                sums[one] += matrix[tokens[starts[one] + place : starts[one] + lengths[one]]].sum(
                    axis=0
                )
            break
        sums[longer] += matrix[tokens[starts[longer] + place]]
    return np.asarray(sums / np.maximum(np.linalg.norm(sums, axis=1, keepdims=True), 1e-9))
