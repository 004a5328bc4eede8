"""What people say to be polite, and what only begins so."""

import time

import pytest

from mnestic.memory.courtesies import is_courtesy


@pytest.mark.parametrize(
    "text",
    [
        "hello",
        "Hi Anna!",
        "hello?",
        "hey there",
        "Good morning",
        "good morning, and thanks for everything",
        "Good evening everyone",
        "good night",
        "have a nice weekend",
        "Have a great rest of your day!",
        "I wish you a lovely evening :)",
        "happy birthday!",
        "Happy belated birthday, Tom!",
        "Merry Christmas and a happy new year",
        "How are you?",
        "See you tomorrow!",
        "thank you so much for your help :D",
        "Thanks a lot, Mara!",
        "You’re welcome",  # noqa: RUF001 (an apostrophe as telephones write it)
        "No problem 👍",
        "❤️ thanks",
        "ok",
        "OK, do that",
        "yes please, do that",
        "no thanks, not now",
        "Okay, great, thanks!",
        "that's fine",
        "haha",
        "Ja",
    ],
)
def test_what_is_said_to_be_polite_is_a_courtesy(text: str) -> None:
    assert is_courtesy(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "👍",
        "why?",
        "birthday",
        "her birthday?",
        "yes, Thursday",
        "no, book it",
        "Hello, Berlin?",
        "hi, where is it",
        "thanks, where does she live",
        "happy birthday Leila when",
        "have a nice weekend with Leila",
        "good morning, it rains in Porto",
        "tell me more",
    ],
)
def test_what_only_begins_politely_is_no_courtesy(text: str) -> None:
    assert not is_courtesy(text)


@pytest.mark.parametrize("text", ["hi " * 15, "good good morning " * 5, "see you later then " * 4])
def test_what_is_almost_a_courtesy_is_seen_at_once(text: str) -> None:
    began = time.monotonic()

    assert not is_courtesy(f"{text} quick brown")
    assert not is_courtesy(text * 100_000)
    assert time.monotonic() - began < 1
