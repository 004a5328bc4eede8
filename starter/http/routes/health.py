"""Health: of the process, for probes, and of all that memory needs."""

from http import HTTPStatus
from importlib.metadata import version
from typing import Annotated, Literal

from fastapi import APIRouter, Request, Response
from pydantic import BaseModel, Field

from mnestic.starter.health.checkup import check_all
from mnestic.starter.health.findings import Finding, HealthState, state_of
from mnestic.starter.http.calls import VERSION, TenantCall, tenant_call, tenants_of

router = APIRouter(prefix=VERSION, tags=["health"])


class Health(BaseModel):
    """The process answers."""

    status: Literal["ok"] = "ok"
    version: str = Field(examples=["0.3.0"])


class DetailedHealth(BaseModel):
    """The state of memory, and what each check has found."""

    status: HealthState
    version: str = Field(examples=["0.3.0"])
    checks: tuple[Finding, ...]


class Readiness(BaseModel):
    """Whether requests may come."""

    status: Literal["ok", "down"]


@router.get("/health")
async def health() -> Health:
    """Whether the process answers; it needs no key and asks neither database nor Temporal."""
    return Health(version=version("mnestic"))


@router.get(
    "/health/ready",
    responses={503: {"model": Readiness, "description": "Storage does not answer"}},
)
async def ready(request: Request, response: Response) -> Readiness:
    """Whether storage answers, so that requests may come; it needs no key, and only the log says why not."""
    is_ready = await tenants_of(request).is_storage_ready()
    if not is_ready:
        response.status_code = HTTPStatus.SERVICE_UNAVAILABLE
    return Readiness(status="ok" if is_ready else "down")


@router.get(
    "/health/detailed",
    responses={503: {"model": DetailedHealth, "description": "An essential part is down"}},
)
async def detailed_health(
    call: Annotated[TenantCall, tenant_call("admin")], response: Response
) -> DetailedHealth:
    """The checks of `mnestic doctor`: without a part that is not essential, memory is `degraded`, and answers all the same."""
    findings = await check_all(call.client.settings, client=call.client)
    state = state_of(findings)
    if state == "down":
        response.status_code = HTTPStatus.SERVICE_UNAVAILABLE
    return DetailedHealth(status=state, version=version("mnestic"), checks=findings)
