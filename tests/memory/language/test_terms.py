# ruff: noqa: RUF001 (marks of other scripts are meant)

import pytest

from mnestic.memory.language.terms import cosine, inverse_document_frequency, term_vector, terms_of


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("The Dogs don't like Mara's buses", ("dog", "mara", "buse")),
        ("I'll be ill if you’ll bring nuts", ("ill", "bring", "nut")),
        ("Straße ＡＢＣ", ("strasse", "abc")),
        ("मैं ओस्लो में", ("मैं", "ओस्लो", "में")),
        ("上海很大", ("上海", "海很", "很大")),
        ("… !", ()),
    ],
)
def test_terms_are_the_words_that_carry_meaning(text: str, terms: tuple[str, ...]) -> None:
    found = terms_of(text)

    assert found == terms


def test_a_term_weighs_less_the_more_documents_share_it() -> None:
    weights = inverse_document_frequency(
        [("tea", "ghent"), ("tea",), ("tea", "malmö"), ("tea", "ghent")]
    )

    assert weights["malmö"] == 1.0
    assert weights["malmö"] > weights["ghent"] > weights["tea"] > 0


def test_cosine_is_one_for_the_same_terms_and_zero_for_none_shared() -> None:
    weights = {"tea": 1.0, "ghent": 0.5, "cello": 0.9}
    left = term_vector(("tea", "ghent"), weights)

    assert cosine(left, left) == pytest.approx(1.0)
    assert cosine(left, term_vector(("cello",), weights)) == 0.0
    assert cosine(left, term_vector(("unknown",), weights)) == 0.0
