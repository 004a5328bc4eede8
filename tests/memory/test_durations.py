from datetime import timedelta
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError

from mnestic.memory.durations import Delay, Duration
from tests.memory.tables import not_refused, tables, wrong

CASES = tables(__file__)
DURATION = TypeAdapter[timedelta](Duration)
DELAY = TypeAdapter[timedelta](Delay)


def seconds(written: Any) -> float:
    return DURATION.validate_python(written).total_seconds()


def delay_seconds(written: Any) -> float:
    return DELAY.validate_python(written).total_seconds()


def test_a_duration_is_read_as_people_write_it_and_a_delay_has_milliseconds() -> None:
    assert wrong([*CASES["durations"], (timedelta(hours=1), 3600)], seconds) == []
    assert wrong(CASES["delays"], delay_seconds) == []


def test_what_is_no_duration_and_no_delay_is_refused_in_words() -> None:
    durations = [
        ("9" * 400 + "d", "at most 3650 days"),
        (timedelta(milliseconds=1), "at least a second"),
    ]
    delays = [(timedelta(microseconds=1), "at least a millisecond")]

    assert not_refused([*CASES["no_durations"], *durations], seconds, error=ValidationError) == []
    assert not_refused([*CASES["no_delays"], *delays], delay_seconds, error=ValidationError) == []


@given(st.integers(1, 3650 * 86_400))
def test_a_duration_comes_back_from_its_json(number: int) -> None:
    written = DURATION.dump_json(timedelta(seconds=number))

    assert DURATION.validate_json(written) == timedelta(seconds=number)
