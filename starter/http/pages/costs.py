"""What models have cost, by purpose, with what was put before messages apart."""

from datetime import UTC, datetime, timedelta
from typing import Annotated

from fastapi import APIRouter, Query, Request, Response

from mnestic.memory.scope import EVERY_AGENT
from mnestic.starter.http.calls import TenantCall
from mnestic.starter.http.pages.access import ROOT
from mnestic.starter.http.pages.page_calls import agents_page
from mnestic.starter.http.pages.rendering import render

router = APIRouter()
PERIODS = (1, 7, 30, 90, 365)  # days


@router.get(f"{ROOT}/costs")
async def show(
    request: Request,
    call: Annotated[TenantCall, agents_page("read")],
    days: Annotated[int, Query(ge=1, le=3650)] = 30,
) -> Response:
    """The costs of the last days, of one agent or of all."""
    costs = await call.client.costs(
        since=datetime.now(UTC) - timedelta(days=days),
        agent_id=None if call.agent_id == EVERY_AGENT else call.agent_id,
    )
    return render(request, "costs.html", costs=costs, days=days, periods=PERIODS)
