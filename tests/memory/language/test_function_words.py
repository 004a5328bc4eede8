"""Function words of a question, by the language that it is in."""

from mnestic.memory.language.function_words import (
    content_spans,
    elided_words,
    find_function_words,
    function_words,
    question_words,
)
from tests.memory.tables import tables, wrong

CASES = tables(__file__)


def test_function_words_of_a_question_are_silent_where_its_language_is_certain() -> None:
    def left(question: str) -> str:
        words = question.split()
        silent = find_function_words(words)
        return " ".join(word for word in words if word not in silent)

    assert wrong(CASES["left"], left) == []


def test_elided_words_are_no_part_of_the_word_behind_them() -> None:
    assert elided_words("L\u2019olivier") == {"l"}
    assert elided_words("Marie-Ange") == elided_words("olivier") == frozenset()


def test_grammar_of_an_unspaced_script_is_no_content() -> None:
    def content(text: str) -> list[str]:
        return [text[start:end] for start, end in content_spans(text)]

    assert wrong(CASES["content"], content) == []


def test_every_question_word_is_a_function_word() -> None:
    assert {"de", "en", "es", "fr", "it", "nl", "pt"} == question_words().keys()
    for language, words in question_words().items():
        assert words <= function_words()[language]
