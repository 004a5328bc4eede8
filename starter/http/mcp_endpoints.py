"""MCP over streamable HTTP: a profile of tools at each path, on the agents that an API key is for.

Its requests are JSON-RPC, which no OpenAPI document describes.
"""

import functools
import sys
from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace
from functools import cached_property
from typing import Any

from mcp.server import ServerRequestContext
from mcp.server.mcpserver import MCPServer
from mcp.server.streamable_http_manager import StreamableHTTPASGIApp
from mcp.server.transport_security import TransportSecuritySettings
from starlette.requests import Request
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from mnestic.memory.access.api_keys import Action
from mnestic.memory.errors import InvalidInputError
from mnestic.memory.jobs.memory_operations import OPERATIONS, access_of
from mnestic.memory.scope import check_id
from mnestic.starter.http.metrics import MetricsOfTenants
from mnestic.starter.mcp.server import Profile, build_server
from mnestic.starter.mcp.tool_scope import ToolScope
from mnestic.starter.tenants import Access, Tenants

PROFILES: Mapping[str, Profile] = {"/mcp": "memory", "/mcp/entities": "entities"}
MCP_HEADERS = ("Mcp-Protocol-Version", "Mcp-Method", "Mcp-Name")  # of a request
# On such an address, requests for other host names are refused: a page could have a name of its own lead here.
_LOOPBACKS = {"127.0.0.1": "127.0.0.1", "localhost": "localhost", "::1": "[::1]"}
_AGENTS = 100  # whose resources are a page
_AGENT, _READER = "agent_id", "reader"  # parameters of the address


class McpEndpoints:
    """The MCP servers of all profiles; the gate verifies the key of each request before they see it."""

    def __init__(
        self, tenants: Tenants, *, metrics: MetricsOfTenants, host: str, origins: Collection[str]
    ) -> None:
        self._tenants, self._metrics = tenants, metrics
        self._security = TransportSecuritySettings(
            enable_dns_rebinding_protection=host in _LOOPBACKS,
            allowed_hosts=[f"{one}:*" for one in _LOOPBACKS.values()],
            allowed_origins=[*(f"http://{one}:*" for one in _LOOPBACKS.values()), *origins],
        )

    @cached_property
    def servers(self) -> Mapping[str, MCPServer[Any]]:
        """The server of each path."""
        return {path: self._serve(path, profile) for path, profile in PROFILES.items()}

    @asynccontextmanager
    async def run(self) -> AsyncIterator[None]:
        """Runs what answers requests, for as long as a block; a second run needs new endpoints."""
        async with AsyncExitStack() as running:
            for server in self.servers.values():
                await running.enter_async_context(server.session_manager.run())
            yield

    def _serve(self, path: str, profile: Profile) -> MCPServer[Any]:
        server = build_server(self._scope_of, profile=profile, list_scopes=self._list_scopes)
        server.streamable_http_app(
            streamable_http_path=path,
            stateless_http=True,
            max_request_body_size=sys.maxsize,  # the gate limits it
            transport_security=self._security,
        )
        return server

    async def _list_scopes(
        self, ctx: ServerRequestContext[Any, Any], cursor: str | None
    ) -> tuple[Sequence[ToolScope], str | None]:
        """The agents whose resources are listed: that of the request or, if it names none, all that its key may read."""
        request, access = _request_of(ctx)
        if _agent_of(request, access) is not None:
            return [await self._scope_of(ctx, "read")], None
        agents, more = await access.client.list_agents(limit=_AGENTS, cursor=cursor)
        readable = (one for one in agents if access.allows("read", agent_id=one.agent_id))
        scopes = [
            replace(self._scope(ctx, one.agent_id), written_at=one.last_written_at)
            for one in readable
        ]
        return scopes, more

    async def _scope_of(
        self, ctx: ServerRequestContext[Any, Any], action: Action, agent_id: str | None = None
    ) -> ToolScope:
        """The agent of a request or, if it names none, the given one, if its key allows the action on it.

        Raises:
            InvalidInputError: nothing names an agent, and the key is for several.
            ForbiddenError: the key does not allow it.
        """
        request, access = _request_of(ctx)
        agent_id = _agent_of(request, access) or agent_id
        if agent_id is None:
            raise InvalidInputError(
                what=_AGENT,
                why=f"is missing; the API key is for several agents, so add ?{_AGENT}=AGENT to the address",
            )
        await self._tenants.require(
            access, action, agent_id=check_id(agent_id, what=_AGENT), target=_target_of(ctx)
        )
        return self._scope(ctx, agent_id)

    def _scope(self, ctx: ServerRequestContext[Any, Any], agent_id: str) -> ToolScope:
        request, access = _request_of(ctx)
        of_tenant = self._metrics.of(access.client.settings.tenant_id)
        return ToolScope(
            client=access.client,
            agent_id=agent_id,
            actor=access.actor,
            search=of_tenant.retrieve,
            read_job=functools.partial(self._tenants.require_job, access, target=_target_of(ctx)),
            reader=_named(request, _READER),
        )


def mcp_routes() -> Sequence[Route]:
    """A route for each profile. It takes POST alone: without sessions there is no stream to open by GET."""
    return [Route(path, _Endpoint(path), methods=["POST"]) for path in PROFILES]


class _Endpoint:
    """Hands a request to the server of its path, in the state of the application."""

    def __init__(self, path: str) -> None:
        self._path = path

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handles one request."""
        endpoints = scope["app"].state.mcp
        assert isinstance(endpoints, McpEndpoints)
        server = endpoints.servers[self._path]
        await StreamableHTTPASGIApp(server.session_manager)(scope, receive, send)


def _request_of(ctx: ServerRequestContext[Any, Any]) -> tuple[Request, Access]:
    request = ctx.request
    assert isinstance(request, Request)
    access = request.state.access
    assert isinstance(access, Access)
    return request, access


def _agent_of(request: Request, access: Access) -> str | None:
    """The agent that the address names, or the only one that the key is for."""
    return _named(request, _AGENT) or access.key.scope.only_agent


def _named(request: Request, parameter: str) -> str | None:
    """The agent that the address names, or the reader.

    Raises:
        InvalidInputError: the address has another parameter, which would change nothing, or names several.
    """
    for name in request.query_params:
        if name not in {_AGENT, _READER}:
            why = f"the parameter {name[:80]!r} is not known; there are {_AGENT} and {_READER}"
            raise InvalidInputError(what="address", why=why)
    values = request.query_params.getlist(parameter)
    if len(values) > 1:
        raise InvalidInputError(what=parameter, why=f"has {len(values)} values; give one")
    return values[0] if values else None


def _target_of(ctx: ServerRequestContext[Any, Any]) -> str:
    """The method and, if it calls a tool, the tool and what it names: what the audit log says of a request that is denied."""
    params = ctx.params or {}
    name = params.get("name")
    if name is None:
        return ctx.method
    named = access_of(name, params.get("arguments"))[1] if name in OPERATIONS else ""
    return f"{ctx.method} {name}: {named}" if named else f"{ctx.method} {name}"
