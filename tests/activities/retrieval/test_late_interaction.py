"""Late interaction: words of a question beside the tokens of entries that lack them."""

from datetime import UTC, datetime

import pytest

from mnestic.activities.clients.token_vectors import TokenVectorEmbedder
from mnestic.activities.retrieval.late_interaction import late_interaction
from mnestic.memory.retrieval.search import QueryLexeme, Vocabulary
from tests.memory.retrieval.candidate_samples import Sample, candidates

NOON = datetime(2026, 3, 4, 12, tzinfo=UTC)
ASKED = Vocabulary(query_lexemes=(QueryLexeme(("decant",), 2.0, is_known=True, word="decanting"),))


def alike(content: str, *, by_meaning: bool = False, lexemes: int = 0) -> float:
    said = tuple(content.split())
    sample = Sample(number=1, at=NOON, cosine=0.2, lexemes=lexemes, said=said, content=content)
    found = candidates([sample])
    late_interaction(found, ASKED, words=TokenVectorEmbedder(), by_meaning=by_meaning)
    return float(found.rows["late_interaction"][0])


def test_an_entry_comes_near_a_word_that_it_lacks_by_another() -> None:
    assert alike("decanter") > 0.3
    assert alike("the invoice is due") == alike("") == 0
    assert alike("decanting barolo", lexemes=1) == 0  # it has the word


def test_the_tokens_that_are_stored_with_an_entry_count_and_not_its_words() -> None:
    words = TokenVectorEmbedder()
    tokens = words.tokenize(["decanter", "the invoice is due", ""])
    said = ("barolo",)
    stored = [
        Sample(number=number, at=NOON, said=said, tokens=its)
        for number, its in enumerate([*tokens, None])
    ]
    found = candidates(stored)

    late_interaction(found, ASKED, words=words)

    by_number = dict(
        zip(found.rows["number"].tolist(), found.rows["late_interaction"].tolist(), strict=True)
    )
    assert by_number[0] == pytest.approx(alike("decanter"))
    assert by_number[1] == by_number[2] == 0
    assert by_number[3] == pytest.approx(alike("barolo"))


@pytest.mark.parametrize("by_meaning", [False, True])
def test_a_word_with_figures_is_the_same_or_another(by_meaning: bool) -> None:
    asked = Vocabulary(
        query_lexemes=(QueryLexeme(("x8842172",), 2.0, is_known=True, word="x8842172"),)
    )
    said = ("x8842171", "x88421725", "x8842172")
    found = candidates(Sample(number=n, at=NOON, said=(one,)) for n, one in enumerate(said))

    late_interaction(found, asked, words=TokenVectorEmbedder(), by_meaning=by_meaning)

    # Without an index of words, what it would have found counts here.
    assert found.rows["late_interaction"].tolist() == [0, 0, float(by_meaning)]
