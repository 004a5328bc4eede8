"""What a process keeps of what it read: it is of use, it is bounded, and it is never stale."""

import asyncio
import random
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from mnestic.memory.retrieval import Mode, Retrieval
from mnestic.starter.memory_client import MemoryClient
from mnestic.starter.settings import Settings
from mnestic.stores.postgres.kept_vectors import PIECE
from mnestic.stores.postgres.memory import PostgresMemory
from tests.stores.embedding import embed

TEXTS = (
    "The ferry to Texel leaves at nine.",
    "The ferry timetable changes in autumn.",
    "Mara keeps the spare key under the fern.",
    "The boiler was serviced in March.",
    "The harbour lights are out again.",
    "Jonas repaired the pump of the boiler.",
)
QUESTION = "When does the ferry leave?"


@pytest.fixture
def here(memory: PostgresMemory, settings: Settings) -> MemoryClient:
    return MemoryClient(memory, tenant_id=settings.tenant_id, agent_id="ada")


@pytest.fixture
def there(forgetful: PostgresMemory, settings: Settings) -> MemoryClient:
    return MemoryClient(forgetful, tenant_id=settings.tenant_id, agent_id="ada")


async def fill(client: MemoryClient) -> list[str]:
    return [(await client.add(text)).id for text in TEXTS]


async def embed_in(memory: PostgresMemory, tenant: str, *, number: int = 100) -> None:
    """Has entries get the vectors that they lack, the oldest first."""
    async with memory.transaction(
        tenant_id=tenant, agent_id="ada", actor="test", write=True
    ) as transaction:
        await embed(transaction, number=number)


def told(found: Retrieval) -> list[tuple[str, str, float]]:
    return [(one.entry.id, one.entry.content, one.score) for one in found.found]


def texts_of(found: Retrieval) -> list[tuple[str, float]]:
    return [(one.entry.content, one.score) for one in found.found]


@pytest.mark.parametrize("question", [QUESTION, "What was said of the ferry today?"])
async def test_a_question_that_is_asked_again_is_answered_from_what_is_kept(
    here: MemoryClient, memory: PostgresMemory, question: str
) -> None:
    await fill(here)

    first = await here.retrieve(question)
    second = await here.retrieve(question)

    answers = memory.cache_counts().answers
    assert told(first) == told(second) != []
    assert (answers.hits, answers.misses, answers.held) == (1, 1, 1)
    assert answers.bytes > 0


async def test_an_entry_that_was_read_is_not_read_again(
    here: MemoryClient, memory: PostgresMemory
) -> None:
    await fill(here)
    await here.retrieve(QUESTION)
    before = memory.cache_counts().entries

    await here.retrieve("What about the ferry timetable?")

    after = memory.cache_counts().entries
    assert after.misses == before.misses
    assert after.hits > before.hits


async def test_an_agent_that_is_asked_again_has_its_vectors_kept(
    here: MemoryClient, there: MemoryClient, memory: PostgresMemory, settings: Settings
) -> None:
    ferry, *_ = await fill(here)
    await embed_in(memory, settings.tenant_id)

    first, *others = [
        await here.retrieve("boats", mode="semantic", min_score=least)
        for least in (0.001, 0.002, 0.003)
    ]
    asked_thrice = memory.cache_counts().vectors
    await there.change_entry(ferry, content="Boats to Texel leave at noon.")
    after = await here.retrieve("boats", mode="semantic")

    for each in others:
        assert dict(texts_of(each)) == pytest.approx(dict(texts_of(first)), abs=2e-4)
    assert first.found
    assert (asked_thrice.held, asked_thrice.hits) == (len(TEXTS), 1)
    assert asked_thrice.bytes >= 2 * 256 * len(TEXTS)
    assert after.found[0].entry.content == "Boats to Texel leave at noon."


async def test_what_another_process_changes_is_told_at_once(
    here: MemoryClient, there: MemoryClient
) -> None:
    ferry, *_ = await fill(here)
    await here.retrieve(QUESTION)

    await there.change_entry(ferry, content="The ferry to Texel leaves at noon.")

    assert (await here.retrieve(QUESTION)).found[0].entry.content.endswith("at noon.")


async def test_what_this_process_changes_leaves_its_other_entries_kept(
    here: MemoryClient, memory: PostgresMemory
) -> None:
    ferry, *_ = await fill(here)
    await here.retrieve(QUESTION)
    held = memory.cache_counts().entries.held

    await here.change_entry(ferry, tags=["pier"])

    assert memory.cache_counts().entries.held == held - 1 > 0
    assert (await here.retrieve(QUESTION)).found[0].entry.tags == ("pier",)


@pytest.mark.parametrize("change", ["archive", "remove", "add", "settings"])
async def test_each_kind_of_change_is_told_at_once(
    here: MemoryClient, there: MemoryClient, change: str
) -> None:
    ferry, *_ = await fill(here)
    before = told(await here.retrieve(QUESTION))

    if change == "archive":
        await there.change_entry(ferry, status="archived")
    elif change == "remove":
        await there.remove_entry(ferry)
    elif change == "add":
        await there.add("When the ferry leaves, the bell rings.")
    else:
        await there.change_settings(retrieval_policy={"min_score": 1.0})

    after = told(await here.retrieve(QUESTION))
    assert after != before
    assert after == told(await there.retrieve(QUESTION))


async def test_what_expires_is_not_told_from_what_is_kept(
    here: MemoryClient, memory: PostgresMemory, settings: Settings
) -> None:
    end = datetime.now(UTC) + timedelta(seconds=2)
    await here.add("The ferry leaves from pier four today.", expires_at=end)
    assert told(await here.retrieve(QUESTION))
    assert told(await here.retrieve(QUESTION))

    async with asyncio.timeout(20):
        while await now_of(memory, settings.tenant_id) <= end:  # noqa: ASYNC110 - a clock
            await asyncio.sleep(0.05)

    assert not told(await here.retrieve(QUESTION))


async def now_of(memory: PostgresMemory, tenant: str) -> datetime:
    async with memory.transaction(
        tenant_id=tenant, agent_id="ada", actor="test", write=False
    ) as transaction:
        return await transaction.now()


async def test_agents_are_never_answered_from_what_another_is_kept(
    here: MemoryClient, memory: PostgresMemory, settings: Settings
) -> None:
    await fill(here)
    await here.retrieve(QUESTION)

    others = MemoryClient(memory, tenant_id=settings.tenant_id, agent_id="bea")

    assert not told(await others.retrieve(QUESTION))


async def test_a_process_may_keep_nothing(there: MemoryClient, forgetful: PostgresMemory) -> None:
    await fill(there)

    first, second = await there.retrieve(QUESTION), await there.retrieve(QUESTION)

    counts = forgetful.cache_counts()
    assert told(first) == told(second) != []
    assert (counts.entries.held, counts.answers.held, counts.entries.bytes) == (0, 0, 0)


async def compare(here: MemoryClient, there: MemoryClient, chance: random.Random, why: Any) -> None:
    """Asks both the same, once or until vectors are kept, and nothing that is answered from what was told."""
    for again in range(chance.choice([1, 1, 4])):
        question = chance.choice(
            [QUESTION, "the boiler", "Who repaired the pump?", "harbour lights"]
        )
        modes: list[Mode] = ["hybrid", "semantic"] if again else ["hybrid", "semantic", "text"]
        mode, limit = chance.choice(modes), 50 - again

        kept = await here.retrieve(question, mode=mode, limit=limit)
        fresh = await there.retrieve(question, mode=mode, limit=limit)

        told_here, told_there = dict(texts_of(kept)), dict(texts_of(fresh))
        assert told_here == pytest.approx(told_there, abs=2e-4), (why, question, mode)


@pytest.fixture
async def reading(settings: Settings, piece: int) -> AsyncIterator[PostgresMemory]:
    """The memory of a process that reads so many vectors at once."""
    assert settings.database_url is not None
    memory = PostgresMemory(settings.database_url.get_secret_value(), cache_piece=piece)
    yield memory
    await memory.close()


@pytest.mark.parametrize(("seed", "piece"), [(seed, 2 if seed % 2 else PIECE) for seed in range(6)])
async def test_whatever_is_changed_by_whom_answers_are_those_of_who_keeps_nothing(
    there: MemoryClient,
    reading: PostgresMemory,
    forgetful: PostgresMemory,
    settings: Settings,
    seed: int,
) -> None:
    here = MemoryClient(reading, tenant_id=settings.tenant_id, agent_id="ada")
    chance = random.Random(seed)
    ids = await fill(here)
    for step in range(25):
        writer = chance.choice([here, there])
        if chance.random() < 0.4:
            by = chance.choice([reading, forgetful])
            await embed_in(by, settings.tenant_id, number=chance.randrange(1, 9))
        change = chance.random()
        if change < 0.3:
            text = f"{chance.choice(TEXTS)} Noted for the {step}. time."
            ids.append((await writer.add(text)).id)
        elif change < 0.5:
            await writer.change_entry(chance.choice(ids), content=f"{chance.choice(TEXTS)} {step}")
        elif change < 0.6 and len(ids) > 2:
            await writer.remove_entry(ids.pop(chance.randrange(len(ids))))
        elif change < 0.7:
            await writer.change_entry(chance.choice(ids), tags=[f"tag-{step}"])
        await compare(here, there, chance, why=step)
    counts = reading.cache_counts()
    assert counts.entries.hits > 0
    assert counts.vectors.hits > 0
