"""The audit log."""

from typing import Annotated

from fastapi import APIRouter, Query

from mnestic.memory.access.audit import AuditEntry
from mnestic.starter.http.calls import VERSION, TenantCall, tenant_call
from mnestic.starter.http.paging import Cursor, Page, PageLimit, page_of

router = APIRouter(prefix=VERSION, tags=["audit"])


@router.get("/audit")
async def list_audit(  # noqa: PLR0917 - its parameters are those of the list
    call: Annotated[TenantCall, tenant_call("admin")],
    agent_id: Annotated[str | None, Query(description="Only of this agent")] = None,
    key_id: Annotated[str | None, Query(description="Only with this API key")] = None,
    actor: Annotated[
        str | None, Query(description="Only by this actor", examples=["job/a1"])
    ] = None,
    action: Annotated[
        str | None,
        Query(description="Only this action, or those that begin so", examples=["fact."]),
    ] = None,
    denied: Annotated[bool, Query(description="Only what was denied")] = False,
    limit: PageLimit = 100,
    cursor: Cursor = None,
) -> Page[AuditEntry]:
    """Lists who read or wrote what, and what was denied, the latest first."""
    return page_of(
        await call.client.audit(actor=call.access.actor).list(
            agent_id=agent_id,
            key_id=key_id,
            actor=actor,
            action=action,
            denied=denied,
            limit=limit,
            cursor=cursor,
        )
    )
