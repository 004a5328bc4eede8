"""The page on which a person chooses an agent."""

from typing import Annotated

from fastapi import APIRouter, Query, Request, Response

from mnestic.memory.agents import AgentSummary
from mnestic.starter.http.calls import access_of
from mnestic.starter.http.pages.access import ROOT, is_page
from mnestic.starter.http.pages.rendering import areas_of, render

router = APIRouter()
_LIMIT = 50


@router.get(f"{ROOT}/agents")
async def choose_agent(
    request: Request,
    then: Annotated[str, Query(max_length=1000)] = "",
    cursor: Annotated[str | None, Query(max_length=2000)] = None,
) -> Response:
    """Lists the agents, if the key is for all of them; an id can be written in any case."""
    access = access_of(request)
    agents: tuple[AgentSummary, ...] = ()
    next_cursor = None
    if access.allows("read", agent_id=None):
        agents, next_cursor = await access.client.list_agents(limit=_LIMIT, cursor=cursor)
    first = next((area.path for area in areas_of(access)), ROOT)
    return render(
        request,
        "agents.html",
        agents=agents,
        next_cursor=next_cursor,
        then=then if is_page(then) else first,
        patterns=access.key.scope.agents,
    )
