"""Sends a resume: by update, which answers, or by signal, which Temporal stores."""

import uuid
from datetime import timedelta
from typing import Any, Literal

from pydantic import ValidationError
from temporalio.client import (
    WorkflowHandle,
    WorkflowUpdateFailedError,
)
from temporalio.exceptions import ApplicationError
from temporalio.service import RPCError, RPCStatusCode

from mnestic.memory.canonical import check_json
from mnestic.memory.errors import (
    DatabaseUnavailableError,
    InvalidInputError,
    ResumeRefusedError,
    SnapshotUnverifiedError,
)
from mnestic.memory.jobs.waits import Override, ResumeReceipt, ResumeRequest, check_request_id
from mnestic.memory.names import MOVED, OVERRIDE, RESUME
from mnestic.memory.ports import Memory
from mnestic.starter.jobs.lookup import find_job, owner_of
from mnestic.starter.jobs.updates import send_update
from mnestic.starter.jobs.waits import find_open_wait_id


def request_id_of(request_id: str | None) -> str:
    """The id of a request, generated if none is given.

    Raises:
        InvalidInputError: it is malformed.
    """
    request_id = request_id if request_id is not None else uuid.uuid4().hex
    check_request_id(request_id)
    return request_id


def override_request(
    payload: Any,
    *,
    reason: str,
    by: str | None,
    policy: Literal["pinned", "rebase"],
    outcome: str,
    request_id: str | None,
) -> ResumeRequest:
    """A request that overrides an unverified or refused restore.

    Raises:
        InvalidInputError: the reason is missing or too long, a text cannot be stored, or the request
            id is no key.
    """
    request_id = request_id_of(request_id)
    try:
        override = Override(reason=reason, by=by, policy=policy)
    except ValidationError as error:
        first = error.errors()[0]
        raise InvalidInputError(what=str(first["loc"][0]), why=first["msg"]) from None
    check_json(override.model_dump(mode="json"), what="override")
    return ResumeRequest(request_id=request_id, outcome=outcome, payload=payload, override=override)


async def resume_job(
    handle: WorkflowHandle[Any, Any],
    request: ResumeRequest,
    *,
    job_id: str,
    by: Literal["update", "signal"],
    any_wait: bool = False,
    limit: timedelta,
    memory: Memory,
) -> ResumeReceipt | None:
    """Sends a request; see `MnesticClient.resume_job`."""
    if by == "signal" and request.wait_id is None and request.override is None and not any_wait:
        why = "is missing, and a signal without it answers whatever wait is open later; name the wait, or set any_wait"
        raise InvalidInputError(what="wait_id", why=why)
    if by == "update":
        receipt = await _update(handle, request, job_id=job_id, limit=limit, memory=memory)
        if receipt is not None:
            return _of_same_answer(receipt, request)
        if request.wait_id is None:  # when a worker takes the request, another wait may be open
            wait = await find_open_wait_id(handle, job_id=job_id, memory=memory)
            request = request.model_copy(update={"wait_id": wait})
    try:
        await handle.signal(RESUME, request)
    except RPCError as error:
        if error.status is not RPCStatusCode.NOT_FOUND:
            raise
        receipt = await _first_receipt(handle, request, job_id=job_id, memory=memory)
        if receipt is None:
            raise
        return _of_same_answer(receipt, request)
    return None


def _of_same_answer(receipt: ResumeReceipt, request: ResumeRequest) -> ResumeReceipt:
    """The receipt of a request, unless its id was used for another answer.

    Raises:
        ResumeRefusedError: it was.
    """
    first = receipt.answer_sha256
    if request.override is None and first is not None and first != request.answer_sha256:
        why = f"request {request.request_id} has resumed wait {receipt.wait_id} with another answer; use another request id"
        raise ResumeRefusedError(job_id=receipt.job_id, why=why)
    return receipt


async def _update(
    handle: WorkflowHandle[Any, Any],
    request: ResumeRequest,
    *,
    job_id: str,
    limit: timedelta,
    memory: Memory,
) -> ResumeReceipt | None:
    """The receipt, from the job or from its rows; None if there is none yet."""
    try:
        receipt = await _answer(handle, request, job_id=job_id, limit=limit)
    except ResumeRefusedError:
        receipt = await _first_receipt(handle, request, job_id=job_id, memory=memory)
        if receipt is None:
            raise
    if receipt is not None:
        return receipt
    try:
        return await _first_receipt(handle, request, job_id=job_id, memory=memory)
    except DatabaseUnavailableError:  # the job knows it, once Postgres answers again
        return None


async def _answer(
    handle: WorkflowHandle[Any, Any], request: ResumeRequest, *, job_id: str, limit: timedelta
) -> ResumeReceipt | None:
    """The receipt, or None when no worker answers within the limit."""
    try:
        while True:
            try:
                return await send_update(
                    handle,
                    OVERRIDE if request.override else RESUME,
                    request,
                    result_type=ResumeReceipt,
                    limit=limit,
                )
            except WorkflowUpdateFailedError as error:
                if not _has_moved(error):
                    raise
    except WorkflowUpdateFailedError as error:
        raise _refusal(error, job_id) from None
    except RPCError as error:
        if error.status is not RPCStatusCode.NOT_FOUND:
            raise
        raise ResumeRefusedError(job_id=job_id, why="it is over") from None


async def _first_receipt(
    handle: WorkflowHandle[Any, Any],
    request: ResumeRequest,
    *,
    job_id: str,
    memory: Memory,
) -> ResumeReceipt | None:
    """The receipt that the request got, from the database if the job no longer has it or has ended.

    Raises:
        NotFoundError: there is no such job.
    """
    tenant_id = handle.id.split("/")[1]
    agent_id = await owner_of(
        await find_job(handle), job_id=job_id, tenant_id=tenant_id, memory=memory
    )
    async with memory.transaction(
        tenant_id=tenant_id, agent_id=agent_id, actor="client", write=False
    ) as transaction:
        return await transaction.waits.find_receipt(job_id, request.request_id)


def _has_moved(error: WorkflowUpdateFailedError) -> bool:
    """Whether the job has continued in a new run, which takes the request."""
    return isinstance(error.cause, ApplicationError) and error.cause.type == MOVED


def _refusal(error: WorkflowUpdateFailedError, job_id: str) -> Exception:
    cause = error.cause
    if not isinstance(cause, ApplicationError):
        return ResumeRefusedError(job_id=job_id, why=str(cause))
    if cause.type == "ResumeRefusedError":
        return ResumeRefusedError(job_id=job_id, why=cause.message.partition("resumed: ")[2])
    if cause.type == "MemoryDriftedError":
        return ResumeRefusedError(job_id=job_id, why=cause.message)
    return SnapshotUnverifiedError(job_id=job_id, why=cause.message)
