"""When something was, in words."""

import re
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnestic.memory.language.time_words import time_in_words

NOW = datetime(2026, 3, 5, 12, tzinfo=UTC)
MOMENTS = st.datetimes(
    min_value=datetime(1901, 1, 1),  # noqa: DTZ001 - gets its offset below
    max_value=datetime(2998, 12, 31),  # noqa: DTZ001
    timezones=st.integers(-14 * 60, 14 * 60).map(lambda m: timezone(timedelta(minutes=m))),
)


@pytest.mark.parametrize(
    ("at", "words"),
    [
        ("2026-03-05T11:59:30Z", "just now"),
        ("2026-03-05T11:59:00Z", "1 minute ago"),
        ("2026-03-05T11:15:00Z", "45 minutes ago"),
        ("2026-03-05T11:00:00Z", "1 hour ago"),
        ("2026-03-05T00:00:00Z", "12 hours ago"),
        ("2026-03-04T23:59:00Z", "yesterday"),
        ("2026-03-04T06:00:00Z", "yesterday"),
        ("2026-03-03T23:59:00Z", "2 days ago"),
        ("2026-03-02T12:00:00Z", "3 days ago"),
        ("2026-02-27T00:00:00Z", "6 days ago"),
        ("2026-02-26T23:00:00Z", "on 26 February"),
        ("2026-01-01T12:00:00Z", "on 1 January"),
        ("2025-12-31T12:00:00Z", "on 31 December 2025"),
        ("2026-03-05T12:00:30Z", "in a moment"),
        ("2026-03-05T14:30:00Z", "in 2 hours"),
        ("2026-03-06T01:00:00Z", "tomorrow"),
        ("2026-03-08T12:00:00Z", "in 3 days"),
        ("2026-04-28T12:00:00Z", "on 28 April"),
        ("2027-02-28T12:00:00Z", "on 28 February 2027"),
    ],
)
def test_a_moment_is_told_as_one_would_say_it(at: str, words: str) -> None:
    assert time_in_words(datetime.fromisoformat(at), now=NOW) == words


def test_days_are_those_of_whoever_asks() -> None:
    in_tokyo = NOW.astimezone(timezone(timedelta(hours=9)))  # 21:00 there
    at = datetime(2026, 3, 4, 20, tzinfo=UTC)  # 05:00 the same day there

    assert time_in_words(at, now=NOW) == "yesterday"
    assert time_in_words(at, now=in_tokyo) == "16 hours ago"


def test_the_last_hours_of_the_day_before_are_told_as_hours() -> None:
    night = datetime(2026, 3, 5, 0, 10, tzinfo=UTC)

    assert time_in_words(night - timedelta(minutes=20), now=night) == "20 minutes ago"
    assert time_in_words(night + timedelta(hours=25), now=night) == "tomorrow"


@given(at=MOMENTS, now=MOMENTS)
def test_words_hold_for_every_moment(at: datetime, now: datetime) -> None:
    words = time_in_words(at, now=now)

    days = (now.date() - at.astimezone(now.tzinfo).date()).days
    told = re.fullmatch(r"(\d+) days ago|in (\d+) days", words)
    if told:
        assert int(told[1] or told[2]) == abs(days)
    assert words.startswith("on ") == (abs(days) >= 7)
    assert words.endswith(("ago", "just now", "yesterday")) == (at <= now and abs(days) < 7)
