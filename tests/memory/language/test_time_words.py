"""When something was, in words."""

import re
from datetime import UTC, datetime, timedelta, timezone

from hypothesis import given
from hypothesis import strategies as st

from mnestic.memory.language.time_words import time_in_words
from tests.memory.tables import tables, wrong

NOW = datetime(2026, 3, 5, 12, tzinfo=UTC)
MOMENTS = st.datetimes(
    min_value=datetime(1901, 1, 1),  # noqa: DTZ001 - gets its offset below
    max_value=datetime(2998, 12, 31),  # noqa: DTZ001
    timezones=st.integers(-14 * 60, 14 * 60).map(lambda m: timezone(timedelta(minutes=m))),
)


def test_a_moment_is_told_as_one_would_say_it() -> None:
    rows = tables(__file__)["words"]

    assert wrong(rows, lambda at: time_in_words(datetime.fromisoformat(at), now=NOW)) == []


def test_days_are_those_of_whoever_asks_and_hours_go_on_over_midnight() -> None:
    in_tokyo = NOW.astimezone(timezone(timedelta(hours=9)))  # 21:00 there
    at = datetime(2026, 3, 4, 20, tzinfo=UTC)  # 05:00 the same day there
    night = datetime(2026, 3, 5, 0, 10, tzinfo=UTC)

    assert time_in_words(at, now=NOW) == "yesterday"
    assert time_in_words(at, now=in_tokyo) == "16 hours ago"
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
