"""The audit log: who read or wrote what, by which job or key, and what was denied."""

from typing import Annotated

from fastapi import APIRouter, Query, Request, Response

from mnestic.starter.http.calls import TenantCall, tenant_call
from mnestic.starter.http.pages.access import ROOT
from mnestic.starter.http.pages.rendering import render

router = APIRouter()
_LIMIT = 100


@router.get(f"{ROOT}/audit")
async def list_audit(
    request: Request,
    call: Annotated[TenantCall, tenant_call("admin")],
    agent: Annotated[str, Query(max_length=300)] = "",
    key: Annotated[str, Query(max_length=100)] = "",
    denied: bool = False,
    cursor: Annotated[str | None, Query(max_length=2000)] = None,
) -> Response:
    """Lists accesses, the latest first."""
    rows, next_cursor = await call.client.audit(actor=call.access.actor).list(
        agent_id=agent.strip() or None,
        key_id=key.strip().removeprefix("key/") or None,
        denied=denied,
        limit=_LIMIT,
        cursor=cursor,
    )
    query = {"agent": agent, "key": key, "denied": denied}
    return render(request, "audit.html", rows=rows, next_cursor=next_cursor, query=query)
