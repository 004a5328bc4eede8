"""The application: the routers behind the gate, and the OpenAPI document."""

from collections.abc import AsyncIterator, Collection
from contextlib import asynccontextmanager
from http import HTTPStatus
from importlib.metadata import version

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.cors import CORSMiddleware

from mnestic.memory.errors import MnesticError
from mnestic.starter.embedded.ports import LOOPBACK
from mnestic.starter.http import problems
from mnestic.starter.http.calls import CHECKED
from mnestic.starter.http.gate import Gate
from mnestic.starter.http.mcp_endpoints import MCP_HEADERS, McpEndpoints, mcp_routes
from mnestic.starter.http.metrics import MetricsOfTenants
from mnestic.starter.http.openapi import MnesticApi
from mnestic.starter.http.pages.site import add_pages
from mnestic.starter.http.reference_page import add_reference
from mnestic.starter.http.routes import (
    agents,
    audit,
    contracts,
    entries,
    facts,
    forgetting,
    health,
    jobs,
    knowledge,
    maintenance,
    memory,
    metrics,
    operations,
    readers,
    records,
    retrieval,
    streams,
)
from mnestic.starter.http.server_sent_events import Streams
from mnestic.starter.tenants import Tenants

_HEADERS = ("Authorization", "Content-Type", "Idempotency-Key", "Last-Event-ID")
ROUTERS = (
    health.router,
    knowledge.router,
    retrieval.router,
    entries.router,
    facts.router,
    memory.router,
    readers.router,
    operations.router,
    records.router,
    forgetting.router,
    agents.router,
    jobs.router,
    streams.router,
    maintenance.router,
    contracts.router,
    audit.router,
    metrics.router,
)


def make_app(
    tenants: Tenants,
    *,
    host: str = LOOPBACK,
    origins: Collection[str] = (),
    process: int | None = None,
) -> FastAPI:
    """The application, over connections that somebody else closes.

    Args:
        tenants: The connections.
        host: The address that it listens on.
        origins: Other origins whose pages may read answers; their requests have a key, and no cookie.
        process: The number of this process, if it is one of several.
    """
    app = make_routes()
    if origins:
        app.add_middleware(
            CORSMiddleware,
            allow_origins=tuple(origins),
            allow_methods=("GET", "POST", "PUT", "PATCH", "DELETE"),
            allow_headers=(*_HEADERS, *MCP_HEADERS),
            expose_headers=("X-Request-Id", "Retry-After"),
        )
    set_state(app, tenants, host=host, origins=origins, process=process)
    return app


def make_routes() -> FastAPI:
    """The application without its state: it answers once `set_state` has given it one."""
    app = MnesticApi(
        title="Mnestic",
        version=version("mnestic"),
        description="Durable memory for AI agents.",
        middleware=[Middleware(Gate)],
        docs_url=None,
        redoc_url=None,
        lifespan=_run_mcp,
        # Its spans and logs would have questions and values of requests.
        telemetry={"tracing": False, "metrics": False, "logs": False, "operation_spans": False},
    )
    app.add_exception_handler(MnesticError, problems.answer_error)
    app.add_exception_handler(RequestValidationError, problems.answer_invalid)
    app.add_exception_handler(HTTPException, problems.answer_http)
    app.add_exception_handler(HTTPStatus.METHOD_NOT_ALLOWED, _answer_method)
    for router in ROUTERS:
        app.include_router(router, dependencies=CHECKED)
    add_reference(app)
    add_pages(app)
    app.router.routes.extend(mcp_routes())
    return app


def set_state(
    app: FastAPI,
    tenants: Tenants,
    *,
    host: str = LOOPBACK,
    origins: Collection[str] = (),
    process: int | None = None,
) -> None:
    """Sets what requests use and change: the connections, the streams, what is counted, and the MCP servers."""
    app.state.tenants, app.state.streams = tenants, Streams()
    app.state.metrics = MetricsOfTenants(process=process)
    app.state.mcp = McpEndpoints(tenants, metrics=app.state.metrics, host=host, origins=origins)


async def _answer_method(request: Request, error: Exception) -> Response:
    """Answers a method that a path does not take, with those that it does: each is a route of its own."""
    assert isinstance(error, HTTPException)
    routes = (route for router in ROUTERS for route in router.routes if isinstance(route, APIRoute))
    of_path = (route.methods or () for route in routes if route.path_regex.match(request.url.path))
    if methods := set[str]().union(*of_path):
        methods |= {"HEAD"} if "GET" in methods else set()
        error.headers = {"Allow": ", ".join(sorted(methods))}
    return await problems.answer_http(request, error)


@asynccontextmanager
async def _run_mcp(app: FastAPI) -> AsyncIterator[None]:
    async with app.state.mcp.run():
        yield
