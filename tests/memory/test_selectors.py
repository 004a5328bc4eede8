"""Selectors: what `*` matches, and which of several wins."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnestic.memory.errors import InvalidInputError
from mnestic.memory.selectors import check_selector, find_selector, matches
from tests.memory.tables import tables, wrong

CASES = tables(__file__)


def test_a_selector_matches_the_whole_name() -> None:
    assert wrong(CASES["matches"], matches) == []


def test_an_id_wins_then_the_longest_beginning() -> None:
    assert wrong(CASES["wins"], find_selector) == []
    assert wrong([[all_[::-1], *rest] for all_, *rest in CASES["wins"]], find_selector) == []


@given(selector=st.text("ab*", max_size=8), name=st.text("ab", max_size=8))
def test_a_star_matches_as_any_characters_of_a_regular_expression(selector: str, name: str) -> None:
    pattern = ".*".join(map(re.escape, selector.split("*")))

    assert matches(selector, name) == bool(re.fullmatch(pattern, name))


def test_a_pattern_that_would_backtrack_for_years_is_matched_at_once() -> None:
    assert not matches("*a" * 60 + "*b", "a" * 128)


@pytest.mark.parametrize("selector", [*CASES["valid"], "a" * 128])
def test_a_valid_selector_is_returned_as_it_is(selector: str) -> None:
    assert check_selector(selector, what="agent") == selector


@pytest.mark.parametrize("selector", [*CASES["invalid"], "a" * 129])
def test_another_text_is_no_selector(selector: str) -> None:
    with pytest.raises(InvalidInputError, match=r"agent: .* is no id or pattern"):
        check_selector(selector, what="agent")
