"""Taking over the memory of a wait."""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from typing import Any

import pytest
from temporalio.exceptions import ApplicationError
from temporalio.testing import ActivityEnvironment

from mnestic.activities.jobs.forks import ForkActivities, ForkInput, ForkResult
from mnestic.memory.jobs.long_term.records import ReadRecord
from mnestic.memory.jobs.snapshots import MemorySnapshot
from mnestic.memory.jobs.waits import ForkOrigin
from mnestic.memory.jobs.working_memory import WorkingMemory
from mnestic.memory.operations import Operation
from mnestic.memory.ports import Memory
from mnestic.memory.scope import Scope
from tests.activities.learning_models import Begin

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
NAME = ReadRecord(namespace="p", key="name", version=1, value="Mara")
OTHER = ReadRecord(namespace="p", key="name", version=7, value="Ada")


Fork = Callable[..., Awaitable[ForkResult]]


@pytest.fixture
def fork(memory: Memory, scope: Scope, operation: Callable[..., Operation]) -> Fork:
    """Job `j1` gives the memory of its wait to another job."""
    activities = ForkActivities(memory)

    async def call(
        job_id: str, *, step: int = 5, agent_id: str = "ada", session_id: str | None = None
    ) -> ForkResult:
        snapshot = MemorySnapshot(
            working_memory=WorkingMemory().with_note("then"), read_set=(NAME,), snapshot_at=NOON
        )
        name = f"n-{job_id}-{step}-{agent_id}"
        session = session_id or f"of-{name}"
        whose = scope.model_copy(update={"agent_id": agent_id, "session_id": session})
        async with memory.transaction(
            tenant_id=scope.tenant_id, agent_id=agent_id, actor="test", write=True
        ) as transaction:
            ref = await transaction.snapshots.put(name, snapshot.parts, job_id="j1")
        asked = ForkInput(
            scope=whose,
            operation=operation(step, "fork"),
            job_id=job_id,
            origin=ForkOrigin(job_id="j1", wait_id="j1/w1", snapshot_id=ref.id, sha256=ref.sha256),
        )
        return await ActivityEnvironment().run(activities.fork, asked)

    return call


async def refused(fork: Fork, job_id: str, **asked: Any) -> None:
    with pytest.raises(ApplicationError, match=f"job {job_id} exists already") as caught:
        await fork(job_id, **asked)
    assert (caught.value.type, caught.value.non_retryable) == ("AlreadyExistsError", True)


async def reads(begin: Begin, job_id: str) -> tuple[ReadRecord, ...]:
    async with begin() as transaction:
        found: tuple[ReadRecord, ...] = await transaction.records.list_reads(job_id)
    return found


async def test_the_read_set_of_another_job_is_not_written_over(
    fork: Fork, begin: Begin, counts: Callable[[], dict[str, int]]
) -> None:
    async with begin() as transaction:
        await transaction.records.add_reads("j2", [OTHER])
    before = counts()

    await refused(fork, "j2")

    assert await reads(begin, "j2") == (OTHER,)
    assert counts() == {**before, "memory_snapshot": 1}


@pytest.mark.parametrize("agent_id", ["ada", "eve"])
async def test_a_job_that_has_read_nothing_yet_is_known_by_what_it_did(
    fork: Fork, begin: Begin, agent_id: str
) -> None:
    async with begin() as transaction:
        done = Operation(key="j2/0/1/remember", name="remember", job_id="j2")
        await transaction.replay(done, "hash")
        await transaction.complete(done, {})

    await refused(fork, "j2", agent_id=agent_id)

    assert await reads(begin, "j2") == ()


async def test_of_two_forks_to_one_id_at_once_one_wins(fork: Fork, begin: Begin) -> None:
    for number in range(10):
        job_id = f"j{number}-at-once"

        outcomes = await asyncio.gather(
            *(fork(job_id, step=2 * number + each) for each in (10, 11)), return_exceptions=True
        )

        (lost,) = [outcome for outcome in outcomes if isinstance(outcome, BaseException)]
        assert f"job {job_id} exists already" in str(lost)
        assert await reads(begin, job_id) == (NAME,)


async def test_a_session_that_has_memory_is_not_written_over(fork: Fork, begin: Begin) -> None:
    await fork("j2", session_id="s2")

    with pytest.raises(ApplicationError, match="working memory of session s2 exists already"):
        await fork("j3", step=6, session_id="s2")

    assert await reads(begin, "j3") == ()
