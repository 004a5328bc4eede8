from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError

from mnestic.memory.durations import Delay, Duration

DURATION = TypeAdapter[timedelta](Duration)
DELAY = TypeAdapter[timedelta](Delay)


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("30s", timedelta(seconds=30)),
        ("15m", timedelta(minutes=15)),
        ("2h", timedelta(hours=2)),
        ("21d", timedelta(days=21)),
        ("1d12h", timedelta(hours=36)),
        ("1h1h", timedelta(hours=2)),
        ("3650d", timedelta(days=3650)),
        ("PT90S", timedelta(seconds=90)),
        (60, timedelta(minutes=1)),
        (timedelta(hours=1), timedelta(hours=1)),
    ],
)
def test_a_duration_is_read_as_people_write_it(written: Any, meant: timedelta) -> None:
    read = DURATION.validate_python(written)

    assert read == meant


@pytest.mark.parametrize(
    ("written", "told"),
    [
        ("3 weeks", "write it as 30s"),
        ("21", "write it as 30s"),
        ("", "write it as 30s"),
        ("-1d", "write it as 30s"),
        ("1.5h", "write it as 30s"),
        ("1d ", "write it as 30s"),
        ("0s", "at least a second"),
        ("999ms", "at least a second"),
        ("1sm", "write it as 30s"),
        ("3651d", "at most 3650 days"),
        ("999999999999d", "at most 3650 days"),
        ("9" * 400 + "d", "at most 3650 days"),
        (timedelta(milliseconds=1), "at least a second"),
    ],
)
def test_what_is_no_duration_is_refused_in_words(written: Any, told: str) -> None:
    with pytest.raises(ValidationError, match=told):
        DURATION.validate_python(written)


@given(st.integers(1, 3650 * 86_400))
def test_a_duration_comes_back_from_its_json(seconds: int) -> None:
    written = DURATION.dump_json(timedelta(seconds=seconds))

    assert DURATION.validate_json(written) == timedelta(seconds=seconds)


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("200ms", timedelta(milliseconds=200)),
        ("1s500ms", timedelta(milliseconds=1500)),
        ("2m", timedelta(minutes=2)),
        ("PT0.2S", timedelta(milliseconds=200)),
    ],
)
def test_a_delay_may_be_of_milliseconds(written: str, meant: timedelta) -> None:
    read = DELAY.validate_python(written)

    assert read == meant


@pytest.mark.parametrize("written", ["0ms", "3651d", timedelta(microseconds=1)])
def test_a_delay_has_its_limits(written: Any) -> None:
    with pytest.raises(ValidationError, match="at least a millisecond and at most 3650 days"):
        DELAY.validate_python(written)
