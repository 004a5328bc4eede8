"""Reading questions: which words ask, whom they name, and which time."""

from datetime import UTC, datetime, timedelta

import pytest

from mnestic.memory.retrieval.query_parsing import (
    content_words,
    is_english,
    parse_words,
    possible_names,
    without_names,
)
from tests.memory.tables import tables, wrong

CASES = tables(__file__)
NOON = datetime(2026, 3, 4, 12, tzinfo=UTC)  # a Wednesday
DAY = timedelta(days=1)


def words_of(text: str) -> str:
    return " ".join(word.text for word in parse_words(text, asked_at=NOON).words)


def days_of(text: str) -> list[datetime]:
    """The days on which the times begin that a question may mean, the likeliest first."""
    question = parse_words(text, asked_at=NOON)
    return [one.start for one in (question.period, *question.earlier) if one is not None]


def test_the_frame_of_a_question_is_not_looked_for_and_the_same_words_elsewhere_are() -> None:
    assert wrong(CASES["words"], words_of) == []
    assert len(words_of("word " * 1000).split()) == 200


def test_names_are_written_with_a_capital_within_a_sentence() -> None:
    question = parse_words("Hello, Paul. Mark the day: does Anna know the PIN?", asked_at=NOON)

    assert [word.text for word in question.words if word.is_capital] == ["Paul", "Anna"]


@pytest.mark.parametrize(
    ("asked", "first", "unit"),
    [
        ("what did she say in may?", datetime(2025, 5, 1, tzinfo=UTC), "month"),
        ("who came last may\nand why?", datetime(2025, 5, 1, tzinfo=UTC), "month"),
        ("in march last year", datetime(2025, 3, 1, tzinfo=UTC), "month"),
        ("Where were we in November?", datetime(2025, 11, 1, tzinfo=UTC), "month"),
        ("What broke at the harbour last week?", datetime(2026, 2, 23, tzinfo=UTC), "week"),
    ],
)
def test_a_time_is_the_last_one_of_its_name(asked: str, first: datetime, unit: str) -> None:
    period = parse_words(asked, asked_at=NOON).period

    assert period is not None
    assert (period.start, period.unit) == (first, unit)


@pytest.mark.parametrize(
    "asked",
    [
        "may she come in",
        "who may see the flat we live in",
        "what of this may, in theory, break?",
        "May I deploy on a Friday",
        "Who cooks every Friday",
    ],
)
def test_what_may_be_and_any_day_of_a_name_is_no_time(asked: str) -> None:
    assert days_of(asked) == []
    assert words_of(asked).split()[-1] == asked.rsplit(maxsplit=1)[-1].strip("?")


def test_words_that_name_the_time_ask_for_nothing_else() -> None:
    assert words_of("What broke at the harbour last week?") == "What broke at the harbour"


@pytest.mark.parametrize(
    "date",
    [
        *("31 February", "the 31st of April", "February 30, 2025", "30.2.2025", "31/4/2025"),
        *("2025-02-30", "2025-13-01", "29 February 2023", "the fifth Monday of February 2025"),
        *("0001-01-01", "9999-12-30"),
    ],
)
def test_a_date_that_is_none_names_no_time(date: str) -> None:
    for relation in ("on", "since", "after", "before", "two days after"):
        assert days_of(f"What happened {relation} {date}?") == []


def test_what_comes_each_year_may_be_of_an_earlier_one() -> None:
    dates = {
        "on 3 May": (5, 3),
        "in May": (5, 1),
        "at the end of May": (5, 22),
        "on the first Monday of May": (5, 5),
    }
    found = {text: days_of(f"What happened {text}?") for text in dates}

    assert {text: (days[0].month, days[0].day) for text, days in found.items()} == dates
    for days in found.values():
        assert [day.year for day in days] == [2025 - before for before in range(11)]
    assert days_of("What happened on 29 February?")[:3] == [
        datetime(year, 2, 29, tzinfo=UTC) for year in (2024, 2020, 2016)
    ]


@pytest.mark.parametrize(
    "text",
    [
        *("on 3 May 2025", "last week", "yesterday", "last spring", "at the end of May 2025"),
        "on the first Friday of this month",
    ],
)
def test_a_time_that_is_one_alone_has_no_earlier_ones(text: str) -> None:
    assert len(days_of(f"What happened {text}?")) == 1


@pytest.mark.parametrize(
    "moment", [datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC)]
)
def test_the_first_and_last_moments_that_there_are_can_ask_too(moment: datetime) -> None:
    for text in ("since 2020", "after 2020", "in May", "last week", "tomorrow"):
        question = parse_words(f"What changed {text}?", asked_at=moment)

        assert question.period is None or question.period.start < question.period.end


def test_since_goes_on_until_the_question_and_after_what_is_to_come_from_there() -> None:
    since = parse_words("What has changed since 2025-12-01?", asked_at=NOON).period

    assert since is not None
    assert (since.start, since.end) == (datetime(2025, 12, 1, tzinfo=UTC), NOON + DAY)
    for text in ("What happens after next week?", "What is planned after tomorrow?"):
        after = parse_words(text, asked_at=NOON).period
        assert after is not None
        assert NOON < after.start < after.end


def test_what_asks_for_a_time_or_for_the_past_is_told() -> None:
    for name in ("asks_for_time", "asks_for_earlier"):
        rows = CASES[name]
        assert wrong(rows, lambda text, n=name: getattr(parse_words(text, asked_at=NOON), n)) == []


def test_the_longest_name_is_taken_out_of_the_words() -> None:
    words = parse_words("Did Mara Lind's sister visit Mara?", asked_at=NOON).words

    named = without_names(words, {"mara", "mara lind"})
    assert named.names == ("mara lind", "mara")
    assert named.words == ("Did", "sister", "visit")


def test_who_a_question_is_about_follows_an_auxiliary_or_owns() -> None:
    def topics(text: str) -> list[list[str]]:
        return [[*topic] for topic in parse_words(text, asked_at=NOON).topics]

    assert wrong(CASES["topics"], topics) == []


def test_a_small_function_word_is_no_name() -> None:
    small = parse_words("what will the art of it be", asked_at=NOON).words
    capital = parse_words("What did Will paint?", asked_at=NOON).words

    assert "will" not in possible_names(small)
    assert "will" in possible_names(capital)


def test_what_a_question_says_of_itself_is_not_looked_for_where_anything_else_is_asked() -> None:
    assert content_words(["could", "want", "money"]) == ("money",)
    assert content_words(["want"]) == ("want",)
    assert content_words(["Tell", "what", "Mara", "mentioned", "lighthouse"]) == (
        "Mara",
        "lighthouse",
    )


def test_english_is_told_by_its_function_words() -> None:
    assert is_english(["Tell", "me", "where", "lives", "And", "in", "which", "city"])
    assert is_english(["What", "was", "it"])
    assert not is_english(["Was", "hat", "die", "Apotheke", "in", "Gent"])
    assert not is_english(["lighthouse", "Malmo"])
    assert not is_english(())
