"""Health: what each check of `mnestic doctor` has found, and what mends it."""

from typing import Annotated

from fastapi import APIRouter, Request, Response

from mnestic.starter.health.checkup import check_all
from mnestic.starter.health.findings import state_of
from mnestic.starter.http.calls import TenantCall, tenant_call
from mnestic.starter.http.pages.access import ROOT
from mnestic.starter.http.pages.rendering import render

router = APIRouter()


@router.get(f"{ROOT}/health")
async def show(request: Request, call: Annotated[TenantCall, tenant_call("admin")]) -> Response:
    """The checks, made now."""
    findings = await check_all(call.client.settings, client=call.client)
    return render(request, "health.html", state=state_of(findings), findings=findings)
