"""What a client may read without a tool: facts, categories and jobs, as JSON.

Their addresses name the agent, since what a client caches of one agent must not answer for another.
"""

from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime
from typing import Any

from mcp.server import ServerRequestContext
from mcp.server.context import CallNext, HandlerResult
from mcp.server.mcpserver import MCPServer
from mcp_types import Annotations, ListResourcesResult, Resource
from pydantic_core import to_json

from mnestic.memory.access.api_keys import Action
from mnestic.memory.errors import InvalidInputError, NotFoundError
from mnestic.starter.mcp.memory_tools import Call
from mnestic.starter.mcp.tool_results import KnownFact
from mnestic.starter.mcp.tool_scope import ListScopes, ScopeOf, ToolScope, resource

_JSON = "application/json"
_PAGE = 200


class MemoryResources:
    """The resources, for the agent that the transport names."""

    def __init__(self, scope_of: ScopeOf, list_scopes: ListScopes | None) -> None:
        self._scope_of = scope_of
        self._list_scopes = list_scopes or self._only_scope

    def add_to(self, server: MCPServer[Any]) -> None:
        """Registers the resources."""
        for uri, name, read in self._templates:
            server.resource(uri, name=name, title=name.capitalize(), **_described(read))(read)

    async def list_resources(
        self, ctx: ServerRequestContext[Any, Any], call_next: CallNext
    ) -> HandlerResult:
        """Middleware: answers `resources/list`, and hands on all else."""
        return await (self._list(ctx) if ctx.method == "resources/list" else call_next(ctx))

    @resource
    async def _list(self, ctx: ServerRequestContext[Any, Any]) -> ListResourcesResult:
        """The resources of the agents that the call may read whose addresses name nothing else, in pages."""
        scopes, more = await self._list_scopes(ctx, (ctx.params or {}).get("cursor"))
        listed = []
        for scope in scopes:
            written_at = await _written_at(scope)
            for template, name, read in self._templates:
                uri = template.replace("{agent_id}", scope.agent_id)
                if "{" in uri or (scope.reader and read == self.jobs):
                    continue
                at = None if read == self.jobs else written_at
                title = f"{name.capitalize()} of {scope.agent_id}"
                listed.append(Resource(uri=uri, name=name, title=title, **_described(read, at=at)))
        return ListResourcesResult(resources=listed, next_cursor=more)

    async def _only_scope(
        self, ctx: ServerRequestContext[Any, Any], cursor: str | None
    ) -> tuple[Sequence[ToolScope], str | None]:
        """The scope of the call, whose list has one page.

        Raises:
            InvalidInputError: there is a cursor.
        """
        if cursor is not None:
            raise InvalidInputError(what="cursor", why="was not made by this list")
        return [await self._scope_of(ctx, "read")], None

    @property
    def _templates(self) -> tuple[tuple[str, str, Callable[..., Awaitable[str]]], ...]:
        return (
            ("mnestic://{agent_id}/categories", "categories", self.categories),
            ("mnestic://{agent_id}/facts", "facts", self.facts),
            ("mnestic://{agent_id}/facts/{subject}", "facts of a subject", self.facts_about),
            ("mnestic://{agent_id}/jobs", "jobs", self.jobs),
            ("mnestic://{agent_id}/jobs/{job_id}", "job", self.job),
        )

    @resource
    async def categories(self, agent_id: str, ctx: Call) -> str:
        """The categories of the agent's facts, each with a summary of what is so now."""
        memory = (await self._scope(agent_id, ctx, "read")).memory
        return _json({"categories": await memory.contexts.list_categories()})

    @resource
    async def facts(self, agent_id: str, ctx: Call) -> str:
        """The agent's current facts; `list_facts` has the next page."""
        return await self._facts(agent_id, ctx, subject=None)

    @resource
    async def facts_about(self, agent_id: str, subject: str, ctx: Call) -> str:
        """The current facts about a person or a thing, by any of its names."""
        return await self._facts(agent_id, ctx, subject=subject)

    @resource
    async def jobs(self, agent_id: str, ctx: Call) -> str:
        """The agent's latest jobs."""
        scope = await self._scope(agent_id, ctx, "jobs")
        scope.check_jobs()
        jobs, more = await scope.client.list_jobs(agent_id=scope.agent_id)
        return _json({"jobs": jobs, "cursor": more})

    @resource
    async def job(self, agent_id: str, job_id: str, ctx: Call) -> str:
        """A job's state and its waits."""
        scope = await self._scope(agent_id, ctx, "jobs")
        return _json(await scope.describe_job(job_id))

    async def _scope(self, agent_id: str, ctx: Call, action: Action) -> ToolScope:
        """The scope of the call, if it is of this agent."""
        scope = await self._scope_of(ctx.request_context, action, agent_id)
        if agent_id != scope.agent_id:
            raise NotFoundError(what="agent", name=agent_id)
        return scope

    async def _facts(self, agent_id: str, ctx: Call, *, subject: str | None) -> str:
        memory = (await self._scope(agent_id, ctx, "read")).memory
        facts, more = await memory.facts.list(subject=subject, limit=_PAGE)
        return _json({"facts": [KnownFact.of(fact) for fact in facts], "cursor": more})


async def _written_at(scope: ToolScope) -> datetime | None:
    """When the agent's memory was last written; a reader is not told, since others may have written."""
    if scope.reader is not None:
        return None
    if scope.written_at is not None:
        return scope.written_at
    agents, _ = await scope.client.list_agents(agent_id=scope.agent_id)
    return agents[0].last_written_at if agents else None


def _described(
    read: Callable[..., Awaitable[str]], *, at: datetime | None = None
) -> dict[str, Any]:
    """The metadata of a resource, of which it is known when it changed, or of a template."""
    modified = None if at is None else at.isoformat()
    annotations = Annotations(audience=["assistant"], last_modified=modified)
    return {"description": read.__doc__, "mime_type": _JSON, "annotations": annotations}


def _json(document: Any) -> str:
    return to_json(document, indent=1).decode()
