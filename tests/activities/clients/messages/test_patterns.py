"""Patterns of the word lists: one that is malformed is refused when it is loaded."""

import re

import pytest
from pydantic import TypeAdapter, ValidationError

from mnestic.activities.clients.messages.patterns import Pattern

PATTERN: TypeAdapter[re.Pattern[str]] = TypeAdapter(Pattern)


def test_words_match_whole_words_and_signs_match_anywhere() -> None:
    pattern = PATTERN.validate_python({"words": ["if", "may(?: be)?"], "signs": ["e\\.g\\."]})

    assert [pattern.search(text) is not None for text in ("If so", "Iffley", "see e.g.x")] == [
        True,
        False,
        True,
    ]


@pytest.mark.parametrize("value", [{}, {"word": ["if"]}, ["if"], {"signs": ["(if"]}])
def test_a_malformed_pattern_is_refused(value: object) -> None:
    with pytest.raises(ValidationError, match=r"pattern|regular expression"):
        PATTERN.validate_python(value)
