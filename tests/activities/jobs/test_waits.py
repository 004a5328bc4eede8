from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from functools import reduce
from typing import Any

import psycopg
import pytest
from temporalio.exceptions import ApplicationError
from temporalio.testing import ActivityEnvironment

from mnestic.activities.jobs.waits import OpenWaitInput, RestoreInput, WaitActivities
from mnestic.memory.jobs.records import ReadRecord
from mnestic.memory.jobs.snapshots import SnapshotRef
from mnestic.memory.jobs.waits import OpenWait, Restored, ResumptionContext
from mnestic.memory.jobs.working_memory import WorkingMemory
from mnestic.memory.operations import Operation
from mnestic.memory.ports import Memory
from mnestic.memory.scope import Scope
from mnestic.stores.postgres.jobs.recalls import ScopeRetriever

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
Make = Callable[..., Operation]
Begin = Callable[[], Any]
Open = Callable[..., Awaitable[OpenWait]]
Restore = Callable[..., Awaitable[Restored]]


@pytest.fixture
def activities(memory: Memory) -> WaitActivities:
    return WaitActivities(memory, ScopeRetriever())


@pytest.fixture
def open_wait(activities: WaitActivities, scope: Scope, operation: Make) -> Open:
    async def call(step: int = 1, number: int = 1) -> OpenWait:
        asked = OpenWaitInput(
            scope=scope,
            operation=operation(step, "open_wait"),
            wait_id=f"j1/w{number}",
            key="approval",
            policy="rebase",
            context=ResumptionContext(cursor_node="w", plan_decision_id="p"),
            opened_at=NOON,
            deadline=NOON + timedelta(days=21),
        )
        ref: SnapshotRef = await ActivityEnvironment().run(activities.open_wait, asked)
        return OpenWait(
            wait_id=asked.wait_id,
            key="approval",
            outcomes=("resumed",),
            policy="rebase",
            deadline=asked.deadline,
            snapshot=ref,
        )

    return call


@pytest.fixture
def restore(activities: WaitActivities, scope: Scope, operation: Make) -> Restore:
    async def call(wait: OpenWait, step: int = 2, request_id: str | None = "r1") -> Restored:
        asked = RestoreInput(
            scope=scope,
            operation=operation(step, "restore"),
            wait=wait,
            outcome="resumed" if request_id else "timeout",
            request_id=request_id,
            restored_at=NOON + timedelta(days=1),
        )
        return await ActivityEnvironment().run(activities.restore, asked)

    return call


async def seen(begin: Begin, **values: Any) -> None:
    """The job writes records and has them in its read set; None is a record that is not there."""
    async with begin() as transaction:
        reads = []
        for key, value in values.items():
            if value is None:
                reads.append(ReadRecord(namespace="p", key=key, version=0))
            else:
                reads.append((await transaction.records.set("p", key, value)).read)
        await transaction.records.add_reads("j1", reads)


async def test_a_wait_opens_with_a_snapshot_of_what_the_job_has_in_mind(
    open_wait: Open, begin: Begin
) -> None:
    await seen(begin, name="Mara")
    async with begin() as transaction:
        await transaction.working.save("s1", WorkingMemory().with_note("hello"))

    wait = await open_wait()

    async with begin() as transaction:
        stored = await transaction.waits.get("j1/w1")
        state = await transaction.working.load("s1")
        sealed = await transaction.snapshots.get(wait.snapshot.id, sha256=wait.snapshot.sha256)
        snapshot = sealed.read()
    assert (stored.state, stored.snapshot_id) == ("waiting", wait.snapshot.id)
    assert state.last_checkpoint == wait.snapshot.id
    assert snapshot.working_memory == state
    assert [(read.key, read.value) for read in snapshot.read_set] == [("name", "Mara")]
    assert (wait.snapshot.record_count, wait.snapshot.memory_revision) == (1, 3)


async def test_opening_a_wait_twice_opens_it_once(
    open_wait: Open, counts: Callable[[], dict[str, int]]
) -> None:
    first = await open_wait()
    before = counts()

    again = await open_wait()

    assert again == first
    assert counts() == before
    assert before == {"working_memory": 1, "memory_snapshot": 1, "job_wait": 1, "operation": 1}


async def test_a_wait_that_cannot_be_kept_leaves_no_snapshot(
    open_wait: Open, counts: Callable[[], dict[str, int]]
) -> None:
    await open_wait(step=1, number=1)
    before = counts()

    with pytest.raises(ApplicationError, match="j1/w1 exists already"):
        await open_wait(step=2, number=1)

    assert counts() == before


async def test_a_restore_ends_the_wait_with_a_receipt(
    open_wait: Open, restore: Restore, begin: Begin
) -> None:
    wait = await open_wait()

    restored = await restore(wait)

    async with begin() as transaction:
        stored = await transaction.waits.get("j1/w1")
    assert restored.receipt is not None
    assert (stored.state, stored.receipt) == ("resumed", restored.receipt)
    assert restored.receipt.snapshot_sha256 == wait.snapshot.sha256
    assert (restored.drift, restored.receipt.drift_count) == ((), 0)


async def test_a_timeout_ends_the_wait_without_a_receipt(
    open_wait: Open, restore: Restore, begin: Begin
) -> None:
    restored = await restore(await open_wait(), request_id=None)

    async with begin() as transaction:
        stored = await transaction.waits.get("j1/w1")
    assert (stored.state, stored.receipt, restored.receipt) == ("timed_out", None, None)


async def test_restoring_twice_restores_once(
    open_wait: Open, restore: Restore, begin: Begin, counts: Callable[[], dict[str, int]]
) -> None:
    await seen(begin, name="Mara")
    wait = await open_wait()
    async with begin() as transaction:
        await transaction.records.set("p", "name", "Maria")
    first = await restore(wait)
    before = counts()
    async with begin() as transaction:
        state = await transaction.working.load("s1")
        await transaction.records.set("p", "name", "Marie")

    again = await restore(wait)

    assert again == first
    assert counts() == before
    async with begin() as transaction:
        assert await transaction.working.load("s1") == state


async def test_what_changed_is_told_to_the_job_with_its_values(
    open_wait: Open, restore: Restore, begin: Begin
) -> None:
    await seen(begin, same=1, changed="old", deleted=2, created=None)
    wait = await open_wait()
    async with begin() as transaction:
        await transaction.records.set("p", "changed", "new")
        await transaction.records.set("p", "created", "now")
        await transaction.records.delete("p", "deleted")

    restored = await restore(wait)

    told = [
        (change.kind, change.key, change.snapshot_version, change.current_version)
        for change in restored.drift
    ]
    assert told == [
        ("changed", "changed", 1, 2),
        ("created", "created", 0, 1),
        ("deleted", "deleted", 1, 2),
    ]
    async with begin() as transaction:
        state = await transaction.working.load("s1")
        reads = await transaction.records.list_reads("j1")
    assert [(c["key"], c["before"], c["now"]) for c in state.variables["drift"]] == [
        ("changed", "old", "new"),
        ("created", None, "now"),
        ("deleted", 2, None),
    ]
    assert [(read.key, read.version, read.value) for read in reads] == [
        ("changed", 2, "new"),
        ("created", 1, "now"),
        ("deleted", 2, None),
        ("same", 1, 1),
    ]


async def test_drift_is_told_once(open_wait: Open, restore: Restore, begin: Begin) -> None:
    await seen(begin, name="old")
    wait = await open_wait()
    async with begin() as transaction:
        await transaction.records.set("p", "name", "new")
    first = await restore(wait)

    second = await restore(await open_wait(step=3, number=2), step=4, request_id="r2")

    async with begin() as transaction:
        state = await transaction.working.load("s1")
    assert (first.drift_count, second.drift_count) == (1, 0)
    assert "drift" not in state.variables


async def test_much_drift_is_counted_and_the_first_of_it_is_told(
    open_wait: Open, restore: Restore, begin: Begin
) -> None:
    await seen(begin, **{f"k{number:03}": 1 for number in range(120)})
    wait = await open_wait()
    async with begin() as transaction:
        for number in range(120):
            await transaction.records.set("p", f"k{number:03}", 2)

    restored = await restore(wait)

    assert (len(restored.drift), restored.drift_count) == (100, 120)


@pytest.mark.parametrize("value", ["x" * 500_000, reduce(lambda deep, _: [deep], range(62), 1)])
async def test_a_value_too_large_or_deep_to_tell_is_drift_without_it(
    open_wait: Open, restore: Restore, begin: Begin, value: Any
) -> None:
    await seen(begin, name="old")
    wait = await open_wait()
    async with begin() as transaction:
        await transaction.records.set("p", "name", value)

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


async def test_what_was_written_since_a_session_was_lost_is_not_overwritten(
    open_wait: Open, restore: Restore, begin: Begin, admin_url: str, scope: Scope
) -> None:
    async with begin() as transaction:
        state = await transaction.working.save("s1", WorkingMemory().with_note("precious"))
        await transaction.working.save("s1", state.with_note("and more"))
    wait = await open_wait()
    with psycopg.connect(admin_url) as connection:
        connection.execute(
            "DELETE FROM mnestic.working_memory WHERE tenant_id = %s", [scope.tenant_id]
        )
    async with begin() as transaction:
        await transaction.working.save("s1", WorkingMemory().with_note("newer"))

    restored = await restore(wait)

    async with begin() as transaction:
        state = await transaction.working.load("s1")
    assert [change.key for change in restored.drift] == ["working_memory"]
    assert state.scratchpad == "newer"


async def test_working_memory_that_was_written_meanwhile_is_kept_and_told(
    open_wait: Open, restore: Restore, begin: Begin
) -> None:
    wait = await open_wait()
    async with begin() as transaction:
        state = await transaction.working.load("s1")
        await transaction.working.save("s1", state.with_note("meanwhile"))

    restored = await restore(wait)

    async with begin() as transaction:
        state = await transaction.working.load("s1")
    assert [change.key for change in restored.drift] == ["working_memory"]
    assert state.scratchpad == "meanwhile"


async def test_working_memory_that_was_lost_comes_back_from_the_snapshot(
    open_wait: Open, restore: Restore, begin: Begin, admin_url: str, scope: Scope
) -> None:
    async with begin() as transaction:
        await transaction.working.save("s1", WorkingMemory().with_note("precious"))
    wait = await open_wait()
    with psycopg.connect(admin_url) as connection:
        connection.execute(
            "DELETE FROM mnestic.working_memory WHERE tenant_id = %s", [scope.tenant_id]
        )

    restored = await restore(wait)

    async with begin() as transaction:
        state = await transaction.working.load("s1")
    assert state.scratchpad == "precious"
    assert state.last_checkpoint == wait.snapshot.id
    assert [(c.key, c.current_version) for c in restored.drift] == [("working_memory", 0)]


async def test_a_corrupted_snapshot_leaves_the_wait_open_and_writes_nothing(
    open_wait: Open,
    restore: Restore,
    begin: Begin,
    counts: Callable[[], dict[str, int]],
    admin_url: str,
    scope: Scope,
) -> None:
    await seen(begin, name="Mara")
    wait = await open_wait()
    async with begin() as transaction:
        await transaction.records.set("p", "name", "Maria")
        state = await transaction.working.load("s1")
    corrupt(admin_url, scope.tenant_id)
    before = counts()

    with pytest.raises(ApplicationError, match="corrupted") as caught:
        await restore(wait)

    assert (caught.value.type, caught.value.non_retryable) == ("SnapshotCorruptedError", True)
    assert counts() == before
    async with begin() as transaction:
        assert (await transaction.waits.get("j1/w1")).state == "waiting"
        assert await transaction.working.load("s1") == state
    corrupt(admin_url, scope.tenant_id)
    mended = await restore(wait, step=3)
    assert mended.drift_count == 1


def corrupt(admin_url: str, tenant_id: str) -> None:
    """Flips a bit of the stored snapshot; a second time mends it."""
    with psycopg.connect(admin_url) as connection:
        connection.execute("SET LOCAL session_replication_role = replica")
        changed = connection.execute(
            "UPDATE mnestic.memory_snapshot SET body = set_byte(body, 9, get_byte(body, 9) # 1)"
            " WHERE tenant_id = %s",
            [tenant_id],
        )
        assert changed.rowcount == 1


async def test_a_wait_that_is_over_is_not_restored_again(
    open_wait: Open, restore: Restore, begin: Begin, counts: Callable[[], dict[str, int]]
) -> None:
    wait = await open_wait()
    async with begin() as transaction:
        await transaction.waits.close("j1/w1", "cancelled", receipt=None)
    before = counts()

    with pytest.raises(ApplicationError, match="cancelled") as caught:
        await restore(wait)

    assert caught.value.non_retryable
    assert counts() == before


async def test_a_request_that_resumed_one_wait_does_not_resume_the_next(
    open_wait: Open, restore: Restore, begin: Begin
) -> None:
    await restore(await open_wait())
    second = await open_wait(step=3, number=2)

    with pytest.raises(ApplicationError, match="r1 has resumed wait j1/w1") as caught:
        await restore(second, step=4, request_id="r1")

    assert caught.value.type == "ResumeRefusedError"
    async with begin() as transaction:
        assert (await transaction.waits.get("j1/w2")).state == "waiting"
