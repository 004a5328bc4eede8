"""A client of the Tasks extension: its requests, and what it declares."""

import asyncio
from collections.abc import Sequence
from typing import Any, Literal

from mcp import Client
from mcp.client.extension import ClaimContext, ClientExtension, ResultClaim
from mcp_types import CallToolResult, Request, RequestParams, Result
from pydantic import ConfigDict

EXTENSION = "io.modelcontextprotocol/tasks"


class CreatedTask(Result):
    """What a call returns that became a task."""

    model_config = ConfigDict(extra="allow")

    result_type: Literal["task"] = "task"
    task_id: str
    status: str


class TaskResult(Result):
    """The answer to a request about a task, as it was sent."""

    model_config = ConfigDict(extra="allow")


class TaskRequestParams(RequestParams):
    """Parameters, as they are sent."""

    model_config = ConfigDict(extra="allow")


class TaskRequest(Request[TaskRequestParams, str]):
    """A request about a task, whose id goes into a header over HTTP."""

    name_param = "taskId"


async def _keep(_result: CreatedTask, _ctx: ClaimContext) -> CallToolResult:
    raise AssertionError("the tests look at the task itself")


class TaskExtension(ClientExtension):
    """Declares the extension."""

    identifier = EXTENSION

    def claims(self) -> Sequence[ResultClaim[Any]]:
        """The result that a call may have."""
        return [ResultClaim(result_type="task", model=CreatedTask, resolve=_keep)]


async def started(client: Client, **arguments: Any) -> CreatedTask:
    """The task that `start_job` became."""
    result = await client.session.call_tool("start_job", arguments, allow_claimed=True)
    assert isinstance(result, CreatedTask)
    return result


async def about(client: Client, method: str, task_id: str, **params: Any) -> dict[str, Any]:
    """The answer to a request about a task."""
    request = TaskRequest(
        method=f"tasks/{method}",
        params=TaskRequestParams.model_validate({"taskId": task_id, **params}),
    )
    result = await client.session.send_request(request, TaskResult)
    document: dict[str, Any] = result.model_dump(mode="json", by_alias=True)
    return document


async def until(client: Client, task_id: str, status: str) -> dict[str, Any]:
    """The task, once it has a status."""
    async with asyncio.timeout(60):
        while True:
            task = await about(client, "get", task_id)
            if task["status"] == status:
                return task
            await asyncio.sleep(0.1)
