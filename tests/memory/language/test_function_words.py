"""Function words of a question, by the language that it is in."""

import pytest

from mnestic.memory.language.function_words import (
    content_spans,
    elided_words,
    find_function_words,
    function_words,
    question_words,
)


@pytest.mark.parametrize(
    ("question", "left"),
    [
        ("Où range Lucie ses skis", "range Lucie skis"),
        ("Qu'est-ce que vous avez mangé", "mangé"),
        ("Wo wächst die Birke", "wächst Birke"),
        ("Wogegen hilft der Tee", "hilft Tee"),
        ("Dónde aparca Rosa", "aparca Rosa"),
        ("Dove dorme il gatto", "dorme gatto"),
        ("Quem pintou a porta", "pintou porta"),
        ("Hoeveel weegt de kist", "weegt kist"),
    ],
)
def test_words_that_ask_and_function_words_of_a_question_are_silent(
    question: str, left: str
) -> None:
    words = question.split()

    silent = find_function_words(words)

    assert [word for word in words if word not in silent] == left.split()


@pytest.mark.parametrize(
    "question",
    [
        "what was the hat in the war",
        "who has a die",
        "die Birke",
        "La Paz trip",
        "come to Rome",
        "",
    ],
)
def test_words_of_english_or_of_no_certain_language_are_left(question: str) -> None:
    assert find_function_words(question.split()) == frozenset()


def test_elided_words_are_no_part_of_the_word_behind_them() -> None:
    assert elided_words("L\u2019olivier") == {"l"}
    assert elided_words("Marie-Ange") == elided_words("olivier") == frozenset()


@pytest.mark.parametrize(
    ("text", "content"),
    [
        ("お父さんの車はどこですか", ["父さ", "車は"]),
        ("美咲はどこで働いていますか", ["美咲", "働い"]),
        ("メロンはいくらでしたか", ["メロン"]),
        ("さくらは何時に来ましたか", ["さくら", "来ま"]),
        ("どうしてですか", []),
        ("北海道", ["北海道"]),
        ("猫", ["猫"]),
        ("书店在哪里", ["书店在"]),
    ],
)
def test_grammar_of_an_unspaced_script_is_no_content(text: str, content: list[str]) -> None:
    assert [text[start:end] for start, end in content_spans(text)] == content


def test_every_question_word_is_a_function_word() -> None:
    assert {"de", "en", "es", "fr", "it", "nl", "pt"} == question_words().keys()
    for language, words in question_words().items():
        assert words <= function_words()[language]
