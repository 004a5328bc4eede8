"""Calls of pages: those of the API; a person who has not chosen an agent is asked for one."""

from http import HTTPStatus
from typing import Annotated, Any

from fastapi import Depends, Request
from starlette.exceptions import HTTPException

from mnestic.memory.access.api_keys import Action
from mnestic.starter.http.calls import AgentCall, TenantCall, access_of, agent_call, agents_call
from mnestic.starter.http.pages.access import ROOT
from mnestic.starter.http.pages.rendering import link


def agent_page(action: Action) -> Any:
    """The dependency of a page about one agent's memory."""

    async def choose(request: Request) -> None:
        if access_of(request).key.scope.only_agent is None:
            _ask_for_agent(request)

    async def make(
        _: Annotated[None, Depends(choose)], call: Annotated[AgentCall, agent_call(action)]
    ) -> AgentCall:
        return call

    return Depends(make)


def agents_page(action: Action) -> Any:
    """The dependency of a page about one agent or, if the key is for all, about all of them."""

    async def choose(request: Request) -> None:
        scope = access_of(request).key.scope
        if scope.only_agent is None and not scope.covers_all:
            _ask_for_agent(request)

    async def make(
        _: Annotated[None, Depends(choose)], call: Annotated[TenantCall, agents_call(action)]
    ) -> TenantCall:
        return call

    return Depends(make)


def _ask_for_agent(request: Request) -> None:
    if "agent_id" not in request.query_params:
        to = link(f"{ROOT}/agents", then=request.url.path)
        raise HTTPException(HTTPStatus.SEE_OTHER, headers={"Location": to})
