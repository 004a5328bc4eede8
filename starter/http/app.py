"""The application: the routers behind the gate, and the OpenAPI document."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib.metadata import version
from typing import Any

from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware

from mnestic.memory.errors import MnesticError
from mnestic.starter.embedded.ports import LOOPBACK
from mnestic.starter.http import problems
from mnestic.starter.http.gate import Gate
from mnestic.starter.http.mcp_endpoints import McpEndpoints, mcp_routes
from mnestic.starter.http.metrics import MetricsOfTenants
from mnestic.starter.http.pages.site import add_pages
from mnestic.starter.http.routes import (
    agents,
    audit,
    facts,
    forgetting,
    health,
    jobs,
    knowledge,
    maintenance,
    memory,
    metrics,
    retrieval,
    streams,
)
from mnestic.starter.http.server_sent_events import Streams
from mnestic.starter.tenants import Tenants

ROUTERS = (
    health.router,
    knowledge.router,
    retrieval.router,
    facts.router,
    memory.router,
    forgetting.router,
    agents.router,
    jobs.router,
    streams.router,
    maintenance.router,
    audit.router,
    metrics.router,
)
# What any route may answer beside its result.
_PROBLEMS: dict[int | str, dict[str, Any]] = {
    status: {
        "description": description,
        "content": {problems.MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}},
    }
    for status, description in (
        (400, "The body is no JSON"),
        (401, "No valid API key"),
        (403, "The API key does not allow it"),
        (404, "There is no such thing"),
        (409, "It conflicts with what is stored"),
        (410, "Events after that number are no longer stored"),
        (413, "The body is too large"),
        (422, "A value is malformed"),
        (429, "A budget is used up, or too many streams are open"),
        (500, "The server failed; its log names the request"),
        (501, "This server is not set up for it"),
        (503, "A service does not answer; try again after `Retry-After` seconds"),
    )
}


def make_app(tenants: Tenants, *, host: str = LOOPBACK) -> FastAPI:
    """The application, over connections that somebody else closes.

    Args:
        tenants: The connections.
        host: The address that it listens on.
    """
    app = make_routes()
    set_state(app, tenants, host=host)
    return app


def make_routes() -> FastAPI:
    """The application without its state: it answers once `set_state` has given it one."""
    app = FastAPI(
        title="Mnestic",
        version=version("mnestic"),
        description="Durable memory for AI agents.",
        middleware=[Middleware(Gate)],
        redoc_url=None,
        lifespan=_run_mcp,
        # Its spans and logs would have questions and values of requests.
        telemetry={"tracing": False, "metrics": False, "logs": False, "operation_spans": False},
    )
    app.add_exception_handler(MnesticError, problems.answer_error)
    app.add_exception_handler(RequestValidationError, problems.answer_invalid)
    app.add_exception_handler(HTTPException, problems.answer_http)
    for router in ROUTERS:
        app.include_router(router, responses=_PROBLEMS)
    add_pages(app)
    app.router.routes.extend(mcp_routes())
    return app


def set_state(app: FastAPI, tenants: Tenants, *, host: str = LOOPBACK) -> None:
    """Sets what requests use and change: the connections, the streams, what is counted, and the MCP servers."""
    app.state.tenants, app.state.streams = tenants, Streams()
    app.state.metrics = MetricsOfTenants()
    app.state.mcp = McpEndpoints(tenants, metrics=app.state.metrics, host=host)


@asynccontextmanager
async def _run_mcp(app: FastAPI) -> AsyncIterator[None]:
    async with app.state.mcp.run():
        yield
