"""Maintenance: runs now, their reports, the policy, and the Schedules."""

from http import HTTPStatus
from typing import Annotated, Any

from fastapi import APIRouter, Query
from pydantic import BaseModel, Field

from mnestic.memory.maintenance.policies import MaintenanceKind, MaintenancePolicy
from mnestic.memory.maintenance.reports import MaintenanceReport
from mnestic.starter.http.calls import VERSION, TenantCall, tenant_call, tenant_write
from mnestic.starter.http.paging import Cursor, Page, PageLimit, page_of
from mnestic.starter.http.values import RequestBody, Timestamp
from mnestic.starter.maintenance.schedules import MaintenanceSchedule

router = APIRouter(prefix=VERSION, tags=["maintenance"])
ReadCall = Annotated[TenantCall, tenant_call("read")]
AdminCall = Annotated[TenantCall, tenant_write("admin")]


class RunIn(RequestBody):
    """What a run is for."""

    agent_id: str | None = Field(
        None, description="The one agent to maintain; all by default", examples=["ada"]
    )
    dry_run: bool = Field(False, description="Change nothing; report what would change")
    allow_removals: bool = Field(
        False, description="Remove more of this agent's memory than the policy allows"
    )
    renew_vectors: bool = Field(
        False, description="Have a monthly run make all vectors again, also those of the same model"
    )


class RunStarted(BaseModel):
    """A run that was started; its report has this id."""

    id: str = Field(examples=["nightly-0f3a1f0c9a35"])


class PolicyChange(RequestBody):
    """One value of the policy."""

    path: str = Field(examples=["cleanup.enabled"])
    value: Any = Field(examples=[True])


class NoteIn(RequestBody):
    """Why a Schedule is paused or resumed."""

    note: str | None = Field(None, max_length=1000, examples=["until the migration is done"])


class PeriodIn(RequestBody):
    """A period in the past."""

    since: Timestamp = Field(examples=["2026-11-01T00:00:00Z"])
    until: Timestamp = Field(examples=["2026-11-08T00:00:00Z"])


class Schedules(BaseModel):
    """The Schedules of the tenant."""

    items: tuple[MaintenanceSchedule, ...]


@router.post("/maintenance/runs/{kind}", status_code=HTTPStatus.ACCEPTED)
async def run_now(kind: MaintenanceKind, body: RunIn, call: AdminCall) -> RunStarted:
    """Starts a run of maintenance now; its report is listed once it has ended."""
    reserved = await call.reserve({"kind": kind, **body.model_dump()})
    handle = await call.client.maintenance.start(
        kind,
        agent_id=body.agent_id,
        dry_run=body.dry_run,
        allow_removals=body.allow_removals,
        renew_vectors=body.renew_vectors,
        run_id=reserved.id,
    )
    return RunStarted(id=handle.id.rpartition("/")[2])


@router.get("/maintenance/reports")
async def list_reports(  # noqa: PLR0917 - its parameters are those of the list
    call: ReadCall,
    kind: Annotated[MaintenanceKind | None, Query(description="Only of this kind")] = None,
    limit: PageLimit = 20,
    cursor: Cursor = None,
) -> Page[MaintenanceReport]:
    """Lists the reports of runs, newest first."""
    return page_of(await call.client.maintenance.list_reports(kind, limit=limit, cursor=cursor))


@router.get("/maintenance/policy")
async def policy(call: ReadCall) -> MaintenancePolicy:
    """The policy in force: when maintenance runs and what it may do."""
    return await call.client.maintenance.policy()


@router.patch("/maintenance/policy")
async def set_policy(body: PolicyChange, call: AdminCall) -> MaintenancePolicy:
    """Changes one value of the policy; an invalid one is refused, and nothing changes."""

    async def act(_: str) -> MaintenancePolicy:
        return await call.client.maintenance.set_policy(body.path, body.value)

    return await call.act_once(body.model_dump(mode="json"), MaintenancePolicy, act)


@router.get("/schedules")
async def list_schedules(call: ReadCall) -> Schedules:
    """Lists the Schedules: when each ran last and runs next, and whether it is paused."""
    return Schedules(items=await call.client.maintenance.list_schedules())


@router.post("/schedules/{kind}/pause", status_code=HTTPStatus.NO_CONTENT)
async def pause(kind: MaintenanceKind, body: NoteIn, call: AdminCall) -> None:
    """Pauses a Schedule until it is resumed."""
    await call.steer_once(
        {"kind": kind, "note": body.note},
        lambda: call.client.maintenance.pause(kind, note=body.note),
    )


@router.post("/schedules/{kind}/resume", status_code=HTTPStatus.NO_CONTENT)
async def resume(kind: MaintenanceKind, body: NoteIn, call: AdminCall) -> None:
    """Resumes a paused Schedule."""
    await call.steer_once(
        {"kind": kind, "note": body.note},
        lambda: call.client.maintenance.resume(kind, note=body.note),
    )


@router.post("/schedules/{kind}/backfill", status_code=HTTPStatus.ACCEPTED)
async def backfill(kind: MaintenanceKind, body: PeriodIn, call: AdminCall) -> None:
    """Starts the runs of a period in the past, one after the other."""
    await call.steer_once(
        {"kind": kind, **body.model_dump(mode="json")},
        lambda: call.client.maintenance.backfill(kind, since=body.since, until=body.until),
    )
