"""Words that are alike: forms of the same word, where nothing tells which words an entry has."""

from datetime import UTC, datetime

import pytest

from mnestic.activities.alike_words import liken
from mnestic.activities.clients.token_vectors import TokenVectorEmbedder
from mnestic.memory.search import AskedLexeme, Vocabulary
from tests.memory.candidate_samples import Sample, candidates

NOON = datetime(2026, 3, 4, 12, tzinfo=UTC)
ASKED = Vocabulary(asked=(AskedLexeme(("decant",), 2.0, is_known=True, word="decanting"),))


def alike(*terms: str, by_meaning: bool) -> float:
    found = candidates([Sample(number=1, at=NOON, cosine=0.2, said=terms)])
    liken(found, ASKED, words=TokenVectorEmbedder(), by_meaning=by_meaning)
    return float(found.rows["alike"][0])


def test_by_meaning_alone_a_form_of_a_word_counts_as_the_word() -> None:
    as_words = alike("decants", "barolo", by_meaning=False)

    assert alike("decants", "barolo", by_meaning=True) == pytest.approx(as_words + 0.5)


def test_a_word_that_only_begins_alike_is_no_form() -> None:
    as_words = alike("decantation", by_meaning=False)

    assert alike("decantation", by_meaning=True) == pytest.approx(as_words)
