"""The user of an agent, whom facts and questions call so, and facts whose subject nobody names."""

import pytest

from mnestic.starter.client.memory_client import MemoryClient
from tests.activities.learning_models import NOON, said

SAID = (
    ("user", "Good morning!"),
    ("assistant", "Good morning, what can I do?"),
    ("Ines", "I have the silver tariff."),
    ("user", "It rained all April."),
)


@pytest.fixture
async def chat(ada: MemoryClient) -> MemoryClient:
    await ada.ingest([said(n, text, speaker=speaker) for n, (speaker, text) in enumerate(SAID)])
    return ada


async def answers(memory: MemoryClient, *questions: str) -> set[str]:
    """The first answer to each question."""
    return {(await memory.retrieve(one)).results[0].entry.content for one in questions}


async def test_the_user_is_who_asks_and_called_so(chat: MemoryClient) -> None:
    await chat.facts.add("user", "tariff", "gold")
    await chat.facts.add("Ines", "tariff", "silver")
    await chat.facts.add("Ines", "lives_in", "Faro")
    await chat.facts.add("user", "lives_in", "Braga")

    tariffs = await answers(chat, "What tariff does the user have?", "What is my tariff?")
    homes = await answers(chat, "Where do I live?", "Where does the user live?")

    assert (tariffs, homes) == ({"user tariff gold."}, {"user lives in Braga."})
    assert len((await chat.retrieve("Where do I live?")).results) == 1
    for name in ("user", "the user"):
        facts, _ = await chat.facts.list(subject=name, predicate="tariff")
        assert [fact.object for fact in facts] == ["gold"]


async def test_what_names_no_subject_is_about_the_user(chat: MemoryClient) -> None:
    content = "The insurance on file is comprehensive."
    await chat.add(content, at=NOON)

    for question in ("What insurance is on file?", "What is the user's insurance?", "my insurance"):
        assert await answers(chat, question) == {content}
        assert (await chat.retrieve(question)).results[0].score > 0.9
