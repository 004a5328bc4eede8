"""The time that a query means, by its dates and the words around them."""

from datetime import UTC, datetime

from mnestic.memory.retrieval.query_periods import find_periods
from tests.memory.tables import tables, wrong

JULY = datetime(2025, 7, 10, 12, tzinfo=UTC)


def days(text: str) -> list[str]:
    (period, *_), _ = find_periods(text, asked_at=JULY)
    return [f"{period.start.date()}", f"{period.end.date()}"]


def test_a_period_is_what_the_words_around_a_date_make_of_it() -> None:
    assert wrong(tables(__file__)["periods"], days) == []


def test_a_month_in_the_place_of_a_subject_is_a_name() -> None:
    assert find_periods("What does April collect?", asked_at=JULY) == ((), ())


def test_a_rate_before_a_time_belongs_to_no_day_before_it() -> None:
    for rate in ("per day", "per week", "each day", "every night"):
        assert days(f"What did I charge {rate} before April?")[1] == "2025-04-01"
