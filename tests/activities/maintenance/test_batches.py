"""Maintenance of an agent in parts: it does what one part would do, the guard comes first, and an interrupted run goes on."""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from mnestic.activities.maintenance.batches import BATCH_SIZES, BatchSizes
from mnestic.activities.maintenance.steps import StepResult
from mnestic.memory.knowledge.claims import Claim, ClaimSource
from mnestic.memory.knowledge.entries import EntryQuery
from mnestic.memory.maintenance.policies import MaintenanceKind
from mnestic.memory.ports import Memory
from mnestic.starter.client.memory_client import MemoryClient
from mnestic.starter.client.mnestic_client import MnesticClient
from mnestic.starter.settings import Settings
from tests.activities.learning_models import Begin, Execute, english_steps

SMALL = BatchSizes(faded=2, archived=2, deleted=1, expired=2, compared=2, renewed=3)
NUMBER = 7  # of entries and facts that go, so that there are several parts
LONG_AGO = datetime(2029, 1, 1, 12, tzinfo=UTC)
NOON = datetime(2030, 3, 3, 12, tzinfo=UTC)
JUST_BEFORE = NOON - timedelta(hours=1)
LATER = NOON + timedelta(days=100)
MUST_COUNT = {
    "cleanup": {"archived"},
    "weekly": {"faded"},
    "nightly": {"entries_expired", "merged", "importance_changed", "categories_rebuilt"},
}
PARTS = (
    "SELECT FROM mnestic.operation WHERE tenant_id = %s AND agent_id = 'ada' "
    "AND name = 'maintenance'"
)
Run = Callable[..., Any]


@pytest.fixture
def run(run: Run) -> Run:
    """Maintains an agent, in parts of some size."""

    async def step(
        agent_id: str, kind: MaintenanceKind, at: datetime = NOON, **fields: Any
    ) -> StepResult:
        result: StepResult = await run(
            at, kind=kind, agent_id=agent_id, **{"sizes": SMALL, **fields}
        )
        return result

    return step


@pytest.fixture
async def agents(client: MnesticClient, memory: Memory, settings: Settings, begin: Begin) -> Run:
    """Gives agents the same memory, with as much to archive and to fade."""
    await client.maintenance.set_policy("cleanup.enabled", value=True)
    await client.maintenance.set_policy("cleanup.delete_archived", value=True)
    await client.maintenance.set_policy("cleanup.max_entries", value=NUMBER - 2)

    async def fill(*agent_ids: str) -> None:
        for agent_id in agent_ids:
            memory_of = client.memory(agent_id)
            for number in range(NUMBER):
                at = LONG_AGO + timedelta(days=number)
                for name, kind in (("Weather", "interaction"), ("Insight", "insight")):
                    await memory_of.add(f"{name} {number}.", entry_type=kind, at=at)
            async with begin(agent_id) as transaction:
                await transaction.facts.claim([_claim(number) for number in range(NUMBER)])
            await _add_for_a_night(memory_of)
            steps = english_steps(memory, settings, agent_id=agent_id)
            await steps.extract()
            await steps.learn()

    return fill


@pytest.mark.parametrize("kind", MUST_COUNT)
async def test_many_parts_do_what_one_does_and_the_next_run_has_nothing_to_do(
    agents: Run, run: Run, client: MnesticClient, kind: MaintenanceKind
) -> None:
    await agents("ada", "bo")
    whole = await run("bo", kind, sizes=BATCH_SIZES, allow_removals=True)

    dry = await run("ada", kind, allow_removals=True, dry_run=True)
    parts = await run("ada", kind, allow_removals=True)

    assert MUST_COUNT[kind] <= parts.counts.keys()
    assert parts == whole
    over = dry.counts.pop("importance_changed", 0) - parts.counts.get("importance_changed", 0)
    assert over == 0 if kind != "nightly" else 0 < over <= 2 * NUMBER  # of what it would remove
    assert dry.counts == _without_importance(parts)
    assert await _memory_of(client.memory("ada")) == await _memory_of(client.memory("bo"))
    again = await run("ada", kind, NOON + timedelta(seconds=1), allow_removals=True)
    assert again == StepResult(agents=1)


async def test_parts_do_not_divide_the_facts_of_a_topic(
    run: Run, client: MnesticClient, begin: Begin, execute: Execute
) -> None:
    async with begin() as transaction:
        likes = {"subject": "Mara", "predicate": "likes"}
        claims = [_claim(number) for number in range(NUMBER)]
        await transaction.facts.claim(
            [one.model_copy(update={**likes, "object": f"Song {one.id}"}) for one in claims]
        )
    # As an earlier version had resolved them: the first that fades has the others resolved anew.
    execute(
        """UPDATE mnestic.fact SET claims = claims || '["00000099-0000-4000-8000-000000000000"]'
            WHERE tenant_id = %s"""
    )

    done = await run("ada", "weekly", allow_removals=True)
    again = await run("ada", "weekly", NOON + timedelta(seconds=1), allow_removals=True)

    assert done.counts["faded"] == NUMBER
    assert again == StepResult(agents=1)
    assert await client.memory("ada").facts.list() == ((), None)


async def test_a_cleanup_deletes_in_parts_what_earlier_ones_have_archived(
    agents: Run, run: Run
) -> None:
    await agents("ada", "bo")
    for agent_id in ("ada", "bo"):
        await run(agent_id, "cleanup", allow_removals=True)

    whole = await run("bo", "cleanup", LATER, sizes=BATCH_SIZES)
    parts = await run("ada", "cleanup", LATER)

    assert parts.counts["deleted"] == NUMBER
    assert parts == whole


@pytest.mark.parametrize("kind", ["weekly"])
async def test_the_guard_counts_all_parts_before_the_first(
    agents: Run, run: Run, client: MnesticClient, kind: MaintenanceKind
) -> None:
    await client.maintenance.set_policy("always_removable", value=3)  # more than a part
    await agents("ada")
    entries, archived, facts = await _memory_of(client.memory("ada"))

    done = await run("ada", kind)

    assert done.counts == {"agents_stopped": 1, "decayed": 7}
    assert "would be removed" in done.problems[0]
    assert await _memory_of(client.memory("ada")) == (
        entries,
        archived,
        [(*fact[:-1], 0.0) for fact in facts],  # they have decayed, and are not archived
    )


@pytest.mark.parametrize("kind", ["weekly"])
async def test_an_interrupted_run_goes_on_with_the_next_part(
    agents: Run, run: Run, client: MnesticClient, execute: Execute, kind: MaintenanceKind
) -> None:
    await agents("ada", "bo")
    whole = await run("bo", kind, sizes=BATCH_SIZES, allow_removals=True)
    begun = asyncio.create_task(run("ada", kind, allow_removals=True))
    while not begun.done() and not execute(PARTS):  # noqa: ASYNC110 - Postgres'
        await asyncio.sleep(0)
    begun.cancel()
    with suppress(asyncio.CancelledError):
        await begun

    done = await run("ada", kind, allow_removals=True)

    assert done == whole == await run("ada", kind, allow_removals=True)
    assert await _memory_of(client.memory("ada")) == await _memory_of(client.memory("bo"))


def _without_importance(result: StepResult) -> dict[str, int]:
    return {name: n for name, n in result.counts.items() if name != "importance_changed"}


async def _add_for_a_night(memory: MemoryClient) -> None:
    """Adds duplicates, and entries that have expired."""
    for number in range(NUMBER):
        for end, at in ((".", LONG_AGO), ("!", LONG_AGO + timedelta(days=100 + number))):
            await memory.add(f"Ticket {number} is settled{end}", at=at)
        await memory.add(f"Offer {number}.", at=LONG_AGO, expires_at=JUST_BEFORE)


async def _memory_of(memory: MemoryClient) -> tuple[Any, ...]:
    """What is active, and what is archived for which reason."""
    entries, _ = await memory.entries.list(EntryQuery(), limit=100)
    archived, _ = await memory.entries.list_archived(limit=100)
    facts, _ = await memory.facts.list(statuses=("active", "archived"))
    return (
        sorted((one.content, one.importance) for one in entries),
        sorted((one.entry.content, one.mark.reason) for one in archived),
        sorted((one.subject, one.status, one.end, one.decayed_confidence) for one in facts),
    )


def _claim(number: int) -> Claim:
    return Claim(
        id=f"{number:08}-0000-4000-8000-000000000000",
        kind="affirmed",
        subject=f"Mara {number}",
        predicate="lives_in",
        object="Porto",
        said_at=LONG_AGO,
        source=ClaimSource(extractor="english"),
    )
