"""The graph of an agent's facts, drawn: around a name or the heaviest edges, as it is now or was on a day."""

import asyncio
from datetime import UTC, date, datetime, time
from typing import Annotated, Literal

from fastapi import APIRouter, Query, Request, Response

from mnestic.memory.graph.graph import DEEPEST
from mnestic.starter.http.pages.access import ROOT
from mnestic.starter.http.pages.facts import ReadCall
from mnestic.starter.http.pages.graph_drawing import draw
from mnestic.starter.http.pages.rendering import render

router = APIRouter()
MOST_DRAWN = 200  # edges
DAYS_BACK = 1095  # of the slider; the field beside it goes further back


@router.get(f"{ROOT}/graph")
async def show(
    request: Request,
    call: ReadCall,
    name: Annotated[str, Query(max_length=1000)] = "",
    depth: Annotated[int, Query(ge=1, le=DEEPEST)] = 1,
    limit: Annotated[int, Query(ge=1, le=MOST_DRAWN)] = 50,
    on: Annotated[date | Literal[""], Query(description="As it was at the end of this day")] = "",
) -> Response:
    """The drawing, and its edges as a table."""
    today = datetime.now(UTC).date()
    at = None if on == "" or on >= today else datetime.combine(on, time.max, UTC)
    graph = await call.memory.graph.read(name.strip() or None, depth=depth, at=at, limit=limit)
    return render(
        request,
        "graph.html",
        graph=graph,
        drawing=await asyncio.to_thread(draw, graph),  # it computes
        names={node.key: node.name for node in graph.nodes},
        query={"name": name, "depth": depth, "limit": limit, "on": str(on)},
        today=today,
        days_back=DAYS_BACK,
        days_ago=0 if at is None else (today - at.date()).days,
        deepest=DEEPEST,
        most=MOST_DRAWN,
    )
