"""How a workflow calls the activities of this package.

The retries, the time limits and what a cancellation may interrupt are decided once, for all of them.
"""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from datetime import timedelta
from typing import Any, TypeVar

from pydantic_core import to_json
from temporalio import exceptions, workflow
from temporalio.common import RetryPolicy
from temporalio.exceptions import ActivityError, ApplicationError

from mnestic.memory.errors import InvalidInputError, PayloadTooLargeError
from mnestic.workflows.retries import OURS

# A job whose worker is killed during a write stands still for this time. A write takes milliseconds, and giving an
# attempt up too early does no harm: the next one gets its result.
USUAL = timedelta(seconds=20)
WITH_MODEL = timedelta(minutes=2)
# A local activity keeps the workflow task open, so it gives up long before Temporal would (10 s).
_SOON = timedelta(seconds=5)
_LOCAL = "local-waits"
_LOCAL_CALLS = (
    "local-tool-calls"  # the patch: runs before it store a tool's call by an ordinary activity
)
LARGEST_INPUT = 2_000_000
"""Bytes of what is sent to an activity or a new run, just below Temporal's 2 MiB."""

Params = TypeVar("Params")
Result = TypeVar("Result")
Method = Callable[[Any, Params], Awaitable[Result]]


def check_sendable(value: Any, *, what: str) -> None:
    """Refuses what Temporal would not carry to an activity: it would fail the task, again and again.

    Raises:
        InvalidInputError: it is no JSON.
        PayloadTooLargeError: it is too large; says both sizes.
    """
    try:
        size = len(to_json(value))
    except (ValueError, RecursionError) as error:
        raise InvalidInputError(what=what, why=f"is no JSON: {str(error)[:200]}") from error
    if size > LARGEST_INPUT:
        raise PayloadTooLargeError(what=what, size_bytes=size, limit_bytes=LARGEST_INPUT)


def is_of_this_version() -> bool:
    """Whether this run was begun by 0.2.0 or later; runs of 0.1.0 go on in their own way."""
    return stores_locally() or workflow.patched(_LOCAL)


def stores_locally() -> bool:
    """Whether this run stores the calls of tools inside the workflow task."""
    return workflow.patched(_LOCAL_CALLS)


async def run_activity(
    method: Method[Params, Result],
    params: Params,
    *,
    timeout: timedelta = USUAL,  # noqa: ASYNC109 - Temporal's, not asyncio's
    retry: RetryPolicy | None = None,
    heartbeat: timedelta | None = None,
) -> Result:
    """Runs an activity to its end, and only then takes note of a cancellation.

    So its writes are complete before the job's episode is written. Temporal reports a cancellation once; one that
    came while the activity ended is raised here.
    """
    cancelled_before = workflow.cancellation_reason() is not None
    result = await run_to_the_end(method, params, timeout=timeout, retry=retry, heartbeat=heartbeat)
    if workflow.cancellation_reason() is not None and not cancelled_before:
        raise asyncio.CancelledError
    return result


async def run_to_the_end(
    method: Method[Params, Result],
    params: Params,
    *,
    timeout: timedelta,  # noqa: ASYNC109
    retry: RetryPolicy | None = None,
    heartbeat: timedelta | None = None,
) -> Result:
    """Runs an activity to its end, whatever is cancelled in that time.

    Raises:
        PayloadTooLargeError: its input is larger than Temporal carries.
    """
    check_sendable(params, what=f"what {method.__name__} is asked")
    return await workflow.execute_activity_method(
        method,
        params,
        start_to_close_timeout=timeout,
        heartbeat_timeout=heartbeat,
        retry_policy=retry or OURS,
        cancellation_type=workflow.ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
    )


async def run_local_first(
    method: Method[Params, Result], params: Params, *, activity_id: str | None = None
) -> Result:
    """Runs an activity inside the workflow task, and as an ordinary one if that takes too long.

    If the worker dies before the task ends, the workflow loses the result, and the next attempt may have another
    input. So this is only for activities whose first commit stands, whatever the input. Of the input the history
    has the `activity_id` alone.
    """
    if not is_of_this_version():
        return await run_activity(method, params)
    try:
        local = run_local(method, params, give_up_after=_SOON, activity_id=activity_id)
        return await _settled(local)
    except ActivityError as error:
        cause = error.cause
        if isinstance(cause, ApplicationError) and cause.non_retryable:
            raise
    return await run_activity(method, params)


async def run_local(
    method: Method[Params, Result],
    params: Params,
    *,
    give_up_after: timedelta | None = None,
    activity_id: str | None = None,
    cancellation: workflow.ActivityCancellationType = workflow.ActivityCancellationType.TRY_CANCEL,
) -> Result:
    """Runs an activity inside the workflow task; its input is not written to the history.

    Raises:
        ActivityError: with the cause, as an ordinary activity does.
    """
    try:
        return await workflow.execute_local_activity_method(
            method,
            params,
            activity_id=activity_id,
            schedule_to_close_timeout=give_up_after,
            # With both, this one would end an attempt first, which would then be repeated again and again.
            start_to_close_timeout=USUAL if give_up_after is None else None,
            retry_policy=OURS,
            cancellation_type=cancellation,
        )
    except (ApplicationError, exceptions.TimeoutError) as error:
        # It comes bare; an ordinary activity's is wrapped.
        raise ActivityError(
            "local activity failed",
            scheduled_event_id=0,
            started_event_id=0,
            identity="",
            activity_type=method.__name__,
            activity_id="",
            retry_state=None,
        ) from error


def cause_of(error: ActivityError) -> ApplicationError:
    """The final failure of an activity, as the failure of a request to the job."""
    cause = error.cause
    if not isinstance(cause, ApplicationError):
        raise error
    return ApplicationError(cause.message, type=cause.type, non_retryable=True)


async def _settled(work: Coroutine[Any, Any, Result]) -> Result:
    """Waits for the work to end, and only then passes on a cancellation."""
    task = asyncio.create_task(work)
    cancelled = False
    while not task.done():
        try:
            await asyncio.shield(task)
        except asyncio.CancelledError:
            if task.cancelled():
                raise
            cancelled = True
        except ActivityError:
            break  # raised by the task's result
    if cancelled:
        raise asyncio.CancelledError
    return task.result()
