"""Whose memory a tool call uses. The transport decides: standard input serves one agent, HTTP any that a key allows."""

import asyncio
import functools
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any, ParamSpec, Protocol, TypeVar, Unpack

from mcp import MCPError
from mcp.server import ServerRequestContext
from mcp.server.mcpserver.exceptions import ResourceError, ResourceNotFoundError, ToolError
from mcp_types import INVALID_PARAMS

from mnestic.memory.access.api_keys import Action
from mnestic.memory.errors import InvalidInputError, NotFoundError, RefusedError, UnavailableError
from mnestic.memory.jobs.agent_job import JobDescription
from mnestic.memory.retrieval.queries import Retrieval
from mnestic.starter.client.keyword_arguments import SearchArguments

if TYPE_CHECKING:  # a second, which a server that was not called need not wait for
    from mnestic.starter.client.memory_client import MemoryClient
    from mnestic.starter.client.mnestic_client import MnesticClient

CHANNEL = "mcp"
Params = ParamSpec("Params")
Result = TypeVar("Result")


ReadJob = Callable[[str], Awaitable[JobDescription]]
Search = Callable[["MemoryClient", str, SearchArguments], Awaitable[Retrieval]]


async def _search(memory: "MemoryClient", text: str, arguments: SearchArguments) -> Retrieval:
    return await memory.retrieve(text, **arguments)


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolScope:
    """The agent of a call, with the client that reaches its memory and its jobs.

    The transport may count searches, and read jobs in a way that notes what a key does not allow in the audit log.
    """

    client: "MnesticClient"
    agent_id: str
    actor: str = "client"  # for the audit log
    search: Search = _search
    read_job: ReadJob | None = None
    reader: str | None = None
    written_at: datetime | None = None  # the agent's memory, last, where that was looked up already

    @property
    def memory(self) -> "MemoryClient":
        """The agent's memory."""
        return self.client.memory(self.agent_id, actor=self.actor, reader=self.reader)

    async def retrieve(self, text: str, **arguments: Unpack[SearchArguments]) -> Retrieval:
        """Searches the agent's memory."""
        return await self.search(self.memory, text, arguments)

    def check_jobs(self) -> None:
        """Refuses to show a reader jobs, which are the agent's own.

        Raises:
            InvalidInputError: the memory is served to a reader.
        """
        if self.reader is not None:
            why = f"is {self.reader}, and jobs are the agent's own; serve it without a reader"
            raise InvalidInputError(what="reader", why=why)

    async def describe_job(self, job_id: str) -> JobDescription:
        """A job of the agent; one of another agent is refused as one that does not exist.

        Raises:
            NotFoundError: the agent has no such job.
        """
        self.check_jobs()
        job = await (self.read_job or self.client.describe_job)(job_id)
        if job.agent_id != self.agent_id:
            raise NotFoundError(what="job", name=job_id)
        return job


class ScopeOf(Protocol):
    """Finds the agent of a request, and refuses an action that the caller may not do."""

    def __call__(
        self, ctx: ServerRequestContext[Any, Any], action: Action, agent_id: str | None = None, /
    ) -> Awaitable[ToolScope]:
        """The scope of the transport's agent or, if that names none, of the agent that a resource's address names."""


class LazyScope:
    """The scope of a transport that serves one agent: connects at the first call.

    Calls that come meanwhile wait for the same attempt, whoever of them is cancelled; if it fails, the next call makes another.
    """

    def __init__(self, connect: Callable[[], Coroutine[Any, Any, ToolScope]]) -> None:
        self._connect = connect
        self._connecting: asyncio.Task[ToolScope] | None = None

    async def __call__(self, *_: object) -> ToolScope:
        """The scope; raises what connecting does."""
        connecting = self._connecting
        if connecting is None or (connecting.done() and connecting.exception() is not None):
            connecting = self._connecting = asyncio.create_task(self._connect())
        return await asyncio.shield(connecting)


ListScopes = Callable[
    [ServerRequestContext[Any, Any], str | None], Awaitable[tuple[Sequence[ToolScope], str | None]]
]
"""The agents that a request may read, from a cursor on, and the next cursor."""


def tool(call: Callable[Params, Awaitable[Result]]) -> Callable[Params, Awaitable[Result]]:
    """Turns errors that a caller can act on into tool errors, whose text the model reads."""

    @functools.wraps(call)
    async def answered(*args: Params.args, **kwargs: Params.kwargs) -> Result:
        try:
            return await call(*args, **kwargs)
        except (RefusedError, UnavailableError) as error:
            raise ToolError(str(error)) from error

    return answered


def resource(call: Callable[Params, Awaitable[Result]]) -> Callable[Params, Awaitable[Result]]:
    """Turns errors that a caller can act on into those of JSON-RPC: resources have no errors for the model."""

    @functools.wraps(call)
    async def answered(*args: Params.args, **kwargs: Params.kwargs) -> Result:
        try:
            return await call(*args, **kwargs)
        except NotFoundError as error:
            raise ResourceNotFoundError(str(error)) from error
        except RefusedError as error:
            raise MCPError(INVALID_PARAMS, str(error)) from error
        except UnavailableError as error:
            raise ResourceError(str(error)) from error

    return answered
