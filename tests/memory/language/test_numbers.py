"""Numbers in words."""

from mnestic.memory.language.numbers import number_of


def test_a_number_in_words_is_counted() -> None:
    numbers = {
        "seven": 7,
        "Thirty-six": 36,
        "ninety nine": 99,
        "3rd": 3,
        "twenty-first": 21,
        "a couple of": 2,
        "2024": 2024,
        "several": None,
        "12345": None,
        "\u0663": None,
    }

    assert {text: number_of(text) for text in numbers} == numbers
