"""When a signal came, by Temporal's history.

It stands alone because a workflow cannot tell: it is handed signals before timers, whatever came first.
"""

from datetime import UTC
from typing import Any

from pydantic import AwareDatetime, BaseModel, ConfigDict
from temporalio import activity
from temporalio.api.history.v1 import WorkflowExecutionSignaledEventAttributes
from temporalio.client import WorkflowHandle
from temporalio.service import RPCError

from mnestic.activities.failures import failures
from mnestic.memory.errors import TemporalUnavailableError
from mnestic.memory.names import RESUME
from mnestic.memory.waits import ResumeRequest


class ArrivalInput(BaseModel):
    """The request that came by signal."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    request: ResumeRequest


class Arrival(BaseModel):
    """When it came first, by the job's clock; None if it did not come in this run."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    came_at: AwareDatetime | None = None


class ArrivalActivities:
    """What a job asks of its own history."""

    @activity.defn(name="mnestic.find_arrival")
    async def find_arrival(self, asked: ArrivalInput) -> Arrival:
        """Looks for the signal among the events of the run that asks.

        Idempotent: it only reads.
        """
        info = activity.info()
        assert info.workflow_id is not None
        handle: WorkflowHandle[Any, Any] = activity.client().get_workflow_handle(
            info.workflow_id, run_id=info.workflow_run_id
        )
        with failures():
            try:
                async for event in handle.fetch_history_events():
                    told = event.workflow_execution_signaled_event_attributes
                    if told.signal_name == RESUME and await _request_in(told) == asked.request:
                        return Arrival(came_at=event.event_time.ToDatetime(tzinfo=UTC))
            except RPCError as error:
                raise TemporalUnavailableError(
                    where="the worker's server", why=error.message
                ) from error
        return Arrival()


async def _request_in(told: WorkflowExecutionSignaledEventAttributes) -> ResumeRequest | None:
    converter = activity.client().data_converter
    try:
        found = await converter.decode(told.input.payloads, [ResumeRequest])
    except (LookupError, RuntimeError, TypeError, ValueError):
        return None  # it is no request, and so the job has not taken it either
    return found[0] if found and isinstance(found[0], ResumeRequest) else None
