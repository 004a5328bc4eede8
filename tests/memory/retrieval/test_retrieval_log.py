"""The beginning of a message, for those who look later at what was put before it."""

from mnestic.memory.retrieval.retrieval_log import LONGEST_PREVIEW, preview_of


def test_a_preview_is_one_short_line() -> None:
    assert preview_of("Where does\n\tMara live?") == "Where does Mara live?"
    assert (preview_of("a\0b"), preview_of("")) == ("a b", "")
    assert preview_of("x" * LONGEST_PREVIEW) == "x" * LONGEST_PREVIEW
    assert preview_of("x" * (LONGEST_PREVIEW + 1)) == "x" * (LONGEST_PREVIEW - 1) + "…"
