"""One job: where it is in its plan, what it waits for, the memory that it continues with, and how to steer it."""

from datetime import timedelta
from http import HTTPStatus
from typing import Annotated, Literal

from fastapi import APIRouter, Form, Query, Request, Response
from fastapi.responses import RedirectResponse

from mnestic.memory.errors import NotFoundError, SnapshotUnverifiedError
from mnestic.memory.jobs.agent_job import JobDescription
from mnestic.memory.jobs.plans import Plan
from mnestic.memory.jobs.waits import RESUMED, JobWait
from mnestic.starter.client.mnestic_client import MnesticClient
from mnestic.starter.http.calls import JobCall, OfJob
from mnestic.starter.http.pages.jobs.job_list import JOBS
from mnestic.starter.http.pages.jobs.wait_forms import fields_of, payload_of
from mnestic.starter.http.pages.rendering import back_to, render
from mnestic.starter.jobs.listing import UNFINISHED
from mnestic.starter.jobs.start import new_job_id

router = APIRouter()
JOB = f"{JOBS}/{{job_id}}"
_STEERED = {"pause": "paused", "unpause": "unpaused", "cancel": "cancelled"}
WaitName = Annotated[str | None, Query(max_length=300, description="Number or id of a wait")]


@router.get(JOB)
async def show(request: Request, call: OfJob) -> Response:
    """The job."""
    wait = await call.client.find_open_wait(call.job_id)
    ended = call.job.state not in UNFINISHED
    texts = (await call.client.job_transcript(call.job_id)).entries if ended else ()
    return render(
        request,
        "job.html",
        job=call.job,
        wait=wait,
        fields=fields_of(wait.form) if wait else (),
        plan=await _plan(call),
        cursor=await cursor_of(call.client, call.job),
        ended=ended,
        messages=[one.message for one in texts if one.message],
        episode=next((one.episode for one in texts if one.episode), None),
        answers={one.detail.get("wait_id"): one.payload for one in texts if one.what == "restored"},
        ui=call.client.job_link(call.job_id),
        fork_id=new_job_id(),
    )


@router.get(f"{JOB}/snapshot")
async def snapshot(request: Request, call: OfJob, wait: WaitName = None) -> Response:
    """The memory that the job continues with after a wait, and what has changed since."""
    resumption = await call.client.job_resumption(call.job_id, wait)
    return render(
        request,
        "job_snapshot.html",
        job=call.job,
        resumption=resumption,
        difference=await call.client.diff_job(call.job_id, resumption.wait.wait_id),
    )


@router.get(f"{JOB}/timeline")
async def timeline(request: Request, call: OfJob) -> Response:
    """What happened to the job."""
    found = await call.client.job_history(call.job_id)
    return render(request, "job_timeline.html", job=call.job, timeline=found)


@router.post(f"{JOB}/resume")
async def resume(request: Request, call: OfJob) -> Response:
    """Answers the wait that the form was for."""
    values = {name: str(value) for name, value in (await request.form()).items()}
    wait = await _wait_of_form(call, values.get("wait_id", ""))
    try:
        await call.client.resume_job(
            call.job_id,
            payload_of(wait.form, values),
            outcome=values.get("outcome", RESUMED),
            wait_id=wait.wait_id,
            actor=call.access.actor,
        )
    except SnapshotUnverifiedError:
        return RedirectResponse(f"{JOBS}/{call.job_id}/override", status_code=HTTPStatus.SEE_OTHER)
    return _back(call, "resumed")


@router.post(f"{JOB}/extend")
async def extend(
    call: OfJob,
    wait_id: Annotated[str, Form(max_length=300)],
    days: Annotated[float, Form(gt=0, le=3650)],
) -> Response:
    """Gives the open wait a later deadline."""
    await call.client.extend_wait(call.job_id, by=timedelta(days=days), wait_id=wait_id)
    return _back(call, "extended")


@router.post(f"{JOB}/fork")
async def fork(
    call: OfJob,
    as_job: Annotated[str, Form(max_length=300)],
    wait: Annotated[str, Form(max_length=300)],
) -> Response:
    """Starts a job at a wait of this one."""
    new_id = await call.client.fork_job(call.job_id, wait=wait, as_job=as_job)
    return back_to(f"{JOBS}/{new_id}", done="forked")


@router.post(f"{JOB}/{{action}}")
async def steer(action: Literal["pause", "unpause", "cancel"], call: OfJob) -> Response:
    """Pauses the job before its next step, lets a paused one continue, or asks it to end."""
    client = call.client
    steps = {"pause": client.pause_job, "unpause": client.unpause_job, "cancel": client.cancel_job}
    await steps[action](call.job_id)
    return _back(call, _STEERED[action])


def _back(call: JobCall, done: str) -> Response:
    return back_to(f"{JOBS}/{call.job_id}", done=done)


async def cursor_of(client: MnesticClient, job: JobDescription) -> str | None:
    """The node of the plan at which a job is; None if it has ended, or if no worker says so."""
    if job.state not in UNFINISHED:
        return None
    if job.waits and job.waits[-1].state == "waiting":
        return job.waits[-1].context.cursor_node
    status = await client.find_job_status(job.job_id)
    return None if status is None else status.node


async def _plan(call: JobCall) -> Plan | None:
    """The plan; None of a workflow of the user's own, which has none."""
    try:
        return await call.client.job_plan(call.job_id)
    except NotFoundError:
        return None


async def _wait_of_form(call: JobCall, wait_id: str) -> JobWait:
    wait = await call.client.find_open_wait(call.job_id)
    if wait is None or wait.wait_id != wait_id:
        raise NotFoundError(what="open wait", name=wait_id)
    return wait
