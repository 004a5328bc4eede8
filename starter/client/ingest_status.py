"""The status of an ingestion that is running: whether something delays it, and what.

It stands alone because every command that waits for ingestion says so by the same rule.
"""

import asyncio
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple, TypeVar

from google.protobuf.timestamp_pb2 import Timestamp
from temporalio.api.enums.v1 import PendingActivityState, PendingWorkflowTaskState
from temporalio.client import (
    Client,
    WorkflowExecutionDescription,
    WorkflowExecutionStatus,
    WorkflowHandle,
)
from temporalio.service import RPCError, RPCStatusCode

from mnestic.memory.errors import ExtractionPausedError
from mnestic.memory.names import ingest_workflow_id
from mnestic.starter.client.mnestic_client import MnesticClient
from mnestic.starter.payloads.decoding import decoded
from mnestic.starter.rpc import rpc_errors
from mnestic.starter.started_workflow import StartedWorkflow

Result = TypeVar("Result")
# Failure types that say so, with how their texts begin; an older worker says the second.
_PAUSED = {
    ExtractionPausedError.__name__: str(ExtractionPausedError(why="")),
    "LearningHeldError": "learning waits, nothing is lost, it goes on once that is mended: ",
}
_LOOK_EVERY_S = 1.0
_PATIENCE = timedelta(seconds=15)  # a worker that is up takes what is next sooner
_WAITS = PendingActivityState.PENDING_ACTIVITY_STATE_SCHEDULED
_QUEUED = PendingWorkflowTaskState.PENDING_WORKFLOW_TASK_STATE_SCHEDULED


class Delay(NamedTuple):
    """Why extraction is delayed. A delay that is held waits for a person; any other ends by itself."""

    why: str
    is_held: bool


async def find_delay(
    client: MnesticClient, *, agent_id: str, patience: timedelta = _PATIENCE
) -> Delay | None:
    """Why an agent's messages wait to be learned from, or None; no worker is asked.

    Args:
        client: Connected to where it is learned.
        agent_id: Whose messages they are.
        patience: How long the next step may be left by all workers before that is why.

    Raises:
        TemporalUnavailableError: Temporal does not answer.
    """
    workflow_id = ingest_workflow_id(client.settings.tenant_id, agent_id)
    with rpc_errors(client.endpoints.temporal_address, job_id=workflow_id):
        try:
            handle = client.temporal.get_workflow_handle(workflow_id)
            return await _delay(client.temporal, handle, patience=patience)
        except RPCError as error:
            if error.status is not RPCStatusCode.NOT_FOUND:
                raise
            return None


async def wait_for_learning(
    client: MnesticClient, started: StartedWorkflow[Result], *, tell: Callable[[str], None]
) -> Result:
    """What was learned in the end; or forgotten, which waits for the same.

    Args:
        client: Connected to where it is learned.
        started: The learning, or the forgetting.
        tell: Is told of what keeps it waiting and passes by itself.

    Raises:
        ExtractionPausedError: the end has to wait for a person; extraction continues by itself after that.
        TemporalUnavailableError: Temporal does not answer.
    """
    with rpc_errors(client.endpoints.temporal_address, job_id=started.id):
        handle = client.temporal.get_workflow_handle(started.id)
        ended = asyncio.ensure_future(started.result())
        told = None
        try:
            while not (await asyncio.wait([ended], timeout=_LOOK_EVERY_S))[0]:
                delay = await _delay(client.temporal, handle)
                if delay is not None and delay.is_held:
                    raise ExtractionPausedError(why=delay.why)
                if delay is not None and delay.why != told:
                    tell(told := delay.why)
            return await ended
        finally:
            ended.cancel()


async def _delay(
    temporal: Client, handle: WorkflowHandle[Any, Any], *, patience: timedelta = _PATIENCE
) -> Delay | None:
    found = await handle.describe()
    if found.status is not WorkflowExecutionStatus.RUNNING:
        return None
    for pending in (await decoded(found.raw_description, temporal)).pending_activities:
        # One that is under way is being tried again; what has failed before may be mended.
        if pending.state == _WAITS and pending.HasField("last_failure"):
            failure = pending.last_failure
            kind = failure.application_failure_info.type
            is_held = kind in _PAUSED
            why = failure.message.removeprefix(_PAUSED.get(kind, ""))
            return Delay(why, is_held)
    if any(datetime.now(UTC) - since > patience for since in _queued_since(found)):
        why = f"no worker takes it from task queue {found.task_queue}; start one with `mnestic worker`"
        return Delay(why, is_held=False)
    return None


def _queued_since(found: WorkflowExecutionDescription) -> Iterator[datetime]:
    """When each step began to wait for a worker."""
    described = found.raw_description
    task = described.pending_workflow_task
    if task.state == _QUEUED:
        yield _moment(task.scheduled_time)
    for pending in described.pending_activities:
        if pending.state == _WAITS:
            yield _moment(pending.scheduled_time)


def _moment(told: Timestamp) -> datetime:
    return told.ToDatetime(UTC)
