"""What only tells somebody to act, or agrees, and what names something to search for."""

import pytest

from mnestic.memory.language.commands import is_command
from tests.memory.tables import tables

CASES = tables(__file__)


def test_a_command_that_names_nothing_is_one_in_each_language() -> None:
    assert [text for text in CASES["commands"] if not is_command(text)] == []


@pytest.mark.parametrize("kind", sorted(CASES.keys() - {"commands"}))
def test_what_names_or_says_something_is_no_command(kind: str) -> None:
    assert [text for text in CASES[kind] if is_command(text)] == []


def test_a_text_of_many_words_is_no_command() -> None:
    texts = ("stop " * 13, "等" * 199 + "车", "再等" * 90 + "车", "x" * 10**6)

    assert [text[:20] for text in texts if is_command(text)] == []
