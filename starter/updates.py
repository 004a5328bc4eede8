"""Sending an update to a job, for no longer than a limit."""

import asyncio
from datetime import timedelta
from typing import Any, TypeVar

from temporalio.client import WorkflowHandle, WorkflowUpdateRPCTimeoutOrCancelledError

Answer = TypeVar("Answer")


async def send_update(
    handle: WorkflowHandle[Any, Any],
    name: str,
    request: Any,
    *,
    result_type: type[Answer],
    limit: timedelta,
) -> Answer | None:
    """The answer, or None when no worker gives one within the limit.

    In a task of its own: the SDK polls for longer than any time limit of a call, and turns a
    cancellation into an error of its own.

    Raises:
        WorkflowUpdateFailedError: the job refuses it.
        RPCError: Temporal does.
    """
    sending = asyncio.create_task(handle.execute_update(name, request, result_type=result_type))
    try:
        await asyncio.wait({sending}, timeout=limit.total_seconds())
        answered = sending.done()
    finally:
        sending.cancel()
        # gather and not wait: if we are cancelled ourselves, nobody else looks at its error
        await asyncio.gather(sending, return_exceptions=True)
    if not answered and (sending.cancelled() or sending.exception() is not None):
        return None  # else it came at the last moment
    try:
        answer: Answer = sending.result()
    except WorkflowUpdateRPCTimeoutOrCancelledError:
        return None
    return answer
