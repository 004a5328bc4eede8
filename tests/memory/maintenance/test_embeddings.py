"""Entries that are sampled to compare vectors."""

from mnestic.memory.maintenance.embeddings import SampledEntry


def test_a_passage_is_the_middle_of_a_text() -> None:
    passages = {
        "one two three": "one two three",
        "a b c d e f g h": "c d e f",
        "a b\nc d e f g h i": "c d e f g",
    }

    assert {text: SampledEntry(1, text).passage for text in passages} == passages
