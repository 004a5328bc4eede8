"""Questions that cannot be asked are refused in one clear sentence, and odd ones are answered honestly."""

from datetime import datetime

import pytest

from mnestic.memory.errors import InvalidInputError
from mnestic.starter.client.memory_client import MemoryClient
from mnestic.starter.client.mnestic_client import MnesticClient
from tests.memory.tables import tables

KNOWN = "The spare key of the greenhouse hangs behind the ladder."

CASES = tables(__file__)
REFUSED = (
    *CASES["refused"],
    ("key", {"as_of": datetime(2025, 3, 1)}, "offset"),  # noqa: DTZ001
    ("key " * 262_144, {}, "limit is"),
    ("key \ud800", {}, "surrogate"),
    ("key", {"tags": ["key\ud800"]}, "tags.0: holds half of a surrogate"),
)
ODD = (*CASES["odd"], "x" * 9000, "nobody said any such thing " * 350)


@pytest.fixture
async def ada(client: MnesticClient) -> MemoryClient:
    memory = client.memory("ada")
    await memory.add(KNOWN)
    return memory


async def test_a_question_that_cannot_be_is_refused_in_one_line(ada: MemoryClient) -> None:
    for text, asked, told in REFUSED:
        with pytest.raises(InvalidInputError) as refused:
            await ada.retrieve(text, **asked)

        assert told in str(refused.value)
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
