"""The floor: activities under the same names that do nothing, and a memory that keeps nothing.

With them a job costs what Temporal and its SDK cost on this machine, and nothing of ours.
"""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any, cast

from temporalio import activity

from mnestic.activities.endings import EndJobInput, EndJobResult
from mnestic.activities.memories import RememberInput, RememberResult
from mnestic.activities.waits import OpenWaitInput, RestoreInput
from mnestic.memory.plans import Plan
from mnestic.memory.ports import Memory
from mnestic.memory.snapshots import SNAPSHOT_SCHEMA_VERSION, SnapshotRef
from mnestic.memory.waits import Restored, ResumeReceipt

_ID = "00000000-0000-0000-0000-000000000000"
_SHA256 = "0" * 64


def floor_activities() -> list[Callable[..., Any]]:
    """The empty activities that the job of the benchmark needs."""
    return [_open_wait, _restore, _remember, _end_job]


@activity.defn(name="mnestic.open_wait")
async def _open_wait(asked: OpenWaitInput) -> SnapshotRef:
    return SnapshotRef(
        id=_ID,
        sha256=_SHA256,
        size_bytes=1000,
        schema_version=SNAPSHOT_SCHEMA_VERSION,
        memory_revision=1,
        message_count=1,
        episode_count=0,
        record_count=0,
        snapshot_at=asked.opened_at,
    )


@activity.defn(name="mnestic.restore")
async def _restore(asked: RestoreInput) -> Restored:
    request = asked.request
    if request is None:
        return Restored()
    receipt = ResumeReceipt(
        request_id=request.request_id,
        job_id=asked.operation.job_id or "",
        wait_id=asked.wait.wait_id,
        outcome=request.outcome,
        snapshot_id=asked.wait.snapshot.id,
        snapshot_sha256=asked.wait.snapshot.sha256,
        restored_at=asked.restored_at,
        drift_count=0,
    )
    return Restored(request=request, receipt=receipt)


@activity.defn(name="mnestic.remember")
async def _remember(_asked: RememberInput) -> RememberResult:
    return RememberResult(memory_version=1)


@activity.defn(name="mnestic.end_job")
async def _end_job(_asked: EndJobInput) -> EndJobResult:
    return EndJobResult(episode_id=_ID)


class _NoPlans:
    async def put(self, _plan: Plan) -> None:
        pass


class _NoTransaction:
    plans = _NoPlans()


class _NoMemory:
    @asynccontextmanager
    async def transaction(self, **_whose: Any) -> AsyncIterator[_NoTransaction]:
        yield _NoTransaction()

    async def find_agent(self, **_whose: Any) -> None:
        return None

    async def close(self) -> None:
        pass


def floor_memory() -> Memory:
    """A memory that takes what a client keeps when it starts a job, and keeps none of it."""
    return cast("Memory", _NoMemory())
