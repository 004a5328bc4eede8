"""How far a maintenance run is: what its workflow has counted, and what the batch that is running has done so far.

A batch tells its progress in heartbeats, which only a description of the workflow has.
"""

from collections import Counter
from datetime import timedelta
from typing import Any

from temporalio.client import (
    Client,
    WorkflowExecutionStatus,
    WorkflowHandle,
    WorkflowQueryFailedError,
)
from temporalio.service import RPCError

from mnestic.activities.maintenance.steps import StepResult
from mnestic.memory.maintenance.reports import MaintenanceProgress, MaintenanceRun
from mnestic.memory.names import PROGRESS

_BATCH = "mnestic.maintain_agents"
_PATIENCE = timedelta(seconds=2)  # a running worker answers sooner


async def find_progress(
    temporal: Client, handle: WorkflowHandle[Any, Any]
) -> MaintenanceProgress | None:
    """How far a run is; None while no worker answers, or one of an earlier version does.

    Args:
        temporal: Where it runs.
        handle: Of the run.
    """
    try:
        done = await handle.query(PROGRESS, result_type=MaintenanceProgress, rpc_timeout=_PATIENCE)
        batch = await _running_batch(temporal, handle)
    except (RPCError, WorkflowQueryFailedError):
        return None
    counts = dict(Counter(done.counts) + Counter(batch.counts))
    return MaintenanceProgress(agents=done.agents + batch.agents, counts=counts)


async def describe_run(
    temporal: Client, handle: WorkflowHandle[Any, Any], *, run_id: str
) -> MaintenanceRun:
    """A run's state, and how far it is.

    Raises:
        RPCError: there is no such run, or Temporal does not answer.
    """
    status = (await handle.describe()).status
    if status is WorkflowExecutionStatus.RUNNING:
        progress = await find_progress(temporal, handle)
        return MaintenanceRun(id=run_id, state="running", progress=progress)
    if status is WorkflowExecutionStatus.COMPLETED:
        return MaintenanceRun(id=run_id, state="completed")
    cancelled = status is WorkflowExecutionStatus.CANCELED
    return MaintenanceRun(id=run_id, state="cancelled" if cancelled else "failed")


async def _running_batch(temporal: Client, handle: WorkflowHandle[Any, Any]) -> StepResult:
    """What the batch that is running has done until its last heartbeat."""
    for pending in (await handle.describe()).raw_description.pending_activities:
        payloads = pending.heartbeat_details.payloads
        if payloads and pending.activity_type.name == _BATCH:
            (result,) = await temporal.data_converter.decode(payloads, [StepResult])
            return StepResult.model_validate(result)
    return StepResult()
