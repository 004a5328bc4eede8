"""Sends an update to a job, with a time limit."""

import asyncio
from datetime import timedelta
from typing import Any, TypeVar

from temporalio.client import WorkflowHandle, WorkflowUpdateRPCTimeoutOrCancelledError
from temporalio.service import RPCError, RPCStatusCode

Answer = TypeVar("Answer")
_PAUSES_S = (0.05, 0.2, 0.5)


async def send_update(
    handle: WorkflowHandle[Any, Any],
    name: str,
    request: Any,
    *,
    result_type: type[Answer],
    limit: timedelta,
    update_id: str | None = None,
) -> Answer | None:
    """The answer; None if no worker answers within the limit. With an id, the same update is done once.

    In a task of its own: the SDK polls for longer than any time limit of a call, and turns a
    cancellation into an error of its own. The request may be sent more than once.

    Raises:
        WorkflowUpdateFailedError: the job refuses the update.
        RPCError: Temporal refuses it.
    """
    sending = asyncio.create_task(
        _execute(handle, name, request, result_type=result_type, update_id=update_id)
    )
    try:
        await asyncio.wait({sending}, timeout=limit.total_seconds())
        answered = sending.done()
    finally:
        sending.cancel()
        # gather and not wait: if this task is cancelled, nothing else retrieves the error
        await asyncio.gather(sending, return_exceptions=True)
    if not answered and (sending.cancelled() or sending.exception() is not None):
        return None  # otherwise it arrived at the last moment
    try:
        answer: Answer = sending.result()
    except WorkflowUpdateRPCTimeoutOrCancelledError:
        return None
    return answer


async def _execute(
    handle: WorkflowHandle[Any, Any],
    name: str,
    request: Any,
    *,
    result_type: type[Answer],
    update_id: str | None,
) -> Answer:
    """Sends an update, and again if the workflow task that took it failed.

    That happens to a job in good health, when a signal comes just while it goes on in a new run. Where
    the job's code fails, it happens each time.
    """
    pauses_s = iter(_PAUSES_S)
    while True:
        try:
            answer: Answer = await handle.execute_update(
                name, request, id=update_id, result_type=result_type
            )
        except RPCError as error:
            pause_s = next(pauses_s, None)
            if pause_s is None or error.status is not RPCStatusCode.FAILED_PRECONDITION:
                raise
        else:
            return answer
        await asyncio.sleep(pause_s)
