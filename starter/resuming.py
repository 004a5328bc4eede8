"""Sending a resume: by update, which answers, or by signal, which Temporal keeps."""

import asyncio
from datetime import timedelta
from typing import Any, Literal

from temporalio.client import (
    WorkflowHandle,
    WorkflowUpdateFailedError,
    WorkflowUpdateRPCTimeoutOrCancelledError,
)
from temporalio.exceptions import ApplicationError
from temporalio.service import RPCError, RPCStatusCode

from mnestic.memory.errors import ResumeRefusedError, SnapshotUnverifiedError
from mnestic.memory.names import RESUME
from mnestic.memory.ports import Memory
from mnestic.memory.waits import ResumeReceipt, ResumeRequest
from mnestic.starter.job_listing import agent_of


async def resume_job(
    handle: WorkflowHandle[Any, Any],
    request: ResumeRequest,
    *,
    job_id: str,
    by: Literal["update", "signal"],
    limit: timedelta,
    memory: Memory,
) -> ResumeReceipt | None:
    """Sends a request; see `MnesticClient.resume_job`."""
    if by == "update":
        try:
            receipt = await _answer(handle, request, job_id=job_id, limit=limit)
        except ResumeRefusedError:
            receipt = await _first_receipt(handle, request, job_id=job_id, memory=memory)
            if receipt is None:
                raise
        if receipt is not None:
            return receipt
    await handle.signal(RESUME, request)
    return None


async def _answer(
    handle: WorkflowHandle[Any, Any], request: ResumeRequest, *, job_id: str, limit: timedelta
) -> ResumeReceipt | None:
    """The receipt, or None when no worker answers within the limit."""
    try:
        return await _update(handle, request, limit)
    except WorkflowUpdateRPCTimeoutOrCancelledError:
        return None
    except WorkflowUpdateFailedError as error:
        raise _refusal(error, job_id) from None
    except RPCError as error:
        if error.status is not RPCStatusCode.NOT_FOUND:
            raise
        raise ResumeRefusedError(job_id=job_id, why="it is over") from None


async def _update(
    handle: WorkflowHandle[Any, Any], request: ResumeRequest, limit: timedelta
) -> ResumeReceipt | None:
    """The receipt, or None when there is none within the limit.

    In a task of its own: the SDK polls for longer than any time limit of a call, and turns a
    cancellation into an error of its own.
    """
    sending = asyncio.create_task(handle.execute_update(RESUME, request, result_type=ResumeReceipt))
    try:
        await asyncio.wait({sending}, timeout=limit.total_seconds())
        answered = sending.done()
    finally:
        sending.cancel()
        await asyncio.wait({sending})
    if not answered and (sending.cancelled() or sending.exception() is not None):
        return None  # else it came at the last moment
    receipt: ResumeReceipt = sending.result()
    return receipt


async def _first_receipt(
    handle: WorkflowHandle[Any, Any],
    request: ResumeRequest,
    *,
    job_id: str,
    memory: Memory,
) -> ResumeReceipt | None:
    """The receipt that the request got before the job forgot it, or was over.

    Raises:
        NotFoundError: there is no such job.
    """
    agent_id, tenant_id = agent_of(await handle.describe())
    async with memory.transaction(
        tenant_id=tenant_id, agent_id=agent_id, actor="client", write=False
    ) as transaction:
        return await transaction.waits.find_receipt(job_id, request.request_id)


def _refusal(error: WorkflowUpdateFailedError, job_id: str) -> Exception:
    cause = error.cause
    if not isinstance(cause, ApplicationError):
        return ResumeRefusedError(job_id=job_id, why=str(cause))
    if cause.type == "ResumeRefusedError":
        return ResumeRefusedError(job_id=job_id, why=cause.message.partition("resumed: ")[2])
    return SnapshotUnverifiedError(job_id=job_id, why=cause.message)
