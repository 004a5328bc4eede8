"""Compression: one entry quotes several that say nearly the same; nothing is lost by it, and each can be taken back."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from mnestic.activities.clients.english.extractor import EnglishExtractor
from mnestic.activities.clients.no_extractor import NoExtractor
from mnestic.activities.knowledge.removal import remove_entries
from mnestic.activities.maintenance.steps import StepResult
from mnestic.memory.errors import InvalidInputError
from mnestic.memory.knowledge.entries import Entry, EntryQuery
from mnestic.memory.ports import Extractor, Memory
from mnestic.starter.client.client_scope import client_caller
from mnestic.starter.client.memory_client import MemoryClient
from mnestic.starter.settings import Settings
from tests.activities.learning_models import Begin, Steps
from tests.activities.maintenance.waiting_jobs import wait_with

JULY = datetime(2030, 7, 7, 4, tzinfo=UTC)
GARDEN = (
    "The garden needs water in the evening.",
    "In the evening the garden needs to be watered.",
    "The garden has to get water each evening.",
)
Run = Callable[..., Any]


MONDAY = datetime(2030, 3, 4, 9, tzinfo=UTC)


@pytest.fixture
def run(run: Run, steps: Callable[..., Steps]) -> Run:
    """Learns from all messages, and runs weekly maintenance for all agents of the tenant, at a moment."""

    async def step(
        at: datetime = JULY, *, extractor: Extractor | None = None, **fields: Any
    ) -> StepResult:
        learning = steps(extractor=extractor or NoExtractor())
        await learning.extract()
        await learning.learn()
        result: StepResult = await run(at, kind="weekly", **fields)
        return result

    return step


async def test_one_entry_quotes_those_that_say_nearly_the_same(ada: MemoryClient, run: Run) -> None:
    sources = await _add(ada, *GARDEN)
    other = (await _add(ada, "The garden needs shade in the evening.", first=10))[0]

    done = await run()

    (compressed,) = await _compressed(ada)
    assert (done.counts["compressed"], done.counts["compressed_into"]) == (3, 1)
    assert compressed.content == "\n".join(GARDEN)
    assert compressed.at == sources[-1].at
    assert (await ada.entries.provenance(compressed.id)).sources == tuple(
        sorted(one.id for one in sources)
    )
    for source in sources:
        gone = await ada.entries.get(source.id)
        assert (gone.status, gone.merged_into) == ("archived", compressed.id)
    assert await _messages(ada) == {other.id}
    archived, _ = await ada.entries.list_archived()
    assert {one.mark.reason for one in archived} == {"compressed"}


async def test_what_is_recent_or_has_to_stay_as_it_is_is_not_compressed(
    ada: MemoryClient, run: Run, memory: Memory, settings: Settings
) -> None:
    await _add(ada, *GARDEN, at=JULY - timedelta(days=30))
    await _add(ada, *GARDEN, first=10, critical=True)
    await _add(ada, *GARDEN, first=20, entry_type="correction")
    for number, text in enumerate(GARDEN):
        await _add(ada, text, first=30 + number, at=MONDAY - timedelta(days=40 * number))
    sources = await _add(ada, *GARDEN, first=40, speaker="Tom", at=MONDAY)
    await wait_with(memory, settings, {"entry": sources[1].id})
    await _add(
        ada, "I like jazz a lot.", "I like jazz very much.", "I really do like jazz.", first=50
    )

    done = await run(extractor=EnglishExtractor())

    assert await ada.facts.list()
    assert "compressed" not in done.counts


async def test_a_restored_source_leaves_the_entry_and_is_not_compressed_again(
    ada: MemoryClient, run: Run
) -> None:
    sources = await _add(ada, *GARDEN)
    await run()

    restored = await ada.entries.restore(sources[2].id)
    (compressed,) = await _compressed(ada)
    assert restored.content == GARDEN[2]
    assert compressed.content == "\n".join(GARDEN[:2])
    assert "compressed" not in (await run(JULY + timedelta(days=7))).counts
    found = await ada.retrieve(GARDEN[2])
    assert sources[2].id in {one.entry.id for one in found.results}
    with pytest.raises(InvalidInputError, match="restore"):
        await ada.entries.delete(compressed.id)

    await ada.entries.restore(sources[0].id)
    await ada.entries.restore(sources[1].id)
    assert await _compressed(ada) == []
    assert await _messages(ada) == {one.id for one in sources}


async def test_a_removed_source_takes_its_words_along(
    ada: MemoryClient, run: Run, begin: Begin
) -> None:
    sources = await _add(ada, *GARDEN)
    await run()

    async with begin() as transaction:
        assert await remove_entries(transaction, [sources[2].id]) == 1

    (compressed,) = await _compressed(ada)
    assert "each" not in compressed.content


async def test_a_run_compresses_no_more_than_it_may_remove(ada: MemoryClient, run: Run) -> None:
    for number, thing in enumerate(("garden", "meadow", "orchard", "lawn")):
        await _add(ada, *(text.replace("garden", thing) for text in GARDEN), first=10 * number)

    first, second = await run(), await run(JULY + timedelta(days=7))

    assert (first.problems, second.problems) == ((), ())
    assert first.counts["compressed"] <= 10
    assert first.counts["compressed"] + second.counts["compressed"] == 12


async def test_an_import_has_the_sources_as_they_were(
    ada: MemoryClient, run: Run, memory: Memory, settings: Settings
) -> None:
    await _add(ada, *GARDEN)
    await run()
    bob = MemoryClient(client_caller(memory, tenant_id=settings.tenant_id, agent_id="bob"))

    await bob.import_lines(ada.export())

    entries, _ = await bob.entries.list(EntryQuery())
    assert {entry.content for entry in entries} == set(GARDEN)
    await run(JULY + timedelta(days=7))
    assert [one.content for one in await _compressed(bob)] == ["\n".join(GARDEN)]


async def _add(
    ada: MemoryClient, *texts: str, first: int = 0, at: datetime = MONDAY, **fields: Any
) -> list[Entry]:
    return [
        await ada.add(text, source_id=str(number), at=at + timedelta(hours=number), **fields)
        for number, text in enumerate(texts, first)
    ]


async def _messages(ada: MemoryClient) -> set[str]:
    entries, _ = await ada.entries.list(EntryQuery())
    return {entry.id for entry in entries}


async def _compressed(ada: MemoryClient) -> list[Entry]:
    entries, _ = await ada.entries.list(EntryQuery(kinds=("compressed",)))
    return list(entries)
