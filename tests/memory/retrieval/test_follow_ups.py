"""What a short message asks, given the one that it follows."""

from datetime import UTC, datetime, timedelta

import pytest

from mnestic.memory.retrieval.auto_retrieval import ChannelMessage
from mnestic.memory.retrieval.follow_ups import FollowUpQuery, follow_up_query

NOW = datetime(2026, 3, 5, 12, tzinfo=UTC)
BEFORE = ("My brother is called Jonas.", "Where does Mara live?")


def said(*contents: str, ago: timedelta = timedelta(minutes=1)) -> list[ChannelMessage]:
    return [
        ChannelMessage(entry_id=str(number), speaker="User", content=content, at=NOW - ago)
        for number, content in enumerate(contents)
    ]


def asked(
    message: str, *before: str, ago: timedelta = timedelta(minutes=1), max_chars: int = 1000
) -> FollowUpQuery | None:
    return follow_up_query(message, before=said(*before, ago=ago), now=NOW, max_chars=max_chars)


def text_of(question: FollowUpQuery | None) -> str:
    assert question is not None
    return question.text


@pytest.mark.parametrize(
    "message",
    [
        "Why?",
        "why",
        "And her sister?",
        "and then",
        "or not at all?",
        "But why?",
        "Also her",
        "What about Berlin?",
        "How is she?",
        "Who's that",
        "Curtains",
        "tell me more",
        "yes, Thursday",
        "Hello, Berlin?",
        "Où?",
        "...and then?",
        "really？",  # noqa: RUF001 (a question mark as Chinese has it)
    ],
)
def test_a_message_that_says_little_and_asks_on_is_asked_with_the_one_before(message: str) -> None:
    question = asked(message, *BEFORE)

    assert text_of(question) == f"Where does Mara live?\n{message}"
    assert question is not None
    assert question.follows == said(*BEFORE)[-1]


@pytest.mark.parametrize(
    "message",
    [
        "Which instrument does Jonas play?",
        "Sommerurlaub in Portugal planen",
        "Book the same hotel in Ghent.",
    ],
)
def test_a_message_that_says_something_stands_for_itself(message: str) -> None:
    assert asked(message, *BEFORE) == FollowUpQuery(message)


@pytest.mark.parametrize(
    "message",
    [
        *(
            "",
            " \n",
            "👍",
            "❤️",
            "👍🏽 🎉",
            "...",
            "???",
            ":D",
            "ok",
            "thanks!",
            "that one",
            "let me",
        ),
        *("start", "and repeat that", "Great, keep going!", "ja, fang an", "sigue", "请开始"),
    ],
)
def test_a_message_that_says_nothing_asks_nothing(message: str) -> None:
    assert asked(message, *BEFORE) is None
    assert asked(message) is None


def test_a_message_is_not_put_before_itself() -> None:
    assert text_of(asked("Why?", "Mara moved.", "Why?")) == "Mara moved.\nWhy?"
    assert asked("Why?", "Why?") == FollowUpQuery("Why?")
    assert asked("Why?") == FollowUpQuery("Why?")


def test_a_message_that_says_nothing_is_not_what_another_follows() -> None:
    question = asked("And her sister?", *BEFORE, "In Porto!", "thanks!", "start it", "👍", "")

    assert text_of(question) == "In Porto!\nAnd her sister?"


def test_who_speaks_in_the_channel_is_greeted_and_not_asked_for() -> None:
    before = [
        one.model_copy(update={"speaker": "Mara Holt"})
        for one in said(*BEFORE, "thanks mara", "Hi Mara")
    ]

    question = follow_up_query("And her sister?", before=before, now=NOW, max_chars=1000)

    assert text_of(question) == "Where does Mara live?\nAnd her sister?"
    assert follow_up_query("hello mara", before=before, now=NOW, max_chars=1000) is None
    assert follow_up_query("hello lifejackets", before=before, now=NOW, max_chars=1000) is not None


@pytest.mark.parametrize(("hours", "follows"), [(23, True), (25, False)])
def test_what_was_said_more_than_a_day_before_is_not_followed(hours: int, follows: bool) -> None:
    question = asked("Why?", *BEFORE, ago=timedelta(hours=hours))

    assert (text_of(question) == "Where does Mara live?\nWhy?") is follows
    assert (question == FollowUpQuery("Why?")) is not follows


def test_a_question_is_no_longer_than_it_may_be() -> None:
    long = "Mara walks along the river. " * 100

    assert len(text_of(asked(long, *BEFORE))) <= 1000
    assert len(text_of(asked("Why?", long))) <= 305
    assert len(text_of(asked("Why?", long, max_chars=20))) <= 20
    assert len(text_of(asked("x" * 2000, long))) <= 1000
