"""The user of an agent, whom facts and questions call so, and facts whose subject nobody names."""

from datetime import UTC, datetime, timedelta

import pytest

from mnestic.memory.knowledge.resources import Resource
from mnestic.starter.client.memory_client import MemoryClient
from mnestic.starter.client.mnestic_client import MnesticClient

NOON = datetime(2026, 3, 4, 12, tzinfo=UTC)
SAID = (
    ("user", "Good morning!"),
    ("assistant", "Good morning, what can I do?"),
    ("Ines", "I have the silver tariff."),
    ("user", "It rained all April."),
)


@pytest.fixture
async def chat(client: MnesticClient) -> MemoryClient:
    memory = client.memory("desk")
    await memory.ingest(
        [
            Resource(
                session_id="s",
                source_id=f"m{number}",
                channel="chat",
                speaker=speaker,
                content=text,
                at=NOON + timedelta(minutes=number),
            )
            for number, (speaker, text) in enumerate(SAID)
        ]
    )
    return memory


async def first(memory: MemoryClient, question: str) -> str:
    found = await memory.retrieve(question)
    return found.results[0].entry.content if found.results else ""


@pytest.mark.parametrize(
    "question",
    ["What tariff does the user have?", "What is my tariff?", "What is the User's tariff?"],
)
async def test_a_fact_of_the_user_comes_before_those_of_others(
    chat: MemoryClient, question: str
) -> None:
    await chat.facts.add("user", "tariff", "gold")
    await chat.facts.add("Ines", "tariff", "silver")

    assert await first(chat, question) == "user tariff gold."


@pytest.mark.parametrize("question", ["Where do I live?", "Where does the user live?"])
async def test_the_user_is_who_asks(chat: MemoryClient, question: str) -> None:
    await chat.facts.add("Ines", "lives_in", "Faro")
    await chat.facts.add("user", "lives_in", "Braga")

    found = await chat.retrieve(question)

    assert [one.entry.content for one in found.results] == ["user lives in Braga."]


@pytest.mark.parametrize(
    "question", ["What insurance is on file?", "What is the user's insurance?", "my insurance"]
)
async def test_what_names_no_subject_is_about_the_user(chat: MemoryClient, question: str) -> None:
    await chat.add("The insurance on file is comprehensive.", at=NOON)

    assert await first(chat, question) == "The insurance on file is comprehensive."
    scores = [one.score for one in (await chat.retrieve(question)).results]
    assert scores[0] > 0.9


async def test_facts_are_listed_by_the_user_as_by_any_name(chat: MemoryClient) -> None:
    await chat.facts.add("user", "tariff", "gold")

    for name in ("user", "User", "the user"):
        facts, _ = await chat.facts.list(subject=name)
        assert [fact.object for fact in facts] == ["gold"]
