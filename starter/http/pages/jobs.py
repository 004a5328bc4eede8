"""The list of jobs, by state, and actions on several of them at once."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import Annotated, Literal

from fastapi import APIRouter, Form, Query, Request, Response

from mnestic.memory.errors import MnesticError
from mnestic.memory.jobs.agent_job import JobSummary
from mnestic.memory.jobs.waits import JobState
from mnestic.memory.scope import EVERY_AGENT
from mnestic.starter.client.mnestic_client import MnesticClient
from mnestic.starter.http.calls import TenantCall, route_of, tenants_of
from mnestic.starter.http.pages.access import ROOT
from mnestic.starter.http.pages.page_calls import agents_page
from mnestic.starter.http.pages.rendering import render

router = APIRouter()
JOBS = f"{ROOT}/jobs"
_LIMIT = 50
MOST_AT_ONCE = 1000  # jobs of one action
_CONCURRENT = 8
# In the order of the tabs; None is all of them.
_TABS: tuple[JobState | None, ...] = (
    "needs_attention",
    "waiting",
    "running",
    "paused",
    "completed",
    "failed",
    "cancelled",
    None,
)
BulkAction = Literal["pause", "unpause", "cancel"]
State = Annotated[JobState | Literal[""], Query(description="Only in this state")]
PlanName = Annotated[str, Query(max_length=200, description="Only with a plan of this name")]
JobsCall = Annotated[TenantCall, agents_page("jobs")]


@router.get(JOBS)
async def list_jobs(
    request: Request,
    call: JobsCall,
    state: State = "",
    plan: PlanName = "",
    cursor: Annotated[str | None, Query(max_length=2000)] = None,
) -> Response:
    """Lists jobs, the latest first."""
    jobs, next_cursor = await _page(call, state=state, plan=plan, limit=_LIMIT, cursor=cursor)
    return render(
        request,
        "jobs.html",
        jobs=jobs,
        next_cursor=next_cursor,
        cursor=cursor,
        state=state,
        plan=plan,
        tabs=_TABS,
        most=MOST_AT_ONCE,
    )


@router.post(JOBS)
async def act_on_several(
    request: Request,
    call: JobsCall,
    action: Annotated[BulkAction, Form()],
    job: Annotated[list[str], Form(max_length=MOST_AT_ONCE)] = [],  # noqa: B006 - FastAPI reads it
    every: Annotated[bool, Form(description="All that match the filter")] = False,
    state: State = "",
    plan: PlanName = "",
) -> Response:
    """Pauses, continues or cancels the chosen jobs, and says of each that could not be why."""
    chosen = job
    if every:
        listed, _ = await _page(call, state=state, plan=plan, limit=MOST_AT_ONCE, cursor=None)
        chosen = [one.job_id for one in listed]
    do = _ACTIONS[action]
    slots = asyncio.Semaphore(_CONCURRENT)

    async def act(job_id: str) -> str | None:
        async with slots:
            try:
                await tenants_of(request).require_job(call.access, job_id, target=route_of(request))
                await do(call.client, job_id)
            except MnesticError as error:
                return str(error)
            return None

    problems = await asyncio.gather(*(act(job_id) for job_id in chosen))
    failed = [(one, why) for one, why in zip(chosen, problems, strict=True) if why is not None]
    return render(
        request,
        "jobs_changed.html",
        action=action,
        done=len(chosen) - len(failed),
        failed=failed,
        state=state,
        plan=plan,
    )


_ACTIONS: Mapping[BulkAction, Callable[[MnesticClient, str], Awaitable[None]]] = {
    "pause": MnesticClient.pause_job,
    "unpause": MnesticClient.unpause_job,
    "cancel": MnesticClient.cancel_job,
}


async def _page(
    call: TenantCall, *, state: JobState | Literal[""], plan: str, limit: int, cursor: str | None
) -> tuple[tuple[JobSummary, ...], str | None]:
    return await call.client.list_jobs(
        state=state or None,
        agent_id=None if call.agent_id == EVERY_AGENT else call.agent_id,
        plan=plan or None,
        limit=limit,
        cursor=cursor,
    )
