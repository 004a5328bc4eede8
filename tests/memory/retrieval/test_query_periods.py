"""The time that a query means, by its dates and the words around them."""

from datetime import UTC, date, datetime

import pytest

from mnestic.memory.retrieval.query_periods import find_periods

JULY = datetime(2025, 7, 10, 12, tzinfo=UTC)
EARLIEST = date(1000, 1, 1)


@pytest.mark.parametrize(
    ("text", "start", "end"),
    [
        ("What did Olga buy before April 2025?", EARLIEST, date(2025, 4, 1)),
        ("What did Olga buy until April 2025?", EARLIEST, date(2025, 5, 1)),
        ("What did Olga buy in April 2025?", date(2025, 4, 1), date(2025, 5, 1)),
        ("What did Olga buy between March 2025 and May 2025?", date(2025, 3, 1), date(2025, 6, 1)),
        ("What did Olga buy from 3 March to 9 May?", date(2025, 3, 3), date(2025, 5, 10)),
        ("Did Olga buy it in March 2024 or May 2025?", date(2024, 3, 1), date(2024, 4, 1)),
        ("What is on 3 September?", date(2025, 9, 3), date(2025, 9, 4)),
        ("What was on 3 September?", date(2024, 9, 3), date(2024, 9, 4)),
        ("What did Olga buy two weeks ago on Monday?", date(2025, 6, 23), date(2025, 6, 24)),
        ("What did Olga do last week on Friday?", date(2025, 7, 4), date(2025, 7, 5)),
        ("What will Olga do next Friday?", date(2025, 7, 18), date(2025, 7, 19)),
        ("What is planned for Tuesday next week?", date(2025, 7, 15), date(2025, 7, 16)),
        ("What did Olga buy before Tuesday last week?", EARLIEST, date(2025, 7, 1)),
        ("Whom did Olga meet the Sunday before last?", date(2025, 6, 29), date(2025, 6, 30)),
    ],
)
def test_a_period_is_what_the_words_around_a_date_make_of_it(
    text: str, start: date, end: date
) -> None:
    (period, *_), _ = find_periods(text, asked_at=JULY)

    assert (period.start.date(), period.end.date()) == (start, end)


def test_a_month_in_the_place_of_a_subject_is_a_name() -> None:
    assert find_periods("What does April collect?", asked_at=JULY) == ((), ())


@pytest.mark.parametrize("rate", ["per day", "per week", "each day", "every night"])
def test_a_rate_before_a_time_belongs_to_no_day_before_it(rate: str) -> None:
    (period,), _ = find_periods(f"What did I charge {rate} before April?", asked_at=JULY)

    assert period.end == datetime(JULY.year, 4, 1, tzinfo=UTC)
