"""`AgentJob`: a plan, run node by node, that can wait for weeks and go on with its memory."""

import asyncio
from collections.abc import Awaitable
from typing import Any

from pydantic import ValidationError
from temporalio import workflow
from temporalio.exceptions import (
    ActivityError,
    ApplicationError,
    FailureError,
    is_cancelled_exception,
)
from temporalio.workflow import ContinueAsNewVersioningBehavior

from mnestic.memory.canonical import canonical_json
from mnestic.memory.errors import InvalidInputError, MnesticError
from mnestic.memory.jobs.agent_job import (
    AgentMemoryState,
    JobInput,
    JobProgress,
    JobResult,
    JobStatus,
)
from mnestic.memory.jobs.plans import (
    END,
    Branch,
    EmitNode,
    MemoryNode,
    Node,
    RecallNode,
    RememberNode,
    ThinkNode,
    ToolNode,
    WaitNode,
)
from mnestic.memory.jobs.recalls import RecallQuery
from mnestic.memory.jobs.short_term.segments import ContractRef
from mnestic.memory.jobs.templates import as_text, names_under, resolve, resolve_early
from mnestic.memory.jobs.waits import TIMEOUT, JobOutcome, JobState, ResumptionContext
from mnestic.memory.jobs.writes import MemoryWrite, MessageWrite
from mnestic.memory.knowledge.prompt_facts import KnowledgeSelection
from mnestic.memory.names import AGENT_JOB, STATUS
from mnestic.memory.operations import Operation
from mnestic.memory.retrieval.selections import AutoSelection
from mnestic.workflows.calls import LARGEST_INPUT
from mnestic.workflows.handlers import answer_query, takes_input
from mnestic.workflows.jobs.agent_memory import AgentMemory, WaitOutcome
from mnestic.workflows.jobs.node_failures import NodeFailure, failure_of
from mnestic.workflows.jobs.publishing import publish_ended, publish_started
from mnestic.workflows.jobs.stored_results import RESULTS_BYTES, StoredResults, sizes_of
from mnestic.workflows.jobs.tools import ToolCaller
from mnestic.workflows.ownership import require_own_tenant
from mnestic.workflows.retries import OURS, retry_policy

_FOR_A_WAIT = 16_384  # bytes: its ids, and a receipt with the reason of an override
_LONGEST_CAUSE = 2_000  # characters of a failure; it goes into the history and the episode


@workflow.defn(name=AGENT_JOB, sandboxed=False)
@takes_input(JobInput)
class AgentJob:
    """One agent job. Its memory is in the stores; its history holds ids, references and decisions."""

    @workflow.init
    def __init__(self, params: JobInput) -> None:
        progress = params.progress or JobProgress(cursor=params.plan.nodes[0].id)
        self._params, self._origin = params, params.origin
        self._cursor = progress.cursor
        self._results: dict[str, Any] = dict(progress.results)
        self._ended: JobState | None = None
        self._memory = AgentMemory(
            job_id=params.job_id,
            scope=params.scope,
            state=progress.memory,
            max_payload_bytes=params.max_payload_bytes,
            continue_as_new=self._continue_as_new,
            contract=params.contract,
        )
        self._stored_results = StoredResults(self._memory, scope=params.scope)
        answer_query(STATUS, self.status)

    @workflow.run
    async def run(self, params: JobInput) -> JobResult:
        """Runs the plan to its end, and writes an episode, however it ends."""
        require_own_tenant(params.scope.tenant_id)
        try:
            if params.progress is None or params.origin is not None:
                publish_started(params.scope)
            if _is_continued(params):
                await self._memory.pin_contract()
            await self._take_over_memory()
            while self._cursor != END:
                if self._memory.open_wait is None:  # an open wait has its own pause
                    await self._memory.until_unpaused()
                self._cursor = await self._run_node(params.plan.node(self._cursor))
        except (asyncio.CancelledError, FailureError) as error:
            if is_cancelled_exception(error):
                await self._end("cancelled")
            else:
                await self._end("failed", cause=str(error))
            raise
        episode_id = await self._end("completed")
        return JobResult(
            job_id=params.job_id,
            waits=self._memory.waits,
            episode_id=episode_id,
            **self._results_that_fit(),
        )

    def _results_that_fit(self) -> dict[str, Any]:
        """The results, but for the largest ones where Temporal would not carry them all."""
        sizes = sizes_of(self._results)
        omitted: list[str] = []
        while sum(sizes.values()) > RESULTS_BYTES:
            omitted.append(max(sizes, key=lambda name: sizes[name]))
            del sizes[omitted[-1]]
        included = {name: result for name, result in self._results.items() if name in sizes}
        return {"results": included, "omitted": tuple(omitted)}

    def status(self) -> JobStatus:
        """Where the job is: what the query `status` answers."""
        return JobStatus(
            job_id=self._params.job_id,
            scope=self._params.scope,
            plan=self._params.plan.name,
            state=self._state(),
            node=self._cursor,
            waits=self._memory.waits,
            attention=self._memory.attention,
            deferred=self._memory.inbox.deferred,
            open_wait=self._memory.open_wait,
            refused=self._memory.inbox.refused,
            receipts=self._memory.inbox.receipts,
        )

    def _state(self) -> JobState:
        if self._ended is not None:
            return self._ended
        if self._memory.is_paused:
            return "paused"
        if self._memory.attention is not None:
            return "needs_attention"
        return "waiting" if self._memory.open_wait is not None else "running"

    async def _run_node(self, node: Node) -> str:
        """Runs one node; returns the id of the next."""
        try:
            if self._memory.open_wait is None:
                await self._stored_results.restore_results(self._results, node)
            self._results[node.id] = await self._result_of(node)
            return self._next(node)
        except (MnesticError, ValidationError, ActivityError) as error:
            if is_cancelled_exception(error):
                raise
            failure = failure_of(error)
        return self._caught(node, failure)

    def _caught(self, node: Node, failure: NodeFailure) -> str:
        """Where the job goes on after a failure; without a `catch` it fails."""
        if isinstance(node, WaitNode) or node.catch is None:
            why = f"node {node.id} failed: {failure.message[:_LONGEST_CAUSE]}"
            raise ApplicationError(why, type=failure.type, non_retryable=True)
        if (
            workflow.cancellation_reason() is not None
        ):  # it came during the step; Temporal reports it once
            raise asyncio.CancelledError
        self._results[node.id] = failure.as_result()
        return node.catch

    async def _result_of(self, node: Node) -> Any:
        result: Awaitable[Any]
        match node:
            case WaitNode():
                result = self._wait(node)
            case ToolNode():
                result = self._call(node)
            case ThinkNode():
                result = self._think(node)
            case RecallNode():
                result = self._recall(node)
            case RememberNode():
                fields = set(MemoryWrite.model_fields)
                filled = self._filled_early(node.model_dump(mode="json", include=fields))
                result = self._remember(node, MemoryWrite.model_validate(filled))
            case MemoryNode():
                result = self._operate(node)
            case EmitNode():
                content = as_text(self._filled_early(node.content))
                message = MessageWrite(role="assistant", content=content, channel=node.channel)
                result = self._remember(node, MemoryWrite(message=message))
        return await result

    async def _recall(self, node: RecallNode) -> dict[str, Any]:
        named = self._filled(node.model_dump(mode="json", include={"records", "episodes"}))
        search = {"search": self._filled_selection(node.search)}
        recalled = await self._memory.recall(
            RecallQuery.model_validate(named | search),
            save_as=node.save_as or node.id,
            templates=node.search is not None,
            results=self._results_named(search),
            retry=retry_policy(node.retry, usual=OURS),
        )
        return recalled.model_dump(mode="json")

    async def _operate(self, node: MemoryNode) -> dict[str, Any]:
        arguments = self._filled_early(node.arguments)
        result = await self._memory.operate(
            node.operation,
            arguments,
            save_as=node.variable,
            templates=True,
            results=self._results_named(arguments),
            retry=retry_policy(node.retry, usual=OURS),
        )
        return result.model_dump(mode="json")

    async def _remember(self, node: RememberNode | EmitNode, write: MemoryWrite) -> dict[str, Any]:
        result = await self._memory.remember(
            write,
            learn=isinstance(node, RememberNode) and node.learn,
            emit=isinstance(node, EmitNode),
            templates=True,
            results=self._results_named(write.model_dump(mode="json")),
            retry=retry_policy(node.retry, usual=OURS),
        )
        return result.model_dump(mode="json")

    async def _think(self, node: ThinkNode) -> dict[str, Any]:
        prompt = as_text(self._filled_early(node.prompt))
        system = None if node.system is None else as_text(self._filled_early(node.system))
        found = self._filled_selection(node.retrieve)
        thought = await self._memory.think(
            prompt,
            system=system,
            history=node.history,
            max_input_tokens=node.max_input_tokens,
            max_tokens=node.max_tokens,
            budget=self._params.plan.budget,
            know=self._known(node),
            retrieve=None if found is None else AutoSelection.model_validate(found),
            context=node.context,
            learn=node.learn,
            save_as=node.save_as or node.id,
            timeout=node.timeout,
            templates=True,
            results=self._results_named([prompt, system, found]),
            retry=retry_policy(node.retry, usual=OURS),
        )
        return thought.model_dump(mode="json")

    def _known(self, node: ThinkNode) -> KnowledgeSelection | None:
        if node.know is None:
            return None
        return KnowledgeSelection.model_validate(self._filled(node.know.model_dump(mode="json")))

    async def _call(self, node: ToolNode) -> Any:
        operation = self._memory.next_operation("tool")
        arguments = self._filled(node.arguments, operation=operation)
        caller = ToolCaller(
            self._memory,
            self._stored_results,
            scope=self._params.scope,
            max_result_bytes=self._params.max_payload_bytes,
        )
        return await caller.call(node, arguments, operation=operation)

    def _results_named(self, value: Any) -> dict[str, Any]:
        """The results that templates of a value reach by way of memory, small ones and references."""
        named = names_under(value, "memory.results")
        return {name: result for name, result in self._results.items() if name in named}

    async def _wait(self, node: WaitNode) -> dict[str, Any]:
        ask, condition = None, node.condition
        if self._memory.open_wait is None:  # else its results may be references by now
            if condition is not None:
                filled = self._filled(condition.model_dump(mode="json", exclude_defaults=True))
                condition = type(condition).model_validate(filled)
            ask = None if node.ask is None else as_text(self._filled(node.ask))
            await self._stored_results.store_largest(
                self._results,
                plan=self._params.plan,
                cursor=node.id,
                room=lambda: self._room_beside([ask, node.form]),
            )
        ended: WaitOutcome[Any] = await self._memory.wait(
            node.key,
            timeout=node.timeout,
            outcomes=tuple(outcome for outcome in node.on if outcome != TIMEOUT),
            policy=node.policy,
            ask=ask,
            form=node.form,
            condition=condition,
            context=ResumptionContext(
                cursor_node=node.id,
                payload_results=self._results,
                plan_decision_id=self._params.plan.decision_id,
                inputs=self._params.inputs,
            ),
        )
        return ended.model_dump(mode="json", exclude={"origin"})

    def _next(self, node: Node) -> str:
        if isinstance(node, WaitNode):
            return node.on[self._results[node.id]["outcome"]]
        if isinstance(node.next, Branch):
            chosen = self._filled(node.next.on)
            text = str(chosen).lower() if isinstance(chosen, bool) else str(chosen)
            return node.next.cases.get(text, node.next.otherwise)
        return node.next

    def _filled(self, value: Any, *, operation: Operation | None = None) -> Any:
        return resolve(value, self._roots(operation))

    def _filled_early(self, value: Any) -> Any:
        """Leaves what names memory to the activity."""
        return resolve_early(value, self._roots())

    def _filled_selection(self, select: AutoSelection | None) -> Any:
        """A selection as `_filled_early` leaves it.

        Raises:
            InvalidInputError: it names a reader, which is null; without one the agent itself would read.
        """
        if select is None:
            return None
        filled = self._filled_early(select.model_dump(mode="json"))
        if select.reader is not None and filled["reader"] is None:
            raise InvalidInputError(what="reader", why=f"is null by {select.reader}")
        return filled

    def _roots(self, operation: Operation | None = None) -> dict[str, Any]:
        scope = self._params.scope.model_dump()
        job = {"id": self._params.job_id, "scope": scope, **scope}
        if operation is not None:
            job["operation"] = operation.model_dump()
        return {"input": self._params.inputs, "results": self._results, "job": job}

    async def _end(self, outcome: JobOutcome, *, cause: str | None = None) -> str:
        """Writes the job's episode. A cancellation that comes during that is too late."""
        ending = asyncio.create_task(
            self._memory.end(outcome, plan=self._params.plan.name, cause=cause)
        )
        while not ending.done():
            try:
                await asyncio.shield(ending)
            except asyncio.CancelledError:
                if ending.cancelled():
                    raise
        self._ended = outcome
        publish_ended(outcome)
        await workflow.wait_condition(workflow.all_handlers_finished)
        return ending.result()

    async def _take_over_memory(self) -> None:
        """A fork begins with the memory of the wait that it comes from."""
        if self._origin is not None:
            scope = self._params.scope
            try:
                await self._memory.fork(
                    self._origin, job_id=self._params.job_id, session_id=scope.session_id
                )
            except ActivityError as error:
                if is_cancelled_exception(error):
                    raise
                failure = failure_of(error)
                why = f"the fork of wait {self._origin.wait_id} failed: {failure.message}"
                raise ApplicationError(why, type=failure.type, non_retryable=True) from error
            self._origin = None

    def _carried(self, memory: AgentMemoryState, *, results: dict[str, Any]) -> JobInput:
        """What goes into a new run."""
        progress = JobProgress(cursor=self._cursor, results=results, memory=memory)
        pinned = {"contract": self._params.contract or ContractRef()}
        update = {"progress": progress, "origin": self._origin, **pinned}
        return self._params.model_copy(update=update)

    def _room_beside(self, wait: Any) -> int:
        """Bytes that results may take in a new run, beside what a wait says and requests to come."""
        rest = _size(self._carried(self._memory.state, results={})) + len(canonical_json(wait))
        return LARGEST_INPUT - _FOR_A_WAIT - rest - self._memory.inbox.free_bytes

    def _continue_as_new(self, memory: AgentMemoryState) -> None:
        """Goes on in a new run, by the newest build of the worker.

        What Temporal would not carry stays in this run.
        """
        carried = self._carried(memory, results=self._results)
        if _size(carried) > LARGEST_INPUT:
            workflow.logger.warning("the job carries too much to continue as new")
            return
        workflow.continue_as_new(
            carried, initial_versioning_behavior=ContinueAsNewVersioningBehavior.AUTO_UPGRADE
        )


def _is_continued(params: JobInput) -> bool:
    """Whether the job was continued as new, by a version that pins contracts; a fork has its contract from its start."""
    return params.contract is not None and params.progress is not None and params.origin is None


def _size(carried: JobInput) -> int:
    return len(carried.model_dump_json().encode())
