"""Proper names: rows of capitalised words, and whether a text names somebody or something else."""

import pytest

from mnestic.memory.forgetting.proper_names import (
    is_written_as_name,
    is_written_small,
    names_other,
    parts_in,
    proper_names,
)

MARIA = {"maria", "lopez"}


@pytest.mark.parametrize(
    ("topic", "names"),
    [
        ("Maria Lopez", ["Maria Lopez"]),
        ("Maria Lopez's allergy", ["Maria Lopez"]),
        ("supper with Maria Lopez and Tom Hill", ["Maria Lopez", "Tom Hill"]),
        ("the Ministry of Health", ["Ministry of Health"]),
        ("Ludwig van Beethoven", ["Ludwig van Beethoven"]),
        ("Dr. Ana O'Brien", ["Dr. Ana O'Brien"]),
        ("Jean-Luc Picard", ["Jean-Luc Picard"]),
        ("Falcon 9", ["Falcon 9"]),
        ("Мария Лопес", ["Мария Лопес"]),
        ("my divorce", []),
        ("My Divorce", []),
        ("The Divorce", []),
        ("peanut allergy", []),
        ("PEANUT ALLERGY", []),
        ("das Haus am Fluss", []),
        ("東京 大学", []),
        ("Paris", []),
    ],
)
def test_a_proper_name_is_a_row_of_capitalised_words(topic: str, names: list[str]) -> None:
    assert list(proper_names(topic)) == names


@pytest.mark.parametrize(
    ("text", "is_other"),
    [
        ("Maria Silva sings.", True),
        ("I met Ana Lopez.", True),
        ("Maria Lopez met Maria Silva.", True),
        ("Maria Lopez met Tom Hill.", False),
        ("Dr. Maria Lopez sings.", False),
        ("Maria sings.", False),
        ("We saw Maria. Tom sang.", False),
        ("maria silva sings.", False),
        ("It rains.", False),
        ("", False),
    ],
)
def test_another_name_shares_a_word_and_differs_in_one(text: str, *, is_other: bool) -> None:
    assert names_other(text, MARIA) is is_other


def test_parts_of_a_name_stand_alone() -> None:
    assert parts_in("Maria met Lopez and Ana Lopez.", MARIA) == {"maria", "lopez"}
    assert parts_in("Maria Lopez met Maria Silva.", MARIA) == frozenset()


def test_how_a_text_writes_words_tells_whether_they_are_a_name() -> None:
    assert is_written_as_name("Then Project Falcon began.", {"project", "falcon"})
    assert not is_written_as_name("The project was Falcon.", {"project", "falcon"})
    assert is_written_small("The divorce was long.", {"divorce"})
    assert not is_written_small("Divorce is a film.", {"divorce"})
