"""The graph of an agent, drawn: around a name or the heaviest edges, as it is now or was on a day, or what a query of its contract finds."""

import asyncio
import json
from collections.abc import Mapping
from datetime import UTC, date, datetime, time
from http import HTTPStatus
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query, Request, Response

from mnestic.memory.contract.queries import parameters_of
from mnestic.memory.errors import InvalidInputError, NotFoundError
from mnestic.memory.graph.graph import DEEPEST, GraphRows
from mnestic.starter.client.memory_client import MemoryClient
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
        queries=await _queries(call.memory),
        query={"name": name, "depth": depth, "limit": limit, "on": str(on)},
        today=today,
        days_back=DAYS_BACK,
        days_ago=0 if at is None else (today - at.date()).days,
        deepest=DEEPEST,
        most=MOST_DRAWN,
    )


@router.get(f"{ROOT}/graph/query")
async def run_query(
    request: Request, call: ReadCall, query_id: Annotated[str, Query(max_length=128)]
) -> Response:
    """What a query of the contract finds: drawn, and as a table. A parameter is a field of its name, after `$`."""
    given = {name[1:]: text for name, text in request.query_params.items() if name[:1] == "$"}
    queries, problem = await _queries(call.memory), ""
    found: Any = GraphRows(nodes=(), edges=())
    named = queries.get(query_id, ())
    if query_id not in queries or given.keys() >= set(named):
        arguments = {"query_id": query_id, "parameters": _values(given), "limit": MOST_DRAWN}
        try:
            found = await call.memory.operations.do("query_graph", arguments)
        except InvalidInputError as error:
            problem = str(error)
    return render(
        request,
        "graph_query.html",
        status=HTTPStatus.UNPROCESSABLE_ENTITY if problem else HTTPStatus.OK,
        graph=found,
        drawing=await asyncio.to_thread(draw, found),
        query_id=query_id,
        parameters={name: given.get(name, "") for name in named},
        problem=problem,
    )


async def _queries(memory: MemoryClient) -> dict[str, tuple[str, ...]]:
    """The queries of the contract in force, with their parameters; none without a contract."""
    try:
        graph = (await memory.contract()).config.graph
    except NotFoundError:
        return {}
    found = graph.queries if graph.enabled else ()
    return {one.query_id: parameters_of(one.cypher) for one in found}


def _values(given: Mapping[str, str]) -> dict[str, Any]:
    """Values of parameters, as JSON if they are that, such as 7 or [1, 2], and as texts else."""
    values: dict[str, Any] = {}
    for name, text in given.items():
        try:
            values[name] = json.loads(text)
        except ValueError:
            values[name] = text
    return values
