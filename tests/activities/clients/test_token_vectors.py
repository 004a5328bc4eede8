"""The local embedder."""

import asyncio
from pathlib import Path

import numpy as np
import pytest
import wordllama
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mnestic.activities.clients.token_vectors import (
    DIMENSIONS,
    NAME,
    TokenVectorEmbedder,
    token_vectors,
)

CAT = "My cat sleeps on the window sill."
KITTEN = "A kitten is lying by the window."
TAX = "The tax office asks for last year's invoices."


def vectors(*texts: str) -> np.ndarray:
    embedded = asyncio.run(TokenVectorEmbedder().embed(texts))
    assert embedded.model == NAME
    return np.array([np.frombuffer(vector, "<f4") for vector in embedded.vectors])


def test_the_model_is_the_one_that_wordllama_loads() -> None:
    folder = Path(wordllama.__file__).parent
    theirs = wordllama.WordLlama.load(dim=DIMENSIONS, cache_dir=folder, disable_download=True)

    embedder = TokenVectorEmbedder()
    (stored,) = embedder.tokenize([TAX])
    (ours,) = token_vectors([TAX])

    theirs.tokenizer.no_padding()
    tokens = np.frombuffer(stored, "<u2").tolist()
    assert tokens == theirs.tokenizer.encode(TAX, add_special_tokens=False).ids
    assert np.array_equal(ours, theirs.embedding[tokens].astype(np.float32))


def test_tokens_are_those_that_entries_have_been_stored_with() -> None:
    (tokens,) = TokenVectorEmbedder().tokenize(["decanter barolo"])

    assert (
        tokens.hex() == "42061f39220ad70d"
    )  # whoever changes them changes the column `tokens` too


@settings(deadline=None, max_examples=30, suppress_health_check=[HealthCheck.too_slow])
@given(
    st.lists(st.text(min_size=1, max_size=12), min_size=1, max_size=3),
    st.lists(
        st.sampled_from([CAT, KITTEN, TAX, "lamp", "\u5bcc\u58eb\u5c71"]), min_size=1, max_size=5
    ),
)
def test_words_are_compared_with_each_text_by_itself(words: list[str], texts: list[str]) -> None:
    embedder = TokenVectorEmbedder()
    tokens = embedder.tokenize(texts)

    together = embedder.compare_words(words, tokens)

    alone = [embedder.compare_words(words, [one]) for one in tokens]
    assert together == pytest.approx(np.concatenate(alone, axis=1), abs=1e-5)


@pytest.mark.parametrize("text", ["", "   "])
def test_a_text_without_words_has_no_direction(text: str) -> None:
    (vector,) = vectors(text)

    assert np.linalg.norm(vector) in (0, pytest.approx(1, abs=1e-5))
    assert vector.shape == (DIMENSIONS,)
    assert vectors().shape == (0,)


@settings(deadline=None, max_examples=30, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(st.text(max_size=60), min_size=1, max_size=8))
def test_a_text_has_the_same_vector_in_any_company(texts: list[str]) -> None:
    together = vectors(*texts)

    alone = np.concatenate([vectors(text) for text in texts])
    assert np.allclose(together, alone, atol=1e-5)
    lengths = np.linalg.norm(together, axis=1)
    assert np.all((np.abs(lengths - 1) < 1e-4) | (lengths == 0))
