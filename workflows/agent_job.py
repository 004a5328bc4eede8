"""`AgentJob`: a plan, run node by node, that can wait for weeks and go on with its memory."""

import asyncio
from typing import Any, NoReturn

from temporalio import workflow
from temporalio.common import RetryPolicy
from temporalio.exceptions import (
    ActivityError,
    ApplicationError,
    FailureError,
    is_cancelled_exception,
)

from mnestic.memory.canonical import check_size
from mnestic.memory.errors import MnesticError
from mnestic.memory.jobs import AgentMemoryState, JobInput, JobProgress, JobResult, JobStatus
from mnestic.memory.names import AGENT_JOB, STATUS
from mnestic.memory.operations import Operation
from mnestic.memory.plans import (
    END,
    Branch,
    EmitNode,
    Node,
    RecallNode,
    RememberNode,
    ThinkNode,
    ToolNode,
    WaitNode,
)
from mnestic.memory.recalls import RecallQuery
from mnestic.memory.templates import resolve
from mnestic.memory.waits import TIMEOUT, JobState, ResumptionContext
from mnestic.memory.working import ToolCall
from mnestic.memory.writes import MemoryWrite, MessageWrite
from mnestic.workflows.agent_memory import AgentMemory
from mnestic.workflows.publishing import publish_ended, publish_running


@workflow.defn(name=AGENT_JOB)
class AgentJob:
    """One agent job. Its memory is in the stores; its history holds ids, references and decisions."""

    @workflow.init
    def __init__(self, asked: JobInput) -> None:
        progress = asked.progress or JobProgress(cursor=asked.plan.nodes[0].id)
        self._asked = asked
        self._cursor = progress.cursor
        self._results: dict[str, Any] = dict(progress.results)
        self._ended: JobState | None = None
        self._memory = AgentMemory(
            job_id=asked.job_id,
            scope=asked.scope,
            state=progress.memory,
            max_payload_bytes=asked.max_payload_bytes,
            continue_as_new=self._continue_as_new,
        )

    @workflow.run
    async def run(self, asked: JobInput) -> JobResult:
        """Runs the plan to its end."""
        try:
            if asked.progress is None:
                publish_running()
            while self._cursor != END:
                self._cursor = await self._run_node(asked.plan.node(self._cursor))
        except (asyncio.CancelledError, FailureError) as error:
            if is_cancelled_exception(error):
                await self._end("cancelled", cause=None)
                raise
            await self._end("failed", cause=str(error))
            raise
        episode_id = await self._end("completed", cause=None)
        await workflow.wait_condition(workflow.all_handlers_finished)
        return JobResult(
            job_id=asked.job_id,
            waits=self._memory.waits,
            episode_id=episode_id,
            results=self._results,
        )

    @workflow.query(name=STATUS)
    def status(self) -> JobStatus:
        """Where the job is."""
        return JobStatus(
            job_id=self._asked.job_id,
            scope=self._asked.scope,
            plan=self._asked.plan.name,
            state=self._state(),
            node=self._cursor,
            waits=self._memory.waits,
            attention=self._memory.attention,
            open_wait=self._memory.open_wait,
            refused=self._memory.inbox.refused,
            receipts=self._memory.inbox.receipts,
        )

    def _state(self) -> JobState:
        if self._ended is not None:
            return self._ended
        if self._memory.attention is not None:
            return "needs_attention"
        return "waiting" if self._memory.open_wait is not None else "running"

    async def _run_node(self, node: Node) -> str:
        """Runs one node; returns the id of the next."""
        try:
            result = await self._result_of(node)
            check_size(result, what="result", limit_bytes=self._asked.max_payload_bytes)
            self._results[node.id] = result
            return self._next(node)
        except MnesticError as error:
            self._fail(node, str(error), type_=type(error).__name__)
        except ActivityError as error:
            if is_cancelled_exception(error):
                raise
            cause = error.cause
            type_ = cause.type if isinstance(cause, ApplicationError) else None
            self._fail(node, str(cause or error), type_=type_ or "NodeFailedError")

    def _fail(self, node: Node, why: str, *, type_: str) -> NoReturn:
        raise ApplicationError(f"node {node.id} failed: {why}", type=type_, non_retryable=True)

    async def _result_of(self, node: Node) -> Any:
        match node:
            case WaitNode():
                return await self._wait(node)
            case ToolNode():
                return await self._call(node)
            case ThinkNode():
                return await self._think(node)
            case RecallNode():
                query = RecallQuery.model_validate(
                    self._filled(node.model_dump(mode="json", include={"records", "episodes"}))
                )
                recalled = await self._memory.recall(query, save_as=node.save_as or node.id)
                return recalled.model_dump(mode="json")
            case RememberNode():
                fields = set(MemoryWrite.model_fields)
                filled = self._filled(node.model_dump(mode="json", include=fields))
                return await self._remember(MemoryWrite.model_validate(filled))
            case EmitNode():
                content = str(self._filled(node.content))
                message = MessageWrite(role="assistant", content=content, channel=node.channel)
                return await self._remember(MemoryWrite(message=message))

    async def _remember(self, write: MemoryWrite) -> dict[str, Any]:
        kept = await self._memory.remember(write)
        return kept.model_dump(mode="json")

    async def _think(self, node: ThinkNode) -> dict[str, Any]:
        thought = await self._memory.think(
            str(self._filled(node.prompt)),
            system=None if node.system is None else str(self._filled(node.system)),
            history=node.history,
            max_tokens=node.max_tokens,
            save_as=node.save_as or node.id,
            timeout=node.timeout,
        )
        return thought.model_dump(mode="json")

    async def _call(self, node: ToolNode) -> Any:
        operation = self._memory.next_operation("tool")
        arguments = self._filled(node.arguments, operation=operation)
        result = await workflow.execute_activity(
            node.activity,
            arguments,
            task_queue=node.task_queue,
            start_to_close_timeout=node.timeout,
            retry_policy=RetryPolicy(maximum_attempts=node.attempts),
            summary=node.id,
        )
        check_size(result, what="result", limit_bytes=self._asked.max_payload_bytes)
        call = ToolCall(
            id=operation.key, activity=node.activity, arguments=arguments, result=result
        )
        await self._memory.remember(MemoryWrite(), tool_call=call)
        return result

    async def _wait(self, node: WaitNode) -> dict[str, Any]:
        ended = await self._memory.wait(
            node.key,
            timeout=node.timeout,
            outcomes=tuple(outcome for outcome in node.on if outcome != TIMEOUT),
            policy=node.policy,
            ask=None if node.ask is None else str(self._filled(node.ask)),
            context=ResumptionContext(
                cursor_node=node.id,
                payload_results=self._results,
                plan_decision_id=self._asked.plan.decision_id,
            ),
        )
        return ended.model_dump(mode="json")

    def _next(self, node: Node) -> str:
        if isinstance(node, WaitNode):
            return node.on[self._results[node.id]["outcome"]]
        if isinstance(node.next, Branch):
            chosen = self._filled(node.next.on)
            text = str(chosen).lower() if isinstance(chosen, bool) else str(chosen)
            return node.next.cases.get(text, node.next.otherwise)
        return node.next

    def _filled(self, value: Any, *, operation: Operation | None = None) -> Any:
        scope = self._asked.scope.model_dump()
        job = {"id": self._asked.job_id, "scope": scope, **scope}
        if operation is not None:
            job["operation"] = operation.model_dump()
        return resolve(value, {"input": self._asked.inputs, "results": self._results, "job": job})

    async def _end(self, state: JobState, *, cause: str | None) -> str:
        assert state in {"completed", "failed", "cancelled"}
        episode_id = await self._memory.end(state, plan=self._asked.plan.name, cause=cause)
        self._ended = state
        publish_ended(state)
        return episode_id

    def _continue_as_new(self, memory: AgentMemoryState) -> None:
        progress = JobProgress(cursor=self._cursor, results=self._results, memory=memory)
        workflow.continue_as_new(self._asked.model_copy(update={"progress": progress}))
