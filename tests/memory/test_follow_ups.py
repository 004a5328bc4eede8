"""What a short message asks, given the one that it follows."""

import pytest

from mnestic.memory.follow_ups import question_of

BEFORE = ("My brother is called Jonas.", "Where does Mara live?")


@pytest.mark.parametrize(
    "message",
    ["Why?", "And her sister?", "What about Berlin?", "How is she?", "Ja", "👍", "...and then?"],
)
def test_a_message_that_says_little_is_asked_with_the_one_before(message: str) -> None:
    asked = question_of(message, before=BEFORE, max_chars=1000)

    assert asked == f"Where does Mara live?\n{message}"


@pytest.mark.parametrize(
    "message",
    [
        "Which instrument does Jonas play?",
        "Sommerurlaub in Portugal planen",
        "Book the same hotel in Ghent.",
    ],
)
def test_a_message_that_says_something_stands_for_itself(message: str) -> None:
    assert question_of(message, before=BEFORE, max_chars=1000) == message


def test_a_message_is_not_put_before_itself() -> None:
    assert (
        question_of("Why?", before=("Mara moved.", "Why?"), max_chars=1000) == "Mara moved.\nWhy?"
    )
    assert question_of("Why?", before=("Why?",), max_chars=1000) == "Why?"
    assert question_of("Why?", before=(), max_chars=1000) == "Why?"


def test_a_question_is_no_longer_than_it_may_be() -> None:
    long = "Mara walks along the river. " * 100

    assert len(question_of(long, before=BEFORE, max_chars=1000)) <= 1000
    assert len(question_of("Why?", before=(long,), max_chars=1000)) <= 305
    assert len(question_of("Why?", before=(long,), max_chars=20)) <= 20
