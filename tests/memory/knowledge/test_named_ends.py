"""An end that names its object by a part of its words."""

import pytest

from tests.memory.knowledge.fact_claims import claim, told


@pytest.mark.parametrize(
    ("ended", "left"),
    [
        ("Volvo", ["bike"]),
        ("the red Volvo", ["bike"]),
        ("red Volvos", ["bike"]),
        ("Kia", ["red Volvo", "bike"]),
        ("red", ["bike"]),
    ],
)
def test_what_ends_may_be_named_by_a_part_of_its_words(ended: str, left: list[str]) -> None:
    facts = told(
        claim(1, "red Volvo"), claim(2, "bike"), claim(3, ended, "ended"), cardinality="multi"
    )

    assert [value for value, status, *_ in facts if status == "active"] == left


@pytest.mark.parametrize(
    ("known", "ended", "is_ended"),
    [
        ("oboe", "oboe lesson", False),
        ("Brunel", "printer at Brunel", False),
        ("membership", "gym membership at Fitz", True),
        ("move", "the move to Antwerp", True),
    ],
)
def test_more_words_mean_the_same_if_they_are_about_the_same_noun(
    known: str, ended: str, is_ended: bool
) -> None:
    facts = told(claim(1, known), claim(2, ended, "ended"), cardinality="multi")

    assert [status == "archived" for _, status, *_ in facts] == [is_ended]


def test_where_two_can_be_meant_nothing_ends() -> None:
    facts = told(
        claim(1, "red Volvo"),
        claim(2, "blue Volvo"),
        claim(3, "Volvo", "ended"),
        cardinality="multi",
    )

    assert [status for _, status, *_ in facts] == ["active", "active"]
