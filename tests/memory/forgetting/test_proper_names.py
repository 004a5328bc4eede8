"""Proper names: rows of capitalised words, and whether a text names somebody or something else."""

from mnestic.memory.forgetting.proper_names import (
    is_written_as_name,
    is_written_small,
    names_other,
    parts_in,
    proper_names,
)
from tests.memory.tables import tables, wrong

CASES = tables(__file__)
MARIA = {"maria", "lopez"}


def test_a_proper_name_is_a_row_of_capitalised_words() -> None:
    assert wrong(CASES["names"], lambda topic: list(proper_names(topic))) == []


def test_another_name_shares_a_word_and_differs_in_one() -> None:
    assert wrong(CASES["others"], lambda text: names_other(text, MARIA)) == []


def test_parts_of_a_name_stand_alone() -> None:
    assert parts_in("Maria met Lopez and Ana Lopez.", MARIA) == {"maria", "lopez"}
    assert parts_in("Maria Lopez met Maria Silva.", MARIA) == frozenset()


def test_how_a_text_writes_words_tells_whether_they_are_a_name() -> None:
    assert is_written_as_name("Then Project Falcon began.", {"project", "falcon"})
    assert not is_written_as_name("The project was Falcon.", {"project", "falcon"})
    assert is_written_small("The divorce was long.", {"divorce"})
    assert not is_written_small("Divorce is a film.", {"divorce"})
