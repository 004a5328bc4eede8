"""The local embedder."""

import asyncio

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mnestic.activities.clients.token_vectors import (
    DIMENSIONS,
    NAME,
    TokenVectorEmbedder,
    _KeptWords,
)

CAT = "My cat sleeps on the window sill."
KITTEN = "A kitten is lying by the window."
TAX = "The tax office asks for last year's invoices."


def vectors(*texts: str) -> np.ndarray:
    embedded = asyncio.run(TokenVectorEmbedder().embed(texts))
    assert embedded.model == NAME
    return np.array([np.frombuffer(vector, "<f4") for vector in embedded.vectors])


def test_what_means_the_same_is_nearer_than_what_does_not() -> None:
    cat, kitten, tax = vectors(CAT, KITTEN, TAX)

    assert cat @ kitten > 2 * (cat @ tax)


def test_a_word_is_as_near_to_a_text_as_to_the_nearest_of_its_words() -> None:
    embedder = TokenVectorEmbedder()
    texts = [("lamp", "physician"), ("lamp",), ("doctor", "lamp", "lamp")]

    doctor, nothing = embedder.compare_words(["doctor", ""], texts)
    again, _ = embedder.compare_words(["doctor", ""], texts[::-1])

    assert doctor[0] > 0.5 + doctor[1]
    assert doctor[2] == pytest.approx(1, abs=2e-4)
    assert not nothing.any()
    assert again == pytest.approx(doctor[::-1])


def test_more_words_than_are_kept_are_compared_as_well(monkeypatch: pytest.MonkeyPatch) -> None:
    embedder = TokenVectorEmbedder()
    texts = [(f"word{number}", f"lamp{number}") for number in range(9)]
    whole = embedder.compare_words(["lamp"], texts)
    monkeypatch.setattr("mnestic.activities.clients.token_vectors._WORDS", 6)

    parts = [embedder.compare_words(["lamp"], texts[first : first + 2]) for first in range(0, 8, 2)]

    assert np.concatenate(parts, axis=1) == pytest.approx(whole[:, :8])


def test_words_that_are_prepared_are_compared_as_others_are(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    texts = [(f"boat{number}", f"harbour{number}") for number in range(9)]
    whole = TokenVectorEmbedder().compare_words(["boat"], texts)
    kept = _KeptWords()
    monkeypatch.setattr("mnestic.activities.clients.token_vectors._WORDS", 15)

    for text in texts:
        kept.prepare(text)
    held = dict(kept._places)
    first = kept.compare(["boat"], texts[:5])

    assert list(held) == [word for text in texts[:5] for word in text]  # two thirds of the place
    assert {word: kept._places[word] for word in held} == held
    assert first == pytest.approx(whole[:, :5])


@pytest.mark.parametrize(
    ("question", "other"),
    [
        ("Wo kann ich ein Fahrrad mieten?", "Die Apotheke hat sonntags bis zwölf Uhr geöffnet."),
        ("¿Quién ganó el campeonato?", "El autobús sale cada hora desde la plaza mayor."),
        ("Quel temps fera-t-il demain ?", "Nos chats dorment toujours sur le radiateur."),
        ("Сколько стоит билет в театр?", "Поезда в Казань отправляются вечером."),
        ("富士山の高さは", "市立図書館は月曜日が休館日です。"),
    ],
)
def test_texts_are_not_alike_for_being_in_another_language(question: str, other: str) -> None:
    as_text, entry = vectors(question, other)

    asked = TokenVectorEmbedder().embed_foreign(question, telling=question)

    assert asked is not None
    assert asked @ entry < as_text @ entry - 0.03


@pytest.mark.parametrize("question", [CAT, KITTEN, TAX, "Where is the boat?", "invoices", ""])
def test_a_question_in_english_is_none_of_another_language(question: str) -> None:
    assert TokenVectorEmbedder().embed_foreign(question, telling=question) is None


@pytest.mark.parametrize("text", ["", "   "])
def test_a_text_without_words_has_no_direction(text: str) -> None:
    (vector,) = vectors(text)

    assert np.linalg.norm(vector) in (0, pytest.approx(1, abs=1e-5))
    assert vector.shape == (DIMENSIONS,)


def test_no_texts_have_no_vectors() -> None:
    assert vectors().shape == (0,)


@settings(deadline=None, max_examples=30, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(st.text(max_size=60), min_size=1, max_size=8))
def test_a_text_has_the_same_vector_in_any_company(texts: list[str]) -> None:
    together = vectors(*texts)

    alone = np.concatenate([vectors(text) for text in texts])
    assert np.allclose(together, alone, atol=1e-5)
    lengths = np.linalg.norm(together, axis=1)
    assert np.all((np.abs(lengths - 1) < 1e-4) | (lengths == 0))
