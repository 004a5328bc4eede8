"""The audit log: who read or wrote what, by which job or key, and what was denied."""

from itertools import groupby
from typing import Annotated

from fastapi import APIRouter, Query, Request, Response

from mnestic.memory.access.audit import ALLOWED, AuditEntry
from mnestic.starter.http.calls import TenantCall, tenant_call
from mnestic.starter.http.pages.access import ROOT
from mnestic.starter.http.pages.rendering import render

router = APIRouter()
_LIMIT = 100
_READS = frozenset({"compare", "count", "expect", "find", "get", "list", "load", "query", "sum"})


@router.get(f"{ROOT}/audit")
async def list_audit(
    request: Request,
    call: Annotated[TenantCall, tenant_call("admin")],
    agent: Annotated[str, Query(max_length=300)] = "",
    actor: Annotated[str, Query(max_length=300)] = "",
    action: Annotated[str, Query(max_length=100)] = "",
    denied: bool = False,
    cursor: Annotated[str | None, Query(max_length=2000)] = None,
) -> Response:
    """Lists accesses, the latest first; reads that follow each other, as of an open page, are folded."""
    rows, next_cursor = await call.client.audit(actor=call.access.actor).list(
        agent_id=agent.strip() or None,
        actor=actor.strip() or None,
        action=action.strip() or None,
        denied=denied,
        limit=_LIMIT,
        cursor=cursor,
    )
    query = {"agent": agent, "actor": actor, "action": action, "denied": denied}
    groups = [(reads, list(group)) for reads, group in groupby(rows, _is_read)]
    return render(request, "audit.html", groups=groups, next_cursor=next_cursor, query=query)


def _is_read(row: AuditEntry) -> bool:
    """Whether an access read alone: a request for a page, or a read by its action's verb."""
    if row.action == ALLOWED:
        return row.target.startswith("GET ")
    return row.reason is None and row.action.rpartition(".")[2] in _READS
