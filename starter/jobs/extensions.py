"""Extends the deadline of a job's open wait."""

from datetime import datetime, timedelta
from typing import Any

from temporalio.client import (
    WorkflowHandle,
    WorkflowUpdateFailedError,
)
from temporalio.common import SearchAttributeKey
from temporalio.exceptions import ApplicationError

from mnestic.memory.errors import InvalidInputError, WorkerUnavailableError
from mnestic.memory.jobs.waits import ExtendRequest, WaitExtended
from mnestic.memory.names import EXTEND_WAIT
from mnestic.starter.jobs.updates import send_update

_LIMIT = timedelta(seconds=30)


async def extend_wait(
    handle: WorkflowHandle[Any, Any],
    *,
    by: timedelta | None,
    until: datetime | None,
    wait_id: str | None,
    request_id: str | None,
) -> WaitExtended:
    """Sends the update; see `MnesticClient.extend_wait`."""
    if (by is None) == (until is None):
        raise InvalidInputError(what="extend", why="say either by how much or until when")
    if until is not None and until.tzinfo is None:
        raise InvalidInputError(what="until", why="has no time zone; write 2027-01-31T12:00Z")
    deadline = until or _later(await _deadline(handle), by or timedelta())
    request = ExtendRequest(until=deadline, wait_id=wait_id)
    try:
        extended = await send_update(
            handle,
            EXTEND_WAIT,
            request,
            result_type=WaitExtended,
            limit=_LIMIT,
            update_id=request_id,
        )
    except WorkflowUpdateFailedError as error:
        why = error.cause.message if isinstance(error.cause, ApplicationError) else str(error.cause)
        raise InvalidInputError(what="extend", why=why) from None
    if extended is None:
        raise WorkerUnavailableError(
            job_id=handle.id.rpartition("/")[2],
            limit=_LIMIT,
            again=f"as --until {deadline.isoformat()}",
        )
    return extended


def _later(deadline: datetime, by: timedelta) -> datetime:
    try:
        return deadline + by
    except OverflowError:
        raise InvalidInputError(what="by", why="ends after the year 9999") from None


async def _deadline(handle: WorkflowHandle[Any, Any]) -> datetime:
    description = await handle.describe()
    deadline = description.typed_search_attributes.get(
        SearchAttributeKey.for_datetime("WaitDeadline")
    )
    if deadline is None:
        raise InvalidInputError(
            what="extend", why=f"job {handle.id.rpartition('/')[2]} does not wait"
        )
    return deadline
