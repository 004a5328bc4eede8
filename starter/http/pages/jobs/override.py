"""The second step with a job that needs attention: what is wrong with its memory, and a way to continue in spite of it.

It is not on the job's page, so that nobody overrides what they have not seen.
"""

from http import HTTPStatus
from typing import Literal

from fastapi import APIRouter, Request, Response
from fastapi.responses import RedirectResponse
from pydantic import BaseModel, Field

from mnestic.memory.errors import InvalidInputError, NotFoundError, SnapshotCorruptedError
from mnestic.memory.jobs.differences import JobDifference
from mnestic.memory.jobs.waits import RESUMED, TIMEOUT, JobWait, OpenWait
from mnestic.starter.http.calls import JobCall, OfJob
from mnestic.starter.http.pages.jobs.job import JOB
from mnestic.starter.http.pages.jobs.job_list import JOBS
from mnestic.starter.http.pages.jobs.wait_forms import fields_of, payload_of
from mnestic.starter.http.pages.rendering import back_to, render

router = APIRouter()
OVERRIDE = f"{JOB}/override"


class OverrideForm(BaseModel):
    """What a person has decided; without a `request_id` the fields of the wait's form are the answer."""

    reason: str = ""
    policy: Literal["pinned", "rebase"] = "rebase"
    request_id: str = Field("", max_length=300)
    outcome: str = Field(RESUMED, max_length=300)


@router.get(OVERRIDE)
async def show(request: Request, call: OfJob) -> Response:
    """What is wrong, and the form."""
    if call.job.state != "needs_attention":
        return RedirectResponse(f"{JOBS}/{call.job_id}", status_code=HTTPStatus.SEE_OTHER)
    wait = await _open_wait(call)
    difference, unverified = await _difference(call)
    return render(
        request,
        "job_override.html",
        job=call.job,
        wait=wait,
        fields=fields_of(wait.form) if wait else (),
        difference=difference,
        unverified=unverified,
        timeout=TIMEOUT,
    )


@router.post(OVERRIDE)
async def override(request: Request, call: OfJob) -> Response:
    """Lets the job continue."""
    values = {name: str(value) for name, value in (await request.form()).items()}
    try:
        decided = OverrideForm.model_validate(values)
    except ValueError:
        raise InvalidInputError(what="form", why="is not the one that was shown") from None
    wait = await _open_wait(call)
    has_payload = wait is not None and not decided.request_id and decided.outcome != TIMEOUT
    await call.client.override_job(
        call.job_id,
        payload_of(wait.form, values) if wait and has_payload else None,
        reason=decided.reason,
        by=call.access.actor,
        policy=decided.policy,
        outcome=decided.outcome,
        request_id=decided.request_id or None,
    )
    return back_to(f"{JOBS}/{call.job_id}", done="overridden")


async def _open_wait(call: JobCall) -> JobWait | OpenWait | None:
    """The open wait, also if the database no longer has it."""
    wait = await call.client.find_open_wait(call.job_id)
    if wait is not None:
        return wait
    status = await call.client.find_job_status(call.job_id)
    return None if status is None else status.open_wait


async def _difference(call: JobCall) -> tuple[JobDifference | None, str | None]:
    """What has changed since the snapshot, or why the snapshot cannot be compared."""
    try:
        return await call.client.diff_job(call.job_id), None
    except (SnapshotCorruptedError, NotFoundError, InvalidInputError) as error:
        return None, str(error)
