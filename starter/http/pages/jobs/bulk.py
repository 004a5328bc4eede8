"""Actions on several jobs: first a page that lists what they would touch, and then, after one confirmation, exactly that."""

from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from datetime import timedelta
from typing import Annotated, Literal, NamedTuple

from fastapi import APIRouter, Form, Request, Response
from pydantic import BaseModel, Field

from mnestic.memory.errors import InvalidInputError, StaleRequestError
from mnestic.memory.jobs.agent_job import JobDescription
from mnestic.memory.jobs.waits import RESUMED, JobWait
from mnestic.starter.http.calls import TenantCall, route_of, tenants_of
from mnestic.starter.http.pages.for_each import MOST_AT_ONCE, for_each
from mnestic.starter.http.pages.jobs.job_list import JOBS, JobsCall, PlanName, State, read_page
from mnestic.starter.http.pages.jobs.wait_forms import fields_of, payload_of
from mnestic.starter.http.pages.rendering import render
from mnestic.starter.jobs.listing import UNFINISHED

router = APIRouter()
BulkAction = Literal["resume", "extend", "pause", "unpause", "cancel"]
# In which states a job takes an action.
_TAKE: Mapping[BulkAction, frozenset[str]] = {
    "resume": frozenset({"waiting"}),
    "extend": frozenset({"waiting", "paused", "needs_attention"}),
    "pause": frozenset({"running", "waiting", "needs_attention"}),
    "unpause": frozenset({"paused"}),
    "cancel": frozenset(UNFINISHED),
}
_OF_WAITS = frozenset({"resume", "extend"})
JobIds = Annotated[list[str], Form(max_length=MOST_AT_ONCE)]
DoToJob = Callable[[str], Awaitable[None]]


class AffectedJob(NamedTuple):
    """A job that an action would touch, and its open wait."""

    job: JobDescription
    wait: JobWait | None


class Confirmed(BaseModel):
    """What a person has confirmed: the action, its jobs, and what it needs."""

    action: BulkAction
    job: list[str] = Field(max_length=MOST_AT_ONCE)
    wait_id: list[str] = Field([], max_length=MOST_AT_ONCE)
    days: float = Field(7, gt=0, le=3650)
    outcome: str = Field(RESUMED, max_length=300)


@router.post(JOBS)
async def preview(
    request: Request,
    call: JobsCall,
    action: Annotated[BulkAction, Form()],
    job: JobIds = [],  # noqa: B006 - FastAPI reads it
    every: Annotated[bool, Form(description="All that match the filter")] = False,
    state: State = "",
    plan: PlanName = "",
) -> Response:
    """Lists the jobs that an action would touch, and those that it would not, with why."""
    chosen, more = job, None
    if every:
        listed, more = await read_page(call, state=state, plan=plan, limit=MOST_AT_ONCE)
        chosen = [one.job_id for one in listed]
    found: dict[str, JobDescription] = {}

    async def find(job_id: str) -> None:
        found[job_id] = await _own_job(request, call, job_id)

    missing = await for_each(chosen, find)
    jobs = [found[job_id] for job_id in chosen if job_id in found]
    touched, left = _divided(action, jobs)
    wait = touched[0].wait if touched else None
    return render(
        request,
        "jobs_preview.html",
        action=action,
        touched=touched,
        left=missing + left,
        is_cut=more is not None,
        wait=wait,
        fields=fields_of(wait.form) if wait else (),
        state=state,
        plan=plan,
    )


@router.post(f"{JOBS}/apply")
async def apply(
    request: Request, call: JobsCall, state: State = "", plan: PlanName = ""
) -> Response:
    """Does to the jobs what was confirmed, and says of each that could not be why."""
    form = await request.form()
    values = {name: str(value) for name, value in form.items()}
    lists = {name: [str(one) for one in form.getlist(name)] for name in ("job", "wait_id")}
    try:
        confirmed = Confirmed.model_validate({**values, **lists})
    except ValueError:
        raise InvalidInputError(what="form", why="is not the one that was shown") from None
    act = _act_of(confirmed, values, call)

    async def act_on(job_id: str) -> None:
        await act(await _own_job(request, call, job_id))

    failed = await for_each(confirmed.job, act_on)
    return render(
        request,
        "jobs_changed.html",
        action=confirmed.action,
        done=len(confirmed.job) - len(failed),
        failed=failed,
        state=state,
        plan=plan,
    )


def _act_of(
    confirmed: Confirmed, values: Mapping[str, str], call: TenantCall
) -> Callable[[JobDescription], Awaitable[None]]:
    client = call.client
    steer: Mapping[BulkAction, DoToJob] = {
        "pause": client.pause_job,
        "unpause": client.unpause_job,
        "cancel": client.cancel_job,
    }
    wait_ids = {wait_id.rpartition("/")[0]: wait_id for wait_id in confirmed.wait_id}

    async def act(job: JobDescription) -> None:
        if confirmed.action in _OF_WAITS:
            await _act_on_wait(job, wait_ids.get(job.job_id))
        else:
            await steer[confirmed.action](job.job_id)

    async def _act_on_wait(job: JobDescription, wait_id: str | None) -> None:
        wait = _open_wait(job)
        if wait is None or wait.wait_id != wait_id:
            raise StaleRequestError(what=f"wait {wait_id}", why="is not open any more")
        if confirmed.action == "extend":
            by = timedelta(days=confirmed.days)
            await client.extend_wait(job.job_id, by=by, wait_id=wait_id)
        else:
            await client.resume_job(
                job.job_id,
                payload_of(wait.form, values),
                outcome=confirmed.outcome,
                wait_id=wait_id,
                actor=call.access.actor,
            )

    return act


def _divided(
    action: BulkAction, jobs: Sequence[JobDescription]
) -> tuple[list[AffectedJob], list[tuple[str, str]]]:
    """The jobs that an action would touch, and the others, each with why not."""
    touched: list[AffectedJob] = []
    left: list[tuple[str, str]] = []
    for job in jobs:
        one = AffectedJob(job, _open_wait(job))
        why = next(_refusals(action, one, first=touched[0] if touched else None), None)
        if why is None:
            touched.append(one)
        else:
            left.append((job.job_id, why))
    return touched, left


def _refusals(action: BulkAction, one: AffectedJob, *, first: AffectedJob | None) -> Iterator[str]:
    if one.job.state not in _TAKE[action]:
        yield f"its state is {one.job.state.replace('_', ' ')}"
    elif action in _OF_WAITS and one.wait is None:
        yield "does not wait"
    elif action == "resume" and first is not None and _answer(one) != _answer(first):
        yield f"waits for another answer than {first.job.job_id}"


def _answer(one: AffectedJob) -> object:
    """What must be alike, so that one answer is for both."""
    return one.wait and (one.wait.key, one.wait.form, one.wait.outcomes)


def _open_wait(job: JobDescription) -> JobWait | None:
    return job.waits[-1] if job.waits and job.waits[-1].state == "waiting" else None


async def _own_job(request: Request, call: TenantCall, job_id: str) -> JobDescription:
    return await tenants_of(request).require_job(call.access, job_id, target=route_of(request))
