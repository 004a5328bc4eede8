"""What people say to be polite, and what only begins so."""

import time

import pytest

from mnestic.memory.language.small_talk import is_small_talk


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
        "Hello 👋 Nadia",
        "hi there Tom",
        "Thanks Mara!",
        "Hi Anna-Lena, how are you",
        "ok, good night Mara",
        "Good Morning, Tom",
        "Happy birthday Leila!",
        "Welcome back, Mara",
        "See you Monday, Leo!",
        "Danke, Élodie",
        "happy birthday grandpa",
        "Happy birthday to my dear Grandma!",
        "happy birthday, anton",
        "happy new year, olaf! all the best",
        "merry christmas mum and dad",
        "thanks dad",
        "good night sweetheart",
        "hey albatros",
        "hello tom",
        "hey claude, thanks",
        "Thanks,\nTom",
        "Hi\nTom",
    ],
)
def test_what_is_said_to_be_polite_is_a_courtesy(text: str) -> None:
    assert is_small_talk(text)


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
        "Morning standup.",
        "Morning Standup",
        "welcome package",
        "Welcome Package",
        "hey lifejackets",
        "hey, lifejackets",
        "Happy birthday cake",
        "Happy Birthday Cake",
        "good night story",
        "Good Night Story",
        "thanks giving dinner",
        "Thank You Card",
        "goodbye party",
        "Good luck charm",
        "hello invoices",
        "hello Q3",
        "Hi. Curtains",
        "Hi. Premiere",
        "hey! kayak",
        "Happy Birthday Pony",
        "Thanks, Thursday.",
        "Good Friday",
        "Enjoy Porto",
        "thanks team dinner",
        "happy birthday song",
        "happy birthday ideas",
        "happy birthday venue",
        "happy birthday balloons",
        "merry christmas tree",
        "birthday grandpa",
        "dear grandpa",
        "happy birthday grandpa song",
        "hey, where is the key?",
        "hey dad, where is the key",
        "hey albatros berth",
        "hi\nkayak",
        "hey: kayak",
        "hi - kayak",
        "hey when",
        "thanks standup",
    ],
)
def test_what_only_begins_politely_is_no_courtesy(text: str) -> None:
    assert not is_small_talk(text)


@pytest.mark.parametrize("text", ["hello tom", "thanks, Mara", "Good Morning Tom", "morning tom!"])
def test_who_speaks_is_greeted_however_their_name_is_written(text: str) -> None:
    assert is_small_talk(text, names={"tom", "mara", "holt"})
    assert not is_small_talk(f"{text} standup", names={"tom", "mara", "holt"})


@pytest.mark.parametrize("text", ["thanks tom", "Good Morning Tom", "Morning, tom", "Hello, Tom?"])
def test_what_may_be_a_topic_is_no_name_of_somebody_who_does_not_speak(text: str) -> None:
    assert not is_small_talk(text, names={"mara"})


@pytest.mark.parametrize("text", ["hi " * 15, "good good morning " * 5, "see you later then " * 4])
def test_what_is_almost_a_courtesy_is_seen_at_once(text: str) -> None:
    began = time.monotonic()

    assert not is_small_talk(f"{text} quick brown")
    assert not is_small_talk(text * 100_000)
    assert time.monotonic() - began < 1
