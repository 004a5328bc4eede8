"""Waiting jobs for tests of maintenance, which leaves alone what they refer to."""

from datetime import UTC, datetime
from typing import Any

from mnestic.memory.jobs.snapshots import SnapshotParts
from mnestic.memory.jobs.waits import JobWait, ResumptionContext
from mnestic.memory.jobs.working_memory import WorkingMemory
from mnestic.memory.ports import Memory
from mnestic.memory.scope import Scope
from mnestic.starter.settings import Settings

_OPENED = datetime(2030, 1, 1, 12, tzinfo=UTC)


async def wait_with(memory: Memory, settings: Settings, variables: dict[str, Any]) -> None:
    """A job of ada, in the session s1, that waits with these variables in its snapshot."""
    async with memory.transaction(
        tenant_id=settings.tenant_id, agent_id="ada", actor="test", write=True
    ) as transaction:
        working = WorkingMemory().with_variables(variables)
        snapshot = await transaction.snapshots.put(
            "n1", SnapshotParts(working=working.document(), snapshot_at=_OPENED), job_id="j1"
        )
        wait = JobWait(
            wait_id="j1/w1",
            job_id="j1",
            scope=Scope(tenant_id=settings.tenant_id, agent_id="ada", session_id="s1"),
            key="k",
            state="waiting",
            policy="rebase",
            snapshot_id=snapshot.id,
            context=ResumptionContext(cursor_node="k", plan_decision_id="p"),
            deadline=_OPENED.replace(year=2033),
            opened_at=_OPENED,
        )
        await transaction.waits.open(wait)
