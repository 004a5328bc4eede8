"""Questions that cannot be asked are refused in one clear sentence, and odd ones are answered honestly."""

from datetime import datetime
from typing import Any

import pytest

from mnestic.memory.errors import InvalidInputError
from mnestic.starter.client.memory_client import MemoryClient
from mnestic.starter.client.mnestic_client import MnesticClient

KNOWN = "The spare key of the greenhouse hangs behind the ladder."

REFUSED: dict[str, tuple[str, dict[str, Any], str]] = {
    "empty": ("", {}, "empty"),
    "blank": (" \n\t ", {}, "empty"),
    "1 MB": ("key " * 262_144, {}, "limit is"),
    "a zero byte": ("key\0", {}, "NUL"),
    "half a surrogate pair": ("key \ud800", {}, "surrogate"),
    "an unknown type": ("key", {"entry_types": ["gossip"]}, "interaction"),
    "an unknown category": ("key", {"categories": ["gossip"]}, "profile"),
    "an unknown status": ("key", {"statuses": ["gone"]}, "archived"),
    "an unknown mode": ("key", {"mode": "fuzzy"}, "hybrid"),
    "no result": ("key", {"limit": 0}, "limit"),
    "too many results": ("key", {"limit": 1_000_000}, "limit"),
    "a score that cannot be": ("key", {"min_score": 2}, "min_score"),
    "a score that is no number": (
        "key",
        {"min_score": float("nan")},
        "min_score: is nan, which is no number from 0 to 1",
    ),
    "a moment without a zone": ("key", {"as_of": datetime(2025, 3, 1)}, "offset"),  # noqa: DTZ001
    "a moment that is none": ("key", {"since": "some day"}, "since"),
    "an unknown field": ("key", {"colour": "blue"}, "colour"),
    "a filter with a zero byte": ("key", {"session_id": "s\0"}, "session_id: holds a NUL"),
    "a subject with a zero byte": ("key", {"subject": "s\0"}, "subject: holds a NUL"),
    "a tag with a zero byte": ("key", {"tags": ["key", "a\0"]}, "tags.1: holds a NUL"),
    "a tag that is no text": ("key", {"tags": ["key\ud800"]}, "tags.0: holds half of a surrogate"),
    "an excluded entry that is no text": ("key", {"excluded": ["a\0"]}, "excluded"),
    "weights that are none": ("key", {"policy": "x"}, "policy: is 'x'; give a RetrievalPolicy"),
}
ODD = (
    "and then it was of the",
    "?! ... --- ()",
    "'; DROP TABLE mnestic.entry; -- & | ! :* <-> \\ %",
    "\x01\x02\x07\x1b[31m",
    "x" * 9000,
    "nobody said any such thing " * 350,
    "(.*)+ [a-z]{9999} \\y(?=",
    "מתי יוצאת הרכבת לירושלים",
    "电车几点开往机场",
    "\u0301\u0301",
)


@pytest.fixture
async def ada(client: MnesticClient) -> MemoryClient:
    memory = client.memory("ada")
    await memory.add(KNOWN)
    return memory


async def test_a_question_that_cannot_be_is_refused_in_one_line(ada: MemoryClient) -> None:
    for name, (text, asked, told) in REFUSED.items():
        with pytest.raises(InvalidInputError) as refused:
            await ada.retrieve(text, **asked)

        assert told in str(refused.value), name
        assert len(str(refused.value)) < 500
        assert len(str(refused.value).splitlines()) == 1


async def test_an_odd_question_has_an_empty_answer_and_odd_words_hide_none(
    ada: MemoryClient,
) -> None:
    for text in ODD:
        alone = await ada.retrieve(text)
        beside = await ada.retrieve(f"Where is the spare key of the greenhouse? {text[:20]}")

        assert (alone.results, alone.skipped) == ((), {}), text
        assert [each.entry.content for each in beside.results] == [KNOWN], text


async def test_an_empty_memory_has_an_empty_answer(client: MnesticClient) -> None:
    memory = client.memory("nobody")

    for mode in ("hybrid", "semantic", "text"):
        assert (await memory.retrieve("Where is the spare key?", mode=mode)).results == ()


async def test_odd_names_of_subjects_and_tags_are_looked_for_as_they_are(
    client: MnesticClient,
) -> None:
    memory = client.memory("ada")
    names = ("C++", "(.*)", "O'Brien & Sons", "a\\b", "100%", "Zoë-Ann")
    for name in names:
        await memory.add(
            f"Likes walnuts, number {names.index(name)}.", subjects=[name], tags=[name]
        )

    found = [await memory.retrieve("walnuts", subject=name) for name in names]
    tagged = [await memory.retrieve("walnuts", tags=[name]) for name in names]

    for retrievals in (found, tagged):
        told = [[each.entry.subjects for each in one.results] for one in retrievals]
        assert told == [[(name,)] for name in names]
