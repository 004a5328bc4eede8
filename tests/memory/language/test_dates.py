"""Dates in words, resolved against the moment at which they were said."""

import time
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnestic.memory.language.date_mentions import find_dates
from mnestic.memory.language.date_words import date_words, iter_mentions
from mnestic.memory.language.dates import Tense

WEDNESDAY = datetime(2024, 10, 23, 20, 15, tzinfo=UTC)
SATURDAY = datetime(2024, 12, 28, 9, 0, tzinfo=UTC)


def resolved(text: str, at: datetime, tense: Tense) -> list[str]:
    return [str(mention.resolve(at, tense)) for mention in find_dates(text)]


CASES = [
    ("I moved yesterday", "past", "2024-10-22"),
    ("the day before yesterday", "past", "2024-10-21"),
    ("two days ago", "past", "2024-10-21"),
    ("a week ago", "past", "2024-10-16"),
    ("a couple of months ago", "past", "2024-08-23"),
    ("a couple months ago", "past", "2024-08-23"),
    ("in a couple of weeks", "future", "2024-11-06"),
    ("a dozen years ago", "past", "2012-10-23"),
    ("over the last couple of weeks", "past", "2024-10-09"),
    ("last week", "past", "2024-10-14/2024-10-20"),
    ("last year", "past", "2023"),
    ("next month", "future", "2024-11"),
    ("last weekend", "past", "2024-10-19"),
    ("I moved on Monday", "past", "2024-10-21"),
    ("I leave on Monday", "present", "2024-10-28"),
    ("last Friday", "past", "2024-10-18"),
    ("this Friday", "future", "2024-10-25"),
    ("next Tuesday", "future", "2024-10-29"),
    ("next Friday", "future", "2024-11-01"),
    ("on Wednesday", "past", "2024-10-16"),
    ("on the 4th of November", "future", "2024-11-04"),
    ("November 14, 2024", "past", "2024-11-14"),
    ("on 3 Feb", "future", "2025-02-03"),
    ("the 3rd of February", "past", "2024-02-03"),
    ("on the first of May", "future", "2025-05-01"),
    ("in September, on the 20th", "future", "2025-09-20"),
    ("on the 14th", "past", "2024-10-14"),
    ("on the 14th", "future", "2024-11-14"),
    ("in March", "past", "2024-03"),
    ("in March", "future", "2025-03"),
    ("since January", "present", "2024-01"),
    ("from January on", "present", "2025-01"),
    ("until December", "present", "2024-12"),
    ("in 2019", "past", "2019"),
    ("in March 2021", "past", "2021-03"),
    ("the last Sunday of October", "future", "2024-10-27"),
    ("the second week of February", "future", "2025-02-08/2025-02-14"),
    ("the day before New Year's Eve", "future", "2024-12-30"),
    ("two days after Christmas", "future", "2024-12-27"),
    ("last summer", "past", "2024-06-01/2024-08-31"),
    ("at the start of December", "past", "2023-12-01/2023-12-10"),
    ("for ten years", "present", "2014-10-23"),
    ("in two weeks", "future", "2024-11-06"),
    ("on 2024-11-14", "past", "2024-11-14"),
    ("on 14/11/2024", "past", "2024-11-14"),
    ("14.11.2024", "past", "2024-11-14"),
    ("on February 29", "past", "2024-02-29"),
    ("on 28 February last year", "past", "2023-02-28"),
    ("on 3 May this year", "future", "2024-05-03"),
    ("on the 3rd of May of next year", "past", "2025-05-03"),
    ("on February 28 last year", "past", "2023-02-28"),
    ("in March last year", "past", "2023-03"),
    ("we may next year move", "future", "2025"),
    ("in summer this year", "future", "2024-06-01/2024-08-31"),
    ("at the end of March next year", "past", "2025-03-22/2025-03-31"),
    ("on the first Monday of May last year", "past", "2023-05-01"),
    ("at Christmas last year", "past", "2023-12-25"),
    ("at Christmas 2021", "past", "2021-12-25"),
    ("we met Christmas last year", "past", "2023-12-25"),
    ("in fall last year", "past", "2023-09-01/2023-11-30"),
    ("March last year", "past", "2023-03"),
    ("did prices fall last year", "past", "2023"),
    ("did they march last year", "past", "2023"),
    ("last year in May", "past", "2023-05"),
    ("last year, on 28 February", "past", "2023-02-28"),
    ("since last year in summer", "past", "2023-06-01/2023-08-31"),
    ("next year at Christmas", "future", "2025-12-25"),
    ("in 2021, at the end of March", "past", "2021-03-22/2021-03-31"),
    ("in may last year", "past", "2023-05"),
    ("last may", "past", "2024-05"),
    ("on 3 may 2021", "past", "2021-05-03"),
    ("on 28 February th\u0131s year", "past", "2024-02-28"),
    ("on 3 APR\u0130L 2021", "past", "2021-04-03"),
]
WITHIN_ANOTHER = [
    ("two weeks ago on Thursday", "past", "2024-10-10"),
    ("on Thursday two weeks ago", "past", "2024-10-10"),
    ("on Tuesday last week", "past", "2024-10-15"),
    ("last week, on Tuesday", "past", "2024-10-15"),
    ("last week Tuesday", "past", "2024-10-15"),
    ("the Tuesday of last week", "past", "2024-10-15"),
    ("Tuesday evening last week", "past", "2024-10-15"),
    ("since Tuesday last week", "present", "2024-10-15"),
    ("on Monday this week", "past", "2024-10-21"),
    ("on Sunday this week", "future", "2024-10-27"),
    ("on Monday next week", "future", "2024-10-28"),
    ("in two weeks, on Friday", "future", "2024-11-08"),
    ("on the weekend two weeks ago", "past", "2024-10-12"),
    ("on the 5th of last month", "past", "2024-09-05"),
    ("last month on the 30th", "past", "2024-09-30"),
    ("two months ago, on the 5th", "past", "2024-08-05"),
    ("in March two years ago", "past", "2022-03"),
    ("two years ago in March", "past", "2022-03"),
    ("three years ago on 5 May", "past", "2021-05-05"),
    ("at Christmas two years ago", "past", "2022-12-25"),
]
NEXT_BUT_ONE = [
    ("the Friday before last", "past", "2024-10-11"),
    ("the week before last", "past", "2024-10-07/2024-10-13"),
    ("the weekend before last", "past", "2024-10-12"),
    ("the month before last", "past", "2024-08"),
    ("the year before last", "past", "2022"),
    ("the summer before last", "past", "2023-06-01/2023-08-31"),
    ("the May before last", "past", "2023-05"),
    ("the Christmas before last", "past", "2022-12-25"),
    ("the night before last", "past", "2024-10-21"),
    ("the Monday after next", "future", "2024-11-04"),
    ("the week after next", "future", "2024-11-04/2024-11-10"),
    ("two Fridays ago", "past", "2024-10-11"),
    ("three weekends ago", "past", "2024-10-05"),
    ("two summers ago", "past", "2023-06-01/2023-08-31"),
    ("Tuesday the week before last", "past", "2024-10-08"),
]
ACROSS_THE_YEAR = [
    ("in January", "future", "2025-01"),
    ("in January", "past", "2024-01"),
    ("on Thursday", "future", "2025-01-02"),
    ("next week", "future", "2024-12-30/2025-01-05"),
    ("next month", "future", "2025-01"),
    ("in four days", "future", "2025-01-01"),
    ("on the 3rd of January", "future", "2025-01-03"),
    ("the day after New Year's Eve", "future", "2025-01-01"),
    ("on New Year's Eve", "past", "2023-12-31"),
    ("last Christmas", "past", "2024-12-25"),
    ("next Christmas", "future", "2025-12-25"),
    ("next year", "future", "2025"),
]


@pytest.mark.parametrize(("text", "tense", "expected"), [*CASES, *WITHIN_ANOTHER, *NEXT_BUT_ONE])
def test_a_date_is_resolved_against_the_message(text: str, tense: Tense, expected: str) -> None:
    assert resolved(text, WEDNESDAY, tense) == [expected]


@pytest.mark.parametrize(("text", "tense", "expected"), ACROSS_THE_YEAR)
def test_a_date_is_right_across_a_years_end(text: str, tense: Tense, expected: str) -> None:
    assert resolved(text, SATURDAY, tense) == [expected]


@pytest.mark.parametrize(
    "text",
    [
        "I may come, and you sat in the sun",
        "we march on",
        "on the third floor, in the 4th row",
        "twenty people in a week of rain",
        "on Mondays",
        "version 2024.1 of 2000 files",
        "this may be so",
        "3/4/2024",
    ],
)
def test_what_is_no_certain_date_is_none(text: str) -> None:
    assert [each for each in resolved(text, WEDNESDAY, "past") if each != "None"] == []


def test_a_day_that_the_calendar_lacks_is_none() -> None:
    assert resolved("on 31 February, in 9999 years", WEDNESDAY, "future") == ["None", "None"]


def test_what_is_last_years_is_not_of_the_date_before_it() -> None:
    told = resolved("on 28 February last year's budget was cut", WEDNESDAY, "past")

    assert told == ["2024-02-28", "2023"]


@pytest.mark.parametrize(
    "text",
    [
        "We moved last year. In May we met",
        "until 2021 before May",
        "after 2020, in May, she left",
        "in 2019, before Christmas",
        "last year, at the end of the year",
        "last year from May",
    ],
)
def test_a_year_is_not_that_of_another_date(text: str) -> None:
    assert len(find_dates(text)) == 2


@pytest.mark.parametrize(
    "text",
    [
        "We met last week. On Tuesday we talked",
        "on Tuesday last week's plan failed",
        "on Tuesday, last week was over",
        "for two weeks on Thursday",
        "last week and on Tuesday",
        "on Tuesday last year",
        "two days ago on Friday",
    ],
)
def test_a_day_is_not_of_another_period_beside_it(text: str) -> None:
    assert len(find_dates(text)) == 2


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("the week before last Christmas", "2023-12-18"),
        ("the Friday before last week", "2024-10-18"),
        ("on the 31st of last month", "None"),
    ],
)
def test_what_looks_like_the_last_but_one_is_resolved_as_it_is_meant(
    text: str, expected: str
) -> None:
    assert resolved(text, WEDNESDAY, "past")[0] == expected


def test_a_day_is_the_messages_own() -> None:
    at = datetime(2024, 12, 31, 23, 30, tzinfo=timezone(timedelta(hours=-5)))

    found = find_dates("tomorrow")[0].resolve(at, "future")

    assert found is not None
    assert found.start == datetime(2025, 1, 1, tzinfo=at.tzinfo)
    assert found.end - found.start == timedelta(days=1)


def test_a_mention_has_its_place_and_its_preposition() -> None:
    text = "I have lived here since March, until last Monday."

    found = find_dates(text)

    assert [(text[each.start : each.end], each.relation) for each in found] == [
        ("since March", "since"),
        ("until last Monday", "until"),
    ]


@given(
    st.text(alphabet="onthe daylstMrchin1249-/. ,", max_size=60),
    st.datetimes(timezones=st.just(UTC)),
    st.sampled_from(["past", "present", "future"]),
)
def test_any_text_is_read_at_any_time(text: str, at: datetime, tense: Tense) -> None:
    for mention in find_dates(text):
        found = mention.resolve(at, tense)

        assert found is None or found.start < found.end


@pytest.mark.parametrize(
    "part", ["on the ", "a ", "1 ", "last ", "the day before ", "in two weeks ", "may 5 of "]
)
def test_long_texts_are_read_in_linear_time(part: str) -> None:
    text = part * (100_000 // len(part))
    began = time.process_time()

    find_dates(text)

    assert time.process_time() - began < 2


FIGURES = (
    "5 15th 2023 2024-05-06 3.2.2025 20:15 1/2 of ago now couple year's time than - we thirty-first"
)
DATE_WORDS = st.sampled_from(
    [*sorted(date_words().beginnings | date_words().telling), *FIGURES.split()]
)


@given(st.lists(DATE_WORDS, min_size=1, max_size=9).map(" ".join))
def test_a_date_is_found_wherever_the_pattern_finds_one(text: str) -> None:
    assert [match.span() for match in iter_mentions(text)] == [
        match.span() for match in date_words().mention.finditer(text)
    ]
