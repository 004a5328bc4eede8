"""The beginning of a message, for those who look later at what was put before it."""

import pytest

from mnestic.memory.retrieval.retrieval_log import LONGEST_PREVIEW, preview_of


@pytest.mark.parametrize(
    ("message", "preview"),
    [
        ("Where does\n\tMara live?", "Where does Mara live?"),
        ("a\0b", "a b"),
        ("", ""),
        ("x" * LONGEST_PREVIEW, "x" * LONGEST_PREVIEW),
        ("x" * (LONGEST_PREVIEW + 1), "x" * (LONGEST_PREVIEW - 1) + "…"),
    ],
)
def test_a_preview_is_one_short_line(message: str, preview: str) -> None:
    assert preview_of(message) == preview
