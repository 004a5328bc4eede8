"""Merging: what says the same is one entry, nothing is lost, and a person may take it back."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from mnestic.activities.maintenance.steps import StepResult
from mnestic.memory.knowledge.entries import EntryQuery
from mnestic.memory.ports import Memory
from mnestic.starter.client.client_scope import client_caller
from mnestic.starter.client.memory_client import MemoryClient
from mnestic.starter.settings import Settings
from tests.activities.learning_models import Learn
from tests.activities.maintenance.conftest import NOON
from tests.activities.maintenance.waiting_jobs import wait_with

Run = Callable[..., Any]


MONDAY = datetime(2026, 3, 2, 9, tzinfo=UTC)


@pytest.fixture
def run(run: Run, learn: Learn) -> Run:
    """Learns from all messages, and runs nightly maintenance."""

    async def step(at: datetime = NOON, *, is_learned: bool = True, **fields: Any) -> StepResult:
        if is_learned:
            await learn()
        result: StepResult = await run(at, **fields)
        return result

    return step


async def test_the_later_of_two_stays_and_the_other_says_what_it_was_merged_into(
    ada: MemoryClient, run: Run, count_accesses: Run
) -> None:
    older = await ada.add("The boiler is in the cellar.", source_id="1", at=MONDAY)
    newer = await ada.add("the boiler is in the cellar", source_id="2", at=_later(1))
    await count_accesses(older.id, times=3)
    await count_accesses(newer.id, times=2)

    done = await run()

    gone = await ada.entries.get(older.id)
    assert done.counts["merged"] == 1
    assert (gone.status, gone.merged_into) == ("archived", newer.id)
    assert await _active(ada) == {newer.id}
    assert (await ada.entries.get(newer.id)).access_count == 5
    found = await ada.retrieve("Where is the boiler?")
    assert [one.entry.id for one in found.results] == [newer.id]
    restored = await ada.entries.restore(older.id)
    assert restored.content == older.content
    assert "merged" not in (await run(_later(5000))).counts
    assert await _active(ada) == {older.id, newer.id}


async def test_what_was_merged_follows_what_is_merged_later_and_goes_with_it(
    ada: MemoryClient, run: Run
) -> None:
    first = await ada.add("The code is blue.", source_id="1", at=MONDAY)
    await ada.add("The code is blue!", source_id="2", at=_later(1))
    await run()
    last = await ada.add("The code is: blue", source_id="3", at=_later(2))

    await run(_later(5000))

    assert (await ada.entries.get(first.id)).merged_into == last.id
    await ada.entries.delete(last.id)
    assert await _active(ada) == set()
    assert await ada.entries.list_archived() == ((), None)


async def test_what_others_belong_to_or_correct_or_wait_with_stays(
    ada: MemoryClient, run: Run, memory: Memory, settings: Settings
) -> None:
    older = await ada.add("The boiler hums.", source_id="6", at=MONDAY)
    await ada.add("The boiler hums!", source_id="7", at=_later(1))
    await wait_with(memory, settings, {"seen": older.id})
    above = await ada.add("It is in the cellar.", source_id="1", at=MONDAY)
    await ada.add("It hums.", source_id="2", parent=above.id, at=MONDAY)
    newer = await ada.add("It is in the cellar!", source_id="3", at=_later(1))
    fix = await ada.add(
        "No, in the attic.", source_id="4", entry_type="correction", parent=newer.id, at=_later(1)
    )
    await ada.add(
        "No, in the attic!", source_id="5", entry_type="correction", parent=newer.id, at=_later(2)
    )

    done = await run()

    assert "merged" not in done.counts
    assert fix.id in await _active(ada)


async def test_what_is_still_to_be_learned_from_is_merged_a_night_later(
    ada: MemoryClient, run: Run
) -> None:
    await ada.add("The boiler is in the cellar.", source_id="1", at=MONDAY)
    await run()
    await ada.add("The boiler is in the cellar!", source_id="2", at=_later(1))

    early = await run(_later(4000), is_learned=False)
    late = await run(_later(4001))

    assert "merged" not in early.counts
    assert late.counts["merged"] == 1


async def test_a_run_that_would_merge_too_much_merges_nothing_and_does_the_rest_of_the_night(
    ada: MemoryClient, run: Run, memory: Memory, settings: Settings, stored: Callable[[], Any]
) -> None:
    for number in range(24):
        await ada.add(f"The code is {number % 12}.", source_id=f"{number}", at=_later(number))
    bob = MemoryClient(client_caller(memory, tenant_id=settings.tenant_id, agent_id="bob"))
    for memory_of in (ada, bob):
        await memory_of.add("Offer.", expires_at=datetime.now(UTC) + timedelta(days=1))
    dry = await run(_later(4000), dry_run=True)
    before = stored()

    stopped = await run(_later(4000))
    again = await run(_later(4000))
    left = stored()
    allowed = await run(_later(5000), agent_id="ada", allow_removals=True)

    (problem,) = stopped.problems
    assert problem.startswith("agent ada: 12 of 24 active entries (50%) would be removed")
    assert (stopped.counts["agents_stopped"], stopped.counts["entries_expired"]) == (1, 2)
    assert "merged" not in stopped.counts
    assert dry == again == stopped
    assert len(left["entry"]) == len(before["entry"]) - 2
    assert (allowed.counts["merged"], allowed.problems) == (12, ())


def _later(days: int) -> datetime:
    return MONDAY + timedelta(days=days)


async def _active(memory: MemoryClient) -> set[str]:
    entries, _ = await memory.entries.list(EntryQuery())
    return {entry.id for entry in entries}


async def test_words_that_add_nothing_are_merged_if_the_vectors_are_near(
    ada: MemoryClient, run: Run, set_policy: Run
) -> None:
    statement = "the boiler in the cellar of the old house was replaced by a heat pump"
    await ada.add(f"{statement}.", source_id="1", at=MONDAY)
    await ada.add(f"Oh, {statement}!", source_id="2", at=_later(1))
    await set_policy(merge_similarity=1)

    strict = await run()
    await set_policy(merge_similarity=0.9)
    loose = await run(_later(5000))

    assert "merged" not in strict.counts
    assert loose.counts["merged"] == 1


@pytest.mark.parametrize(
    "other",
    [{"subjects": ("Tom",)}, {"tags": ("house",)}],
    ids=lambda other: next(iter(other)),
)
async def test_subjects_and_tags_tell_entries_apart(
    ada: MemoryClient, run: Run, other: dict[str, Any]
) -> None:
    await ada.add("It is in the cellar.", source_id="1", at=MONDAY)
    await ada.add("It is in the cellar.", source_id="2", at=_later(1), **other)

    done = await run()

    assert "merged" not in done.counts
    assert len(await _active(ada)) == 2
