"""Names that are a slip away from a known one: when a hand slipped, and when they are somebody else's."""

from mnestic.memory.language.misspellings import is_completed, max_misspellings, may_be_other_name
from tests.memory.tables import tables

CASES = tables(__file__)


def test_a_hand_that_slips_makes_no_other_name_and_another_ending_does() -> None:
    def others(rows: list[list[str]]) -> list[list[str]]:
        return [row for row in rows if may_be_other_name(*row, is_common=False)]

    assert others(CASES["slips"]) == []
    assert others(CASES["others"]) == CASES["others"]


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
