"""The times that a message speaks of."""

from datetime import UTC, datetime

from mnestic.memory.knowledge.time_mentions import names_time, times_of
from tests.memory.tables import tables, wrong

CASES = tables(__file__)
SAID = datetime(2026, 1, 2, 9, 30, tzinfo=UTC)  # a Friday


def told(text: str) -> list[list[str]]:
    found = times_of(text, at=SAID)
    return [[one.words, f"{one.start:%Y-%m-%d}", f"{one.end:%Y-%m-%d}"] for one in found]


def test_a_time_is_told_where_it_is_certain() -> None:
    assert wrong(CASES["times"], told) == []


def test_a_long_text_is_read_from_its_beginning() -> None:
    found = times_of("yesterday " * 100_000, at=SAID)

    assert len(found) == 16


def test_what_recurs_and_what_the_clock_says_tells_when() -> None:
    assert wrong(CASES["says_when"], names_time) == []
