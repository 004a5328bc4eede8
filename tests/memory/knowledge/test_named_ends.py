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


def test_where_two_can_be_meant_nothing_ends() -> None:
    facts = told(
        claim(1, "red Volvo"),
        claim(2, "blue Volvo"),
        claim(3, "Volvo", "ended"),
        cardinality="multi",
    )

    assert [status for _, status, *_ in facts] == ["active", "active"]
