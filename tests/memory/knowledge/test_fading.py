"""Facts that fade: not believed any more, not false, and back when somebody claims them again."""

import pytest

from tests.memory.knowledge.fact_claims import claim, told


def test_what_fades_is_not_believed_any_more_and_has_no_end() -> None:
    assert told(claim(1, "Ghent"), claim(99, "Ghent", "faded")) == [
        ("Ghent", "archived", "faded", None)
    ]


@pytest.mark.parametrize("kind", ["affirmed", "corrected", "reactivated"])
def test_what_has_faded_comes_back_when_it_is_claimed_later(kind: str) -> None:
    claims = [claim(1, "Ghent"), claim(99, "Ghent", "faded"), claim(120, "Ghent", kind)]

    assert told(*claims) == [("Ghent", "active", None, None)]
    assert told(*claims, claim(220, "Ghent", "faded")) == [("Ghent", "archived", "faded", None)]


def test_what_has_faded_is_superseded_or_ended_as_if_it_had_not() -> None:
    faded = [claim(1, "Ghent"), claim(99, "Ghent", "faded")]

    assert told(*faded, claim(120, "Lima")) == [
        ("Ghent", "archived", "superseded", 120),
        ("Lima", "active", None, None),
    ]
    assert told(*faded, claim(120, "Ghent", "ended")) == [("Ghent", "archived", "ended", 120)]
    assert told(*faded, claim(120, "Ghent", "retracted")) == [("Ghent", "archived", "corrected", 1)]


def test_only_what_is_believed_fades() -> None:
    assert told(claim(1, "Ghent"), claim(5, "Lima"), claim(99, "Ghent", "faded")) == [
        ("Ghent", "archived", "superseded", 5),
        ("Lima", "active", None, None),
    ]


def test_of_many_objects_one_fades() -> None:
    claims = (claim(1, "Ghent"), claim(2, "Lima"), claim(99, "Ghent", "faded"))

    assert told(*claims, cardinality="multi") == [
        ("Ghent", "archived", "faded", None),
        ("Lima", "active", None, None),
    ]
