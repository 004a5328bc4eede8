"""Sending a resume: by update, which answers, or by signal, which Temporal keeps."""

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
    if by == "signal":
        await handle.signal(RESUME, request)
        return None
    try:
        return await _update(handle, request, limit)
    except WorkflowUpdateRPCTimeoutOrCancelledError:
        await handle.signal(RESUME, request)
        return None
    except WorkflowUpdateFailedError as error:
        refused = _refusal(error, job_id)
        if not isinstance(refused, ResumeRefusedError):
            raise refused from None
    except RPCError as error:
        if error.status is not RPCStatusCode.NOT_FOUND:
            raise
        refused = ResumeRefusedError(job_id=job_id, why="it is over")
    first = await _first_receipt(handle, request, job_id=job_id, memory=memory)
    if first is None:
        raise refused
    return first


async def _update(
    handle: WorkflowHandle[Any, Any], request: ResumeRequest, limit: timedelta
) -> ResumeReceipt:
    receipt: ResumeReceipt = await handle.execute_update(
        RESUME, request, result_type=ResumeReceipt, rpc_timeout=limit
    )
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
