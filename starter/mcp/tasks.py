"""The Tasks extension: a job is a task, its open wait is the input that the task requires.

A client that does not declare the extension sees nothing of it. Source: SEP-2663, revision 2026-07-28.
"""

import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any

from mcp import MCPError
from mcp.server import ServerRequestContext
from mcp.server.context import CallNext, HandlerResult
from mcp.server.extension import Extension, MethodBinding
from mcp.server.mcpserver.server import require_client_extension
from mcp.shared.inbound import MCP_NAME_HEADER
from mcp_types import (
    HEADER_MISMATCH,
    INTERNAL_ERROR,
    INVALID_PARAMS,
    CallToolRequestParams,
    CallToolResult,
    RequestParams,
)
from pydantic import BaseModel, Field, ValidationError

from mnestic.memory.canonical import canonical_json
from mnestic.memory.errors import NotFoundError, RefusedError, UnavailableError
from mnestic.starter.mcp.job_tasks import ENDED, TaskAnswer, answer_of, open_wait, task_of
from mnestic.starter.mcp.tool_results import StartedJob
from mnestic.starter.mcp.tool_scope import ScopeOf, ToolScope

EXTENSION = "io.modelcontextprotocol/tasks"
_VERSIONS = frozenset({"2026-07-28"})
_STARTS = "start_job"
_ANSWERS = uuid.UUID("0b0f6f0a-6f0e-4c0c-9a3e-5d1f5a7c2f11")  # the namespace of their request ids
Call = ServerRequestContext[Any, Any]


class TaskParams(RequestParams):
    """Which task a request is about."""

    task_id: str


class UpdateParams(TaskParams):
    """Answers, by the key of the request that each is for."""

    input_responses: dict[str, Any] = Field(default_factory=dict)


class JobTasks(Extension):
    """Tasks of the agent that the transport names."""

    identifier = EXTENSION

    def __init__(self, scope_of: ScopeOf) -> None:
        self._scope_of = scope_of

    def methods(self) -> Sequence[MethodBinding]:
        """The methods of tasks."""
        bindings: tuple[tuple[str, type[BaseModel], Any], ...] = (
            ("tasks/get", TaskParams, self._get),
            ("tasks/update", UpdateParams, self._update),
            ("tasks/cancel", TaskParams, self._cancel),
        )
        return [
            MethodBinding(method, params, handler, protocol_versions=_VERSIONS)
            for method, params, handler in bindings
        ]

    async def intercept_tool_call(
        self, params: CallToolRequestParams, ctx: Call, call_next: CallNext
    ) -> HandlerResult:
        """Answers a job that was started as a task, if the client declares the extension."""
        result = await call_next(ctx)
        if params.name != _STARTS or not _declares_tasks(ctx):
            return result
        if not isinstance(result, CallToolResult) or result.is_error:
            return result
        started = StartedJob.model_validate(result.structured_content)
        with _protocol_errors():
            scope = await self._scope_of(ctx, "jobs")
            return {"resultType": "task", **await self._task(scope, started.job_id)}

    async def _get(self, ctx: Call, params: TaskParams) -> HandlerResult:
        _check_request(ctx, params)
        with _protocol_errors():
            scope = await self._scope_of(ctx, "jobs")
            return await self._task(scope, params.task_id)

    async def _update(self, ctx: Call, params: UpdateParams) -> HandlerResult:
        """Resumes the job if its open wait is answered; answers to other requests are ignored."""
        _check_request(ctx, params)
        with _protocol_errors():
            scope = await self._scope_of(ctx, "jobs")
            wait = open_wait(await scope.describe_job(params.task_id))
            if wait is None or wait.wait_id not in params.input_responses:
                return {}
            answer = TaskAnswer.model_validate(params.input_responses[wait.wait_id])
            outcome, payload = answer_of(wait, answer)
            content = canonical_json([wait.wait_id, outcome, payload]).decode()
            await scope.client.resume_job(
                params.task_id,
                payload,
                outcome=outcome,
                wait_id=wait.wait_id,
                request_id=str(uuid.uuid5(_ANSWERS, content)),
                actor=scope.actor,
            )
            return {}

    async def _cancel(self, ctx: Call, params: TaskParams) -> HandlerResult:
        _check_request(ctx, params)
        with _protocol_errors():
            scope = await self._scope_of(ctx, "jobs")
            if (await scope.describe_job(params.task_id)).state not in ENDED:
                with suppress(NotFoundError):  # it has ended since
                    await scope.client.cancel_job(params.task_id)
            return {}

    async def _task(self, scope: ToolScope, job_id: str) -> dict[str, Any]:
        job = await scope.describe_job(job_id)
        result = None
        if job.state == "completed":
            with suppress(NotFoundError):  # Temporal has forgotten it
                result = await scope.client.wait_for_result(job_id)
        return task_of(job, result)


def _check_request(ctx: Call, params: TaskParams) -> None:
    """Refuses a client that does not declare the extension, and over HTTP a header that names another task.

    Raises:
        MCPError: says which.
    """
    require_client_extension(ctx, EXTENSION)
    if ctx.request is not None and ctx.request.headers.get(MCP_NAME_HEADER) != params.task_id:
        raise MCPError(HEADER_MISMATCH, f"the header {MCP_NAME_HEADER} is not the task's id")


def _declares_tasks(ctx: Call) -> bool:
    capabilities = ctx.session.client_capabilities
    extensions = (capabilities.extensions if capabilities else None) or {}
    return ctx.protocol_version in _VERSIONS and EXTENSION in extensions


@contextmanager
def _protocol_errors() -> Iterator[None]:
    """Turns errors that a caller can act on into those of JSON-RPC."""
    try:
        yield
    except (RefusedError, ValidationError) as error:
        raise MCPError(INVALID_PARAMS, str(error)) from error
    except UnavailableError as error:
        raise MCPError(INTERNAL_ERROR, str(error)) from error
