"""A program that stores its prompts stores its questions: what memory put before them is left out."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from mnestic.memory.errors import InvalidInputError
from mnestic.memory.knowledge.entries import EntryQuery
from mnestic.memory.retrieval.auto_retrieval import AutoRetrieval
from mnestic.starter.client.memory_client import MemoryClient
from tests.activities.learning_models import said

NOW = datetime(2026, 3, 5, 12, tzinfo=UTC)
QUESTION = "Where does Mara live?"


@pytest.fixture
async def known(ada: MemoryClient) -> MemoryClient:
    at = NOW - timedelta(days=2)
    await ada.add("Mara lives in Turin, near the river.", subjects=["Mara"], at=at)
    await ada.add("The staging server runs Debian.", at=at)
    return ada


async def ask(ada: MemoryClient, message: str = QUESTION, **fields: Any) -> AutoRetrieval:
    return await ada.auto_retrieve(message, "telegram", asked_at=NOW, **fields)


async def test_what_is_stored_raw_or_added_with_a_block_is_stored_without_it(
    known: MemoryClient,
) -> None:
    block = (await ask(known)).text
    message = said(1, f"{block}\nMilk.")

    await known.messages.append([message])
    await known.ingest([message])
    added = [await known.add(text) for text in (f"{block}\nTea.", "Tea.", f"Tea.\n{block}")]

    entries, _ = await known.entries.list(EntryQuery())
    assert "Milk." in {entry.content for entry in entries}
    assert {(entry.id, entry.content) for entry in added} == {(added[0].id, "Tea.")}
    with pytest.raises(InvalidInputError, match="entry: has no content but a block of memories"):
        await known.add(block)
