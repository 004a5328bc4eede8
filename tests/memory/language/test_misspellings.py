"""Names that are a slip away from a known one: when a hand slipped, and when they are somebody else's."""

import pytest

from mnestic.memory.language.misspellings import is_completed, max_misspellings, may_be_other_name


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("mraia", "maria"),
        ("marai", "maria"),
        ("mria", "maria"),
        ("marria", "maria"),
        ("mariia", "maria"),
        ("mariaa", "maria"),
        ("msria", "maria"),
        ("masria", "maria"),
        ("schmit", "schmitt"),
        ("alexnadre", "alexander"),
        ("sebatsain", "sebastian"),
        ("katerzyna", "katarzyna"),
        ("jose", "josé"),
        ("bjorn", "bjørn"),
        ("lukasz", "łukasz"),
        ("садаводство", "садоводство"),
    ],
)
def test_a_hand_that_slips_makes_no_other_name(name: str, meant: str) -> None:
    assert not may_be_other_name(name, meant, is_common=False)


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("marta", "maria"),
        ("mario", "maria"),
        ("marie", "maria"),
        ("mari", "maria"),
        ("marian", "maria"),
        ("yuko", "yuki"),
        ("nadja", "nadia"),
        ("kathrin", "katrin"),
        ("roberta", "robert"),
        ("dmitrij", "dmitri"),
        ("stefanie", "stefan"),
        ("christine", "christina"),
        ("alexandra", "alexander"),
    ],
)
def test_another_letter_or_ending_makes_another_name(name: str, meant: str) -> None:
    assert may_be_other_name(name, meant, is_common=False)


def test_the_beginning_of_a_name_is_that_name_but_no_day() -> None:
    assert is_completed("Alex", "alexander")
    assert not is_completed("Frida", "friday")
    assert not is_completed("Alexa", "alex")


def test_a_common_name_is_another_however_it_came_to_be_but_for_its_marks() -> None:
    assert may_be_other_name("petar", "petra", is_common=True)
    assert not may_be_other_name("petar", "petra", is_common=False)
    assert not may_be_other_name("jose", "josé", is_common=True)


def test_a_long_word_may_have_two_slips() -> None:
    assert (max_misspellings("tomaszz"), max_misspellings("katarzyna")) == (1, 2)
