"""The application: the routers behind the gate, and the OpenAPI document."""

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
from mnestic.starter.http.mcp_endpoints import McpEndpoints
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
    metrics_of_tenants = MetricsOfTenants()
    mcp = McpEndpoints(tenants, metrics=metrics_of_tenants, host=host)
    app = FastAPI(
        title="Mnestic",
        version=version("mnestic"),
        description="Durable memory for AI agents.",
        middleware=[Middleware(Gate, tenants=tenants, metrics=metrics_of_tenants)],
        redoc_url=None,
        lifespan=mcp.lifespan,
        # Its spans and logs would have questions and values of requests.
        telemetry={"tracing": False, "metrics": False, "logs": False, "operation_spans": False},
    )
    app.state.tenants, app.state.metrics, app.state.mcp = tenants, metrics_of_tenants, mcp
    app.state.streams = Streams()
    app.add_exception_handler(MnesticError, problems.answer_error)
    app.add_exception_handler(RequestValidationError, problems.answer_invalid)
    app.add_exception_handler(HTTPException, problems.answer_http)
    for router in ROUTERS:
        app.include_router(router, responses=_PROBLEMS)
    add_pages(app)
    app.router.routes.extend(mcp.routes())
    return app
