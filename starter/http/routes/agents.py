"""The agents of a tenant, and the export of one's memory."""

from collections.abc import AsyncIterator
from contextlib import aclosing
from typing import Annotated

from fastapi import APIRouter, Request
from fastapi.responses import StreamingResponse

from mnestic.memory.agents import AgentSummary
from mnestic.starter.http.calls import VERSION, AgentCall, TenantCall, agent_call, tenant_call
from mnestic.starter.http.paging import Cursor, Page, PageLimit, page_of

router = APIRouter(prefix=VERSION, tags=["agents"])
_LINES = "application/x-ndjson"


@router.get("/agents")
async def list_agents(
    call: Annotated[TenantCall, tenant_call("read")], limit: PageLimit = 100, cursor: Cursor = None
) -> Page[AgentSummary]:
    """Lists the agents that have memory, with the size of each."""
    return page_of(await call.client.list_agents(limit=limit, cursor=cursor))


@router.get(
    "/memory/export",
    response_class=StreamingResponse,
    responses={
        200: {
            "description": "One JSON document a line, as `mnestic memory import` reads them",
            "content": {_LINES: {"schema": {"type": "string"}}},
        }
    },
)
async def export(
    request: Request, call: Annotated[AgentCall, agent_call("read")]
) -> StreamingResponse:
    """Exports an agent's memory as it is at this moment."""
    lines = call.memory.export()
    first = await anext(lines)  # so that what cannot be read is a problem, not half an answer

    async def texts() -> AsyncIterator[str]:
        async with aclosing(lines):
            yield f"{first.model_dump_json()}\n"
            if request.state.is_head:  # nobody gets the rest
                return
            async for line in lines:
                yield f"{line.model_dump_json()}\n"

    return StreamingResponse(texts(), media_type=_LINES)
