"""Opening and restoring a wait, as far as its state machine in `test_wait_machine.py` does not come."""

from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from functools import reduce
from typing import Any

import pytest
from temporalio.testing import ActivityEnvironment

from mnestic.activities.jobs.waits import OpenWaitInput, RestoreInput, WaitActivities
from mnestic.memory.jobs.snapshots import SnapshotRef
from mnestic.memory.jobs.waits import OpenWait, Restored, ResumptionContext
from mnestic.memory.jobs.working_memory import WorkingMemory
from mnestic.memory.operations import Operation
from mnestic.memory.ports import Memory
from mnestic.memory.scope import Scope
from mnestic.stores.postgres.jobs.recalls import ScopeRetriever
from tests.activities.learning_models import Begin, Execute

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


Open = Callable[..., Awaitable[OpenWait]]
Restore = Callable[..., Awaitable[Restored]]


@pytest.fixture
def open_wait(memory: Memory, scope: Scope, operation: Callable[..., Operation]) -> Open:
    async def call(number: int = 1) -> OpenWait:
        asked = OpenWaitInput(
            scope=scope,
            operation=operation(number, "open_wait"),
            wait_id=f"j1/w{number}",
            key="approval",
            policy="rebase",
            context=ResumptionContext(cursor_node="w", plan_decision_id="p"),
            opened_at=NOON,
            deadline=NOON + timedelta(days=21),
        )
        activities = WaitActivities(memory, ScopeRetriever())
        ref: SnapshotRef = await ActivityEnvironment().run(activities.open_wait, asked)
        known = asked.model_dump(include={"wait_id", "key", "policy", "deadline"})
        return OpenWait(**known, outcomes=("resumed",), snapshot=ref)

    return call


@pytest.fixture
def restore(memory: Memory, scope: Scope, operation: Callable[..., Operation]) -> Restore:
    async def call(wait: OpenWait, number: int = 1) -> Restored:
        asked = RestoreInput(
            scope=scope,
            operation=operation(number, "restore"),
            wait=wait,
            outcome="resumed",
            request_id=f"r{number}",
            restored_at=NOON + timedelta(days=1),
        )
        activities = WaitActivities(memory, ScopeRetriever())
        return await ActivityEnvironment().run(activities.restore, asked)

    return call


async def change(begin: Begin, *, seen: bool = False, **values: Any) -> None:
    """Writes records; the job has them in its read set if it has seen them."""
    async with begin() as transaction:
        records = [await transaction.records.set("p", *each) for each in values.items()]
        if seen:
            await transaction.records.add_reads("j1", [record.read for record in records])


async def test_much_drift_is_counted_and_the_first_of_it_is_told(
    open_wait: Open, restore: Restore, begin: Begin
) -> None:
    keys = [f"k{number:03}" for number in range(120)]
    await change(begin, seen=True, **dict.fromkeys(keys, 1))
    wait = await open_wait()
    await change(begin, **dict.fromkeys(keys, 2))

    restored = await restore(wait)

    assert (len(restored.drift), restored.drift_count) == (100, 120)


@pytest.mark.parametrize("value", ["x" * 500_000, reduce(lambda deep, _: [deep], range(62), 1)])
async def test_a_value_too_large_or_deep_to_tell_is_drift_without_it(
    open_wait: Open, restore: Restore, begin: Begin, value: Any
) -> None:
    await change(begin, seen=True, name="old")
    wait = await open_wait()
    await change(begin, name=value)

    restored = await restore(wait)

    async with begin() as transaction:
        state = await transaction.working.load("s1")
    (told,) = state.variables["drift"]
    assert restored.drift_count == 1
    assert (told["key"], told["before"], "now" in told) == ("name", "old", False)


async def test_another_job_that_waits_in_the_session_is_no_drift(
    open_wait: Open, restore: Restore, begin: Begin
) -> None:
    wait = await open_wait()
    async with begin() as transaction:
        await transaction.working.checkpoint("s1", "of-another-job")

    restored = await restore(wait)

    assert restored.drift_count == 0


@pytest.mark.parametrize("newer", [None, "newer"])
async def test_working_memory_that_was_lost_comes_back_unless_somebody_has_written_since(
    open_wait: Open, restore: Restore, begin: Begin, execute: Execute, newer: str | None
) -> None:
    async with begin() as transaction:
        state = await transaction.working.save("s1", WorkingMemory().with_note("precious"))
        await transaction.working.save("s1", state.with_task("greet"))
    wait = await open_wait()
    execute("DELETE FROM mnestic.working_memory WHERE tenant_id = %s")
    if newer:
        async with begin() as transaction:
            await transaction.working.save("s1", WorkingMemory().with_note(newer))

    restored = await restore(wait)

    async with begin() as transaction:
        state = await transaction.working.load("s1")
    assert [change.key for change in restored.drift] == ["working_memory"]
    assert state.scratchpad == (newer or "precious")
    assert (state.last_checkpoint == wait.snapshot.id) == (newer is None)
