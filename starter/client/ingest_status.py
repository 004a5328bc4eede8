"""The status of an ingestion that is running: whether something delays it, and what.

Every command that waits for ingestion says so by the same rule.
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
from mnestic.starter.rpc import find_pollers, rpc_errors
from mnestic.starter.started_workflow import StartedWorkflow

Result = TypeVar("Result")
# Failure types that say so, with how their texts begin; an older worker says the second.
_PAUSED = {
    ExtractionPausedError.__name__: str(ExtractionPausedError(why="")),
    "LearningHeldError": "learning waits, nothing is lost, it goes on once that is mended: ",
}
_POLL_S = 1.0
_PATIENCE = timedelta(seconds=15)  # a running worker takes the next step sooner
_SCHEDULED = PendingActivityState.PENDING_ACTIVITY_STATE_SCHEDULED
_QUEUED = PendingWorkflowTaskState.PENDING_WORKFLOW_TASK_STATE_SCHEDULED


class IngestDelay(NamedTuple):
    """Why extraction is delayed. A paused extraction waits for a person; any other delay ends by itself."""

    why: str
    is_paused: bool


async def find_delay(
    client: MnesticClient, *, agent_id: str, patience: timedelta = _PATIENCE
) -> IngestDelay | None:
    """Why an agent's messages wait for extraction, or None. Needs no worker.

    Args:
        client: Connected to the Temporal server that runs it.
        agent_id: The agent of the messages.
        patience: How long the next step may wait for a worker before that counts as a delay.

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


async def wait_for_end(
    client: MnesticClient, started: StartedWorkflow[Result], *, report: Callable[[str], None]
) -> Result:
    """Waits for an ingestion or a forgetting, and returns its result.

    Args:
        client: Connected to the Temporal server that runs it.
        started: The ingestion or the forgetting.
        report: Called with the reason of a delay that ends by itself.

    Raises:
        ExtractionPausedError: the end has to wait for a person; extraction continues by itself after that.
        TemporalUnavailableError: Temporal does not answer.
    """
    with rpc_errors(client.endpoints.temporal_address, job_id=started.id):
        handle = client.temporal.get_workflow_handle(started.id)
        ended = asyncio.ensure_future(started.result())
        reported = None
        try:
            while not (await asyncio.wait([ended], timeout=_POLL_S))[0]:
                delay = await _delay(client.temporal, handle)
                if delay is not None and delay.is_paused:
                    raise ExtractionPausedError(why=delay.why)
                if delay is not None and delay.why != reported:
                    report(reported := delay.why)
            return await ended
        finally:
            ended.cancel()


async def _delay(
    temporal: Client, handle: WorkflowHandle[Any, Any], *, patience: timedelta = _PATIENCE
) -> IngestDelay | None:
    description = await handle.describe()
    if description.status is not WorkflowExecutionStatus.RUNNING:
        return None
    for pending in (await decoded(description.raw_description, temporal)).pending_activities:
        # A running attempt may succeed, whatever failed before; a scheduled one with a failure is delayed.
        if pending.state == _SCHEDULED and pending.HasField("last_failure"):
            failure = pending.last_failure
            kind = failure.application_failure_info.type
            is_paused = kind in _PAUSED
            why = failure.message.removeprefix(_PAUSED.get(kind, ""))
            return IngestDelay(why, is_paused)
    if any(datetime.now(UTC) - queued_at > patience for queued_at in _queued_since(description)):
        queue = description.task_queue
        why = f"no worker takes it from task queue {queue}; start one with `mnestic worker`"
        if await find_pollers(temporal, queue):
            why = f"the workers of task queue {queue} are busy, or have ended within five minutes"
        return IngestDelay(why, is_paused=False)
    return None


def _queued_since(description: WorkflowExecutionDescription) -> Iterator[datetime]:
    """The times since which steps wait for a worker."""
    raw = description.raw_description
    task = raw.pending_workflow_task
    if task.state == _QUEUED:
        yield _moment(task.scheduled_time)
    for pending in raw.pending_activities:
        if pending.state == _SCHEDULED:
            yield _moment(pending.scheduled_time)


def _moment(timestamp: Timestamp) -> datetime:
    return timestamp.ToDatetime(UTC)
