"""When a signal came, by Temporal's history.

A workflow cannot tell: it is handed signals before timers, whatever came first.
"""

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from pydantic import AwareDatetime, BaseModel, ConfigDict
from temporalio import activity
from temporalio.api.history.v1 import WorkflowExecutionSignaledEventAttributes
from temporalio.client import WorkflowHandle
from temporalio.service import RPCError, RPCStatusCode

from mnestic.activities.failures import failures
from mnestic.memory.errors import TemporalUnavailableError
from mnestic.memory.jobs.waits import ResumeRequest
from mnestic.memory.names import RESUME


class SignalTimeInput(BaseModel):
    """The request that came by signal, and when its wait was opened."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    request: ResumeRequest
    opened_at: AwareDatetime | None = None


class SignalTime(BaseModel):
    """When it came first, by the job's clock; if it did not come since, when the wait was opened."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    came_at: AwareDatetime | None = None


class SignalTimeActivities:
    """What a job asks of its own history."""

    @activity.defn(name="mnestic.find_arrival")
    async def find_signal_time(self, params: SignalTimeInput) -> SignalTime:
        """Looks for the signal among the events of the job's runs, back to when the wait was opened.

        Idempotent: it only reads.
        """
        info = activity.info()
        assert info.workflow_id is not None
        came_at, run_id = params.opened_at, info.workflow_run_id
        with failures():
            while run_id:
                handle: WorkflowHandle[Any, Any] = activity.client().get_workflow_handle(
                    info.workflow_id, run_id=run_id
                )
                try:
                    run = await _read(handle, params.request)
                except RPCError as error:
                    if error.status is RPCStatusCode.NOT_FOUND and run_id != info.workflow_run_id:
                        break  # Temporal has forgotten that run
                    raise TemporalUnavailableError(
                        where="the worker's server", why=error.message
                    ) from error
                came_at = run.came_at or came_at
                is_first = params.opened_at is None or run.began_at < params.opened_at
                run_id = None if is_first else run.earlier
        return SignalTime(came_at=came_at)


@dataclass(frozen=True, kw_only=True)
class _Run:
    """When a run began, which one was before it, and when the signal came first, if it did."""

    began_at: datetime
    earlier: str
    came_at: datetime | None


async def _read(handle: WorkflowHandle[Any, Any], request: ResumeRequest) -> _Run:
    began_at, earlier = None, ""
    async for event in handle.fetch_history_events():
        at = event.event_time.ToDatetime(tzinfo=UTC)
        if began_at is None:
            began_at = at
            earlier = event.workflow_execution_started_event_attributes.continued_execution_run_id
        signaled = event.workflow_execution_signaled_event_attributes
        if signaled.signal_name == RESUME and await _request_in(signaled) == request:
            return _Run(began_at=began_at, earlier=earlier, came_at=at)
    assert began_at is not None
    return _Run(began_at=began_at, earlier=earlier, came_at=None)


async def _request_in(signaled: WorkflowExecutionSignaledEventAttributes) -> ResumeRequest | None:
    converter = activity.client().data_converter
    try:
        found = await converter.decode(signaled.input.payloads, [ResumeRequest])
    except (LookupError, RuntimeError, TypeError, ValueError):
        return None  # it is no request, and so the job has not taken it either
    return found[0] if found and isinstance(found[0], ResumeRequest) else None
