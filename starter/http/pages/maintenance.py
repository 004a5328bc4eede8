"""Maintenance: its Schedules, runs by hand, reports, and how memory grows."""

from typing import Annotated, Literal

from fastapi import APIRouter, Form, Query, Request, Response

from mnestic.memory.maintenance.policies import MAINTENANCE_KINDS, MaintenanceKind
from mnestic.memory.maintenance.reports import COUNTS, MaintenanceReport
from mnestic.starter.http.calls import TenantCall, tenant_call
from mnestic.starter.http.pages.access import ROOT
from mnestic.starter.http.pages.rendering import back_to, render
from mnestic.starter.maintenance.schedules import MaintenanceSchedule

router = APIRouter()
MAINTENANCE = f"{ROOT}/maintenance"
_LIMIT = 20
ReportsCall = Annotated[TenantCall, tenant_call("read")]
AdminCall = Annotated[TenantCall, tenant_call("admin")]


@router.get(MAINTENANCE)
async def show(
    request: Request,
    call: ReportsCall,
    kind: MaintenanceKind | Literal[""] = "",
    cursor: Annotated[str | None, Query(max_length=2000)] = None,
) -> Response:
    """The Schedules, the growth, and the reports of runs, newest first."""
    maintenance = call.client.maintenance
    reports, next_cursor = await maintenance.list_reports(kind or None, limit=_LIMIT, cursor=cursor)
    return render(
        request,
        "maintenance.html",
        schedules=await maintenance.list_schedules(),
        growth=await maintenance.growth(),
        reports=reports,
        next_cursor=next_cursor,
        cursor=cursor,
        kind=kind,
        kinds=MAINTENANCE_KINDS,
        meanings=COUNTS,
    )


async def read_state(
    call: TenantCall,
) -> tuple[tuple[MaintenanceSchedule, ...], tuple[MaintenanceReport, ...]]:
    """The Schedules, and the report of the last run."""
    maintenance = call.client.maintenance
    reports, _ = await maintenance.list_reports(limit=1)
    return await maintenance.list_schedules(), reports


@router.post(f"{MAINTENANCE}/run")
async def run(
    call: AdminCall,
    kind: Annotated[MaintenanceKind, Form()],
    dry_run: Annotated[bool, Form()] = False,
) -> Response:
    """Starts a run now."""
    await call.client.maintenance.start(kind, dry_run=dry_run)
    return back_to(MAINTENANCE, done="run_started")


@router.post(f"{MAINTENANCE}/{{kind}}/{{action}}")
async def steer(
    kind: MaintenanceKind, action: Literal["pause", "resume"], call: AdminCall
) -> Response:
    """Pauses a Schedule, or resumes it."""
    maintenance, note = call.client.maintenance, f"{action}d on the page by {call.access.actor}"
    if action == "pause":
        await maintenance.pause(kind, note=note)
    else:
        await maintenance.resume(kind, note=note)
    return back_to(MAINTENANCE, done=f"schedule_{action}d")
