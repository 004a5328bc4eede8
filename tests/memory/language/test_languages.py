"""Which words of a question say something, where they may be words of several languages."""

from collections.abc import Collection

import pytest

from mnestic.memory.language.languages import LanguageVote, content_words

# Function words, as text search has them.
SILENT = {
    "english": {"where", "is", "the", "of", "was", "in", "who"},
    "german": {"wo", "ist", "der", "die", "das", "hat", "war", "was", "in", "wie"},
}


def asked(
    text: str, *, known: Collection[str] = (), languages: Collection[str] = SILENT
) -> list[str]:
    words = text.split()
    read = [
        LanguageVote(
            [name for name in languages if word not in SILENT[name]], is_known=word in known
        )
        for word in words
    ]
    return [
        word
        for word, is_telling in zip(words, content_words(read, languages), strict=True)
        if is_telling
    ]


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("wo ist die apotheke", ["apotheke"]),
        ("was hat die apotheke", ["apotheke"]),
        ("wie war der hat", []),
        ("where is the hat", ["hat"]),
        ("who was in the war", ["war"]),
    ],
)
def test_a_language_is_told_by_its_function_words(text: str, left: list[str]) -> None:
    assert asked(text, known=["hat", "war", "die", "where"]) == left


def test_where_none_is_told_what_entries_have_as_a_word_is_looked_for() -> None:
    assert asked("red hat", known=["red", "hat"]) == ["red", "hat"]
    assert asked("red hat", known=["red"]) == ["red"]
    assert asked("die apotheke", known=["apotheke"]) == ["apotheke"]
    assert asked("die where", known=["die", "where"]) == ["die", "where"]


def test_of_one_language_its_function_words_say_nothing() -> None:
    assert asked("where is the hat", languages=["english"]) == ["hat"]
    assert asked("wo ist the hat", languages=["english"]) == ["wo", "ist", "hat"]
    assert asked("", languages=["english"]) == []
