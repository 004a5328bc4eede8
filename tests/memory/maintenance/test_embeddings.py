"""Entries that are sampled to compare vectors."""

import pytest

from mnestic.memory.maintenance.embeddings import SampledEntry


@pytest.mark.parametrize(
    ("content", "passage"),
    [
        ("one two three", "one two three"),
        ("a b c d e f g h", "c d e f"),
        ("a b\nc d e f g h i", "c d e f g"),
    ],
)
def test_a_passage_is_the_middle_of_a_text(content: str, passage: str) -> None:
    assert SampledEntry(1, content).passage == passage
