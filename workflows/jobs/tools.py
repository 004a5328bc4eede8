"""Calling a tool: any Temporal activity, and what becomes of its result."""

from typing import Any

from temporalio import workflow
from temporalio.common import RawValue

from mnestic.memory.canonical import canonical_json, check_json
from mnestic.memory.errors import InvalidInputError
from mnestic.memory.jobs.plan_checks import check_tool
from mnestic.memory.jobs.plans import ToolNode
from mnestic.memory.jobs.routes import check_route
from mnestic.memory.jobs.tool_results import find_reference
from mnestic.memory.jobs.working_memory import ToolCall
from mnestic.memory.jobs.writes import MemoryWrite
from mnestic.memory.names import OWN_ACTIVITIES, OWN_TOOLS
from mnestic.memory.operations import Operation
from mnestic.memory.scope import Scope
from mnestic.workflows.calls import check_sendable
from mnestic.workflows.jobs.agent_memory import AgentMemory
from mnestic.workflows.jobs.stored_results import StoredResults
from mnestic.workflows.retries import TOOLS, retry_policy

# The patch: a run before it that has called another of our activities as a tool may replay that.
_OWN_TOOLS_ONLY = "own-tools-only"
_ROUTES = (
    "checked-routes"  # the patch: runs before it may have called one of Temporal's own workers
)


class ToolCaller:
    """Calls the tools of one job."""

    def __init__(
        self,
        memory: AgentMemory,
        stored_results: StoredResults,
        *,
        scope: Scope,
        max_result_bytes: int,
    ) -> None:
        self._memory, self._stored_results, self._scope = memory, stored_results, scope
        self._max_result_bytes = max_result_bytes

    async def call(self, node: ToolNode, arguments: Any, *, operation: Operation) -> Any:
        """Runs the activity, and keeps the call in working memory.

        Returns:
            The activity's result, or a reference to it if it is too large to travel with the job.

        Raises:
            InvalidInputError: the tool is not one that a plan may call, its arguments are more than
                Temporal carries, or the result cannot be stored.
        """
        _check_route(node)
        arguments = self._held_to_the_job(node, arguments, operation=operation)
        check_sendable(arguments, what="arguments")
        given: RawValue | None = await workflow.execute_activity(
            node.activity,
            args=[] if node.arguments is None else [arguments],
            task_queue=node.task_queue,
            start_to_close_timeout=node.timeout,
            schedule_to_start_timeout=node.queue_timeout,
            schedule_to_close_timeout=node.total_timeout,
            heartbeat_timeout=node.heartbeat,
            retry_policy=retry_policy(node.retry, usual=TOOLS),
            summary=node.id,
            result_type=RawValue,
        )
        result = _read(given)
        if self._is_to_keep(node, result):
            result = await self._stored_results.keep(node.id, result)
        else:
            check_json(result, what="result")
        call = ToolCall(
            id=operation.key, activity=node.activity, arguments=arguments, result=result
        )
        await self._memory.remember(MemoryWrite(), tool_call=call, tool=operation, learn=node.learn)
        return result

    def _held_to_the_job(self, node: ToolNode, arguments: Any, *, operation: Operation) -> Any:
        """The arguments; one of our own tools works in the job's scope, whatever the plan says."""
        if not node.activity.startswith(OWN_ACTIVITIES):
            return arguments
        if node.activity not in OWN_TOOLS and not workflow.patched(_OWN_TOOLS_ONLY):
            return arguments
        check_tool(node)
        return arguments | {
            "scope": self._scope.model_dump(),
            "operation": operation.model_dump(),
            **{name: ref.model_dump() for name, ref in self._memory.pinned_contract.items()},
        }

    def _is_to_keep(self, node: ToolNode, result: Any) -> bool:
        """Whether the job holds a reference; also to what looks like one, so that none is forged."""
        limit = self._max_result_bytes
        if node.store_above is not None:
            limit = min(limit, node.store_above)
        return _size(result) > limit or find_reference(result) is not None


def _check_route(node: ToolNode) -> None:
    """Checks what the plan was checked for, unless somebody started the workflow past that."""
    try:
        check_route(node.activity, node.task_queue)
    except InvalidInputError:
        if workflow.patched(_ROUTES):
            raise


def _read(given: RawValue | None) -> Any:
    """The value of a result, in whatever language it was written.

    Raises:
        InvalidInputError: it is written in a way that is not known here.
    """
    if given is None:
        return None
    try:
        return workflow.payload_converter().from_payload(given.payload)
    except Exception as error:
        encoding = given.payload.metadata.get("encoding", b"none").decode(errors="replace")
        why = f"cannot be read (its encoding is {encoding}): {str(error)[:200]}"
        raise InvalidInputError(what="result", why=why) from error


def _size(result: Any) -> int:
    """Bytes of the result; 0 of what is no JSON, of which `check_json` says more.

    That check takes too long for a workflow when a result is large; the store does it then.
    """
    try:
        return len(canonical_json(result))
    except (ValueError, TypeError, RecursionError):
        return 0
