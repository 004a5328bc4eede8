"""A program that stores its prompts stores its questions: what memory put before them is left out."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from mnestic.memory.errors import InvalidInputError
from mnestic.memory.knowledge.entries import Entry, EntryQuery
from mnestic.memory.knowledge.resources import Resource
from mnestic.memory.retrieval.auto_retrieval import AutoRetrieval
from mnestic.starter.client.memory_client import MemoryClient

NOW = datetime(2026, 3, 5, 12, tzinfo=UTC)
QUESTION = "Where does Mara live?"


@pytest.fixture
async def known(ada: MemoryClient) -> MemoryClient:
    await ada.add(
        "Mara lives in Turin, near the river.", subjects=["Mara"], at=NOW - timedelta(days=2)
    )
    await ada.add("The staging server runs Debian.", at=NOW - timedelta(days=1))
    return ada


async def ask(ada: MemoryClient, message: str = QUESTION, **fields: Any) -> AutoRetrieval:
    return await ada.auto_retrieve(message, "telegram", asked_at=NOW, **fields)


async def listed(ada: MemoryClient) -> tuple[Entry, ...]:
    found, _ = await ada.entries.list(EntryQuery())
    return tuple(found)


async def test_a_question_that_is_stored_again_and_again_is_told_once(known: MemoryClient) -> None:
    sizes = []
    for number in range(6):
        sizes.append((await ask(known)).tokens)
        at = NOW + timedelta(minutes=number)
        await known.add(
            QUESTION,
            entry_type="interaction",
            speaker="Ola",
            channel="telegram",
            source_id=f"m{number}",
            at=at,
        )

    assert sizes[2:] == [sizes[2]] * 4


@pytest.mark.parametrize("way", ["add", "ingest"])
async def test_a_program_that_stores_its_prompts_stores_its_questions(
    known: MemoryClient, way: str
) -> None:
    questions = [QUESTION, "Is Mara near the river?", "What lives on the staging server?"]
    known_before, sizes = len(await listed(known)), []
    for number, question in enumerate([*questions, QUESTION]):
        told, at = await ask(known, question), NOW + timedelta(minutes=number)
        context = await known.context_for_query(question, asked_at=NOW)
        prompt = f"{told.text}\n{context.text}\n\n{question}"
        sizes.append((await ask(known, question, latest=0)).tokens)
        if way == "add":
            await known.add(prompt, speaker="Ola", source_id=f"m{number}", at=at)
        else:
            message = Resource(
                session_id="s1",
                source_id=f"m{number}",
                channel="telegram",
                speaker="Ola",
                content=prompt,
                at=at,
            )
            await known.ingest([message])

    stored = [entry.content for entry in reversed(await listed(known))]
    assert stored[known_before:] == [*questions, QUESTION]
    assert max(sizes) < 2 * sizes[0]


async def test_a_raw_message_is_stored_without_a_block(known: MemoryClient) -> None:
    block = (await ask(known)).text
    message = Resource(
        session_id="s1",
        source_id="m1",
        channel="telegram",
        speaker="Ola",
        content=f"{block}\nTea.",
        at=NOW,
    )

    await known.messages.append([message])
    await known.ingest([message])

    assert (await listed(known))[0].content == "Tea."


async def test_an_entry_that_is_added_with_a_block_is_the_entry_without_it(
    known: MemoryClient,
) -> None:
    block = (await ask(known)).text

    added = [await known.add(text) for text in (f"{block}\nTea.", "Tea.", f"Tea.\n{block}")]

    assert {(entry.id, entry.content) for entry in added} == {(added[0].id, "Tea.")}
    with pytest.raises(InvalidInputError, match="entry: has no content but a block of memories"):
        await known.add(block)
