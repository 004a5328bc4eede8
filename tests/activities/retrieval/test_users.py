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


async def test_i_is_the_asker_and_nobody_among_several_speakers(ada: MemoryClient) -> None:
    homes = {
        "test-1": "I live in France.",
        "test-2": "I live in the USA.",
        "Ben": "I live in Norway.",
    }
    await ada.ingest([said(n, text, speaker=name) for n, (name, text) in enumerate(homes.items())])
    await ada.facts.add("test-1", "lives_in", "Lyon")
    question = "Where do I live?"

    told = {name: (await ada.retrieve(question, asker=name)).results for name in homes}
    unsure = [await ada.retrieve(question), await ada.retrieve(question, asker="Zoe")]
    context = await ada.context_for_query(question, asker="test-1")
    by_reader = await ada.retrieve(question, reader="user.ben")
    before = await ada.auto_retrieve(question, "chat", asker="test-2", latest=0)

    for name, results in told.items():
        assert results[0].entry.content == homes[name]
        assert {one.entry.speaker or "test-1" for one in results if one.score > 0.9} == {name}
    assert [found.results for found in unsure] == [(), ()]
    assert "Lyon" in context.text
    assert by_reader.results[0].entry.content == homes["Ben"]
    assert before.memories[0].content == homes["test-2"]


async def test_what_names_no_subject_is_about_the_user(chat: MemoryClient) -> None:
    content = "The insurance on file is comprehensive."
    await chat.add(content, at=NOON)

    for question in ("What insurance is on file?", "What is the user's insurance?", "my insurance"):
        assert await answers(chat, question) == {content}
        assert (await chat.retrieve(question)).results[0].score > 0.9
