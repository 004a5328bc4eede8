"""The list of jobs, by state."""

from typing import Annotated, Literal

from fastapi import APIRouter, Query, Request, Response

from mnestic.memory.jobs.agent_job import JobSummary
from mnestic.memory.jobs.waits import JobState
from mnestic.memory.scope import EVERY_AGENT
from mnestic.starter.http.calls import TenantCall
from mnestic.starter.http.pages.access import ROOT
from mnestic.starter.http.pages.page_calls import agents_page
from mnestic.starter.http.pages.rendering import render

router = APIRouter()
JOBS = f"{ROOT}/jobs"
_LIMIT = 50
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
State = Annotated[JobState | Literal[""], Query(description="Only in this state")]
PlanName = Annotated[str, Query(max_length=200, description="Only with a plan of this name")]
PageCursor = Annotated[str | None, Query(max_length=2000)]
JobsCall = Annotated[TenantCall, agents_page("jobs")]


@router.get(JOBS)
async def list_jobs(
    request: Request,
    call: JobsCall,
    state: State = "",
    plan: PlanName = "",
    cursor: PageCursor = None,
) -> Response:
    """Lists jobs, the latest first."""
    jobs, next_cursor = await read_page(call, state=state, plan=plan, cursor=cursor)
    return render(
        request,
        "jobs.html",
        jobs=jobs,
        next_cursor=next_cursor,
        cursor=cursor,
        state=state,
        plan=plan,
        tabs=_TABS,
    )


async def read_page(
    call: TenantCall,
    *,
    state: JobState | Literal[""],
    plan: str,
    limit: int = _LIMIT,
    cursor: str | None = None,
) -> tuple[tuple[JobSummary, ...], str | None]:
    """Jobs that match the filter, and the cursor of the next page."""
    return await call.client.list_jobs(
        state=state or None,
        agent_id=None if call.agent_id == EVERY_AGENT else call.agent_id,
        plan=plan or None,
        limit=limit,
        cursor=cursor,
    )
