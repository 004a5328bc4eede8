"""What a short message asks, given the one that it follows."""

from datetime import UTC, datetime, timedelta

from mnestic.memory.retrieval.auto_retrieval import ChannelMessage
from mnestic.memory.retrieval.follow_ups import FollowUpQuery, follow_up_query
from tests.memory.tables import tables

CASES = tables(__file__)
NOW = datetime(2026, 3, 5, 12, tzinfo=UTC)
BEFORE = ("My brother is called Jonas.", "Where does Mara live?")
MINUTE = timedelta(minutes=1)


def said(*contents: str, ago: timedelta = MINUTE, speaker: str = "User") -> list[ChannelMessage]:
    return [
        ChannelMessage(entry_id=str(number), speaker=speaker, content=content, at=NOW - ago)
        for number, content in enumerate(contents)
    ]


def asked(
    message: str,
    *before: str,
    ago: timedelta = MINUTE,
    speaker: str = "User",
    max_chars: int = 1000,
) -> str | None:
    channel = said(*before, ago=ago, speaker=speaker)
    found = follow_up_query(message, before=channel, now=NOW, max_chars=max_chars)
    return found and found.text


def test_a_message_that_says_little_and_asks_on_is_asked_with_the_one_before() -> None:
    follows = follow_up_query("Why?", before=said(*BEFORE), now=NOW, max_chars=1000)

    for message in CASES["with_the_one_before"]:
        assert asked(message, *BEFORE) == f"Where does Mara live?\n{message}"
    assert follows == FollowUpQuery("Where does Mara live?\nWhy?", said(*BEFORE)[-1])


def test_a_message_that_says_something_stands_for_itself_and_one_that_says_nothing_asks_nothing() -> (
    None
):
    assert [asked(one, *BEFORE) for one in CASES["by_itself"]] == CASES["by_itself"]
    for before in (BEFORE, ()):
        assert [one for one in CASES["nothing"] if asked(one, *before) is not None] == []


def test_a_message_follows_neither_itself_nor_one_that_says_nothing() -> None:
    assert asked("Why?", "Mara moved.", "Why?") == "Mara moved.\nWhy?"
    assert asked("Why?", "Why?") == asked("Why?") == "Why?"
    assert asked("And her sister?", *BEFORE, "In Porto!", "thanks!", "start it", "👍", "") == (
        "In Porto!\nAnd her sister?"
    )


def test_who_speaks_in_the_channel_is_greeted_and_not_asked_for() -> None:
    before = (*BEFORE, "thanks mara", "Hi Mara")

    assert asked("And her sister?", *before, speaker="Mara Holt") == (
        "Where does Mara live?\nAnd her sister?"
    )
    assert asked("hello mara", *before, speaker="Mara Holt") is None
    assert asked("hello lifejackets", *before, speaker="Mara Holt") is not None


def test_what_was_said_more_than_a_day_before_is_not_followed() -> None:
    assert asked("Why?", *BEFORE, ago=timedelta(hours=23)) == "Where does Mara live?\nWhy?"
    assert asked("Why?", *BEFORE, ago=timedelta(hours=25)) == "Why?"


def test_a_question_is_no_longer_than_it_may_be() -> None:
    long = "Mara walks along the river. " * 100

    assert len(asked(long, *BEFORE) or "") <= 1000
    assert 4 < len(asked("Why?", long) or "") <= 305
    assert len(asked("Why?", long, max_chars=20) or "") <= 20
    assert len(asked("x" * 2000, long) or "") <= 1000
