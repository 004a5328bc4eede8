"""Dates in words, resolved against the moment at which they were said."""

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnestic.memory.language.date_mentions import find_dates
from mnestic.memory.language.date_words import date_words, iter_mentions, mention_pattern
from mnestic.memory.language.dates import Tense
from tests.memory.tables import tables, wrong

CASES = tables(__file__)
WEDNESDAY = datetime(2024, 10, 23, 20, 15, tzinfo=UTC)
SATURDAY = datetime(2024, 12, 28, 9, 0, tzinfo=UTC)


def resolved(text: str, tense: Tense, at: datetime = WEDNESDAY) -> list[str]:
    return [str(mention.resolve(at, tense)) for mention in find_dates(text)]


@pytest.mark.parametrize("kind", CASES["wednesday"])
def test_a_date_is_resolved_against_the_message(kind: str) -> None:
    rows = CASES["wednesday"][kind]

    assert wrong(rows, lambda text, tense: ", ".join(resolved(text, tense))) == []


def test_a_date_is_right_across_a_years_end() -> None:
    rows = CASES["saturday"]

    assert wrong(rows, lambda text, tense: ", ".join(resolved(text, tense, SATURDAY))) == []


def test_what_is_no_certain_date_is_none() -> None:
    found = {text: set(resolved(text, "past")) - {"None"} for text in CASES["none"]}

    assert {text: days for text, days in found.items() if days} == {}
    assert resolved("on 31 February, in 9999 years", "future") == ["None", "None"]
    assert resolved("on the 31st of last month", "past")[0] == "None"


def test_a_year_or_a_period_is_not_of_another_date_beside_it() -> None:
    assert [text for text in CASES["two"] if len(find_dates(text)) != 2] == []
    assert resolved("on 28 February last year's budget was cut", "past") == ["2024-02-28", "2023"]
    assert resolved("the week before last Christmas", "past")[0] == "2023-12-18"
    assert resolved("the Friday before last week", "past")[0] == "2024-10-18"


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


FIGURES = (
    "5 15th 2023 2024-05-06 3.2.2025 20:15 1/2 of ago now couple year's time than - we thirty-first"
)
DATE_WORDS = st.sampled_from(
    [*sorted(date_words().beginnings | date_words().telling), *FIGURES.split()]
)


@given(st.lists(DATE_WORDS, min_size=1, max_size=9).map(" ".join))
def test_a_date_is_found_wherever_the_pattern_finds_one(text: str) -> None:
    assert [match.span() for match in iter_mentions(text)] == [
        match.span() for match in mention_pattern().finditer(text)
    ]
