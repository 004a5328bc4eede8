"""`AgentMemory`: memory and waits inside a workflow.

`AgentJob` is built on it, and anyone's own workflow can use it.
"""

from collections.abc import Callable, Mapping
from datetime import timedelta
from functools import partial
from typing import Any, Generic, TypeVar

from pydantic import BaseModel, ConfigDict, TypeAdapter
from temporalio import workflow
from temporalio.common import RetryPolicy

from mnestic.activities.jobs.endings import EndingActivities, EndJobInput
from mnestic.activities.jobs.forks import ForkActivities, ForkInput
from mnestic.activities.jobs.memories import (
    MemoryActivities,
    RecallInput,
    RecallResult,
    RememberInput,
    RememberResult,
)
from mnestic.activities.jobs.thoughts import ThinkActivities, ThinkInput, ThinkResult
from mnestic.memory.jobs.agent_job import AgentMemoryState
from mnestic.memory.jobs.contexts import ContextSelection, PinnedEpisodes
from mnestic.memory.jobs.recalls import RecallQuery
from mnestic.memory.jobs.short_term.segments import ContractRef
from mnestic.memory.jobs.snapshots import Drift
from mnestic.memory.jobs.waits import (
    RESUMED,
    TIMEOUT,
    ForkOrigin,
    JobOutcome,
    OpenWait,
    ResumptionContext,
    WaitCondition,
    WaitPolicy,
    check_wait_key,
)
from mnestic.memory.jobs.working_memory import ToolCall, check_variable
from mnestic.memory.jobs.writes import MemoryWrite
from mnestic.memory.knowledge.prompt_facts import KnowledgeSelection
from mnestic.memory.models.usage import Budget
from mnestic.memory.names import END_JOB
from mnestic.memory.operations import Operation
from mnestic.memory.retrieval.selections import AutoSelection
from mnestic.memory.scope import Scope
from mnestic.memory.sharing.events import ChannelEvent, EventCondition
from mnestic.workflows.calls import (
    WITH_MODEL,
    run_activity,
    run_local_first,
    run_to_the_end,
    stores_locally,
)
from mnestic.workflows.jobs.agent_contract import AgentContract
from mnestic.workflows.jobs.agent_history import AgentHistory
from mnestic.workflows.jobs.controls import JobControls
from mnestic.workflows.jobs.operation_keys import OperationKeys
from mnestic.workflows.jobs.refusals import Refusals
from mnestic.workflows.jobs.resumes import ResumeInbox
from mnestic.workflows.jobs.wait_forms import checked_form, type_mismatch
from mnestic.workflows.jobs.waits import JobWaits, WaitTerms

Payload = TypeVar("Payload")
_ALL_CONTEXT = ContextSelection()


class WaitOutcome(BaseModel, Generic[Payload]):
    """How a wait ended, and what changed in memory during it.

    `payload` is None after a timeout. `origin` is where a fork may begin.
    """

    model_config = ConfigDict(frozen=True, extra="ignore")

    wait_id: str
    outcome: str
    payload: Payload | None = None
    drift: tuple[Drift, ...] = ()
    drift_count: int = 0
    origin: ForkOrigin


class AgentMemory(AgentContract):
    """The memory of one job, and what its agent knows.

    Make it in `__init__` of a workflow (under `workflow.init`): it registers the updates `resume`,
    `override` and `extend_wait`, the signals `resume`, `pause`, `unpause` and `poke`, and the query
    `resumption_context`; early requests then find them.
    """

    def __init__(
        self,
        *,
        job_id: str,
        scope: Scope,
        state: AgentMemoryState | None = None,
        max_payload_bytes: int = 16_384,
        continue_as_new: Callable[[AgentMemoryState], None] | None = None,
        contract: ContractRef | None = None,
    ) -> None:
        """Registers the handlers.

        Args:
            job_id: Names the job in operation keys and wait ids; unique in the tenant.
            scope: Whose memory it is.
            state: What an earlier run carried on.
            max_payload_bytes: Largest payload of a resume, as canonical JSON.
            continue_as_new: Called at a wait, also while parked, when the history is long, a newer
                build of the worker is there, or somebody pokes the job; carries `state` into a new
                run, which has to come to the same wait again. Without it, or when it returns, the
                workflow stays in its run.
            contract: The version of the agent's contract that this run keeps; `pin_contract` finds the one in force.
        """
        state = state or AgentMemoryState()
        refusals = Refusals(state.refused)
        super().__init__(
            scope,
            keys=OperationKeys(job_id, epoch=state.epoch, step=state.step),
            controls=JobControls(paused=state.paused, refuse=refusals.add),
            contract=contract,
        )
        self._continue_as_new = continue_as_new
        self.inbox = ResumeInbox(
            job_id=job_id,
            max_payload_bytes=max_payload_bytes,
            queued=state.queued,
            receipts=state.receipts,
            refusals=refusals,
            wait=state.open_wait,
            controls=self._controls,
        )
        self._waits = JobWaits(
            scope=scope,
            keys=self._keys,
            inbox=self.inbox,
            controls=self._controls,
            state=state,
            renew=None if continue_as_new is None else self._renew,
        )

    @property
    def open_wait(self) -> OpenWait | None:
        """The wait that is open, or None."""
        return self._waits.open

    @property
    def waits(self) -> int:
        """How many waits were opened so far."""
        return self._waits.count

    @property
    def attention(self) -> str | None:
        """Why the open wait could not be restored, or None."""
        return self._waits.attention

    @property
    def is_paused(self) -> bool:
        """Whether somebody has paused the job."""
        return self._controls.paused

    @property
    def state(self) -> AgentMemoryState:
        """What the next run needs."""
        return AgentMemoryState(
            epoch=self._keys.epoch,
            step=self._keys.step,
            waits=self._waits.count,
            open_wait=self._waits.open,
            queued=self.inbox.queued,
            receipts=self.inbox.receipts,
            refused=self.inbox.refused,
            attention=self._waits.attention,
            paused=self._controls.paused,
            sealed_tail=self.sealed_tail,
        )

    @property
    def sealed_tail(self) -> PinnedEpisodes | None:
        """The snapshot whose episodes the job goes on with; None: the current ones."""
        return self._waits.sealed_tail

    @property
    def history(self) -> AgentHistory:
        """The items of conversations, in the form of the framework that the agent is written in."""
        return AgentHistory(self._scope, next_operation=self._next_unpaused)

    def next_operation(self, name: str) -> Operation:
        """The next memory write of this job, with its idempotency key."""
        return self._keys.next(name)

    async def remember(
        self,
        write: MemoryWrite,
        *,
        tool_call: ToolCall | None = None,
        tool: Operation | None = None,
        learn: bool = True,
        emit: bool = False,
        templates: bool = False,
        results: Mapping[str, Any] | None = None,
        retry: RetryPolicy | None = None,
    ) -> RememberResult:
        """Stores records, an episode and changes of working memory in one transaction.

        Facts are extracted from the message, unless its role is `system`, and from the result of the
        `tool_call`, unless `learn` is off. If `tool`, the operation of the tool's call, is given too, the call
        is stored inside the workflow task. With `emit`, the message is published on its channel, if the contract
        has that. With `templates`, `${memory...}` in the values is filled in from
        working memory, and `${memory.results...}` from `results`. Leave it off for text that others wrote.
        """
        await self.until_unpaused()
        of_call = self._keys.of_call(tool) if tool is not None and stores_locally() else None
        params = RememberInput(
            scope=self._scope,
            operation=of_call or self._keys.next("remember"),
            write=write,
            templates=templates,
            learn=learn and (write.message is not None or tool_call is not None),
            emit=emit,
            tool_call=tool_call,
            results=dict(results or {}),
            sealed_tail=self.sealed_tail,
            **self.pinned_contract,
        )
        if of_call is not None:
            return await run_local_first(MemoryActivities.remember, params, activity_id=of_call.key)
        if write.episode is None and not (self.pinned_contract and write.message):
            return await run_activity(MemoryActivities.remember, params, retry=retry)
        return await run_activity(
            MemoryActivities.remember, params, timeout=WITH_MODEL, retry=retry
        )

    async def recall(
        self,
        query: RecallQuery,
        *,
        save_as: str,
        templates: bool = False,
        results: Mapping[str, Any] | None = None,
        retry: RetryPolicy | None = None,
    ) -> RecallResult:
        """Reads records, episodes and search results into a variable of working memory.

        The records are added to the read set. `templates` and `results` fill in the question, as in `remember`.
        """
        await self.until_unpaused()
        params = RecallInput(
            scope=self._scope,
            operation=self._keys.next("recall"),
            query=query,
            save_as=check_variable(save_as),
            templates=templates,
            results=dict(results or {}),
            sealed_tail=self.sealed_tail,
        )
        return await run_activity(MemoryActivities.recall, params, retry=retry)

    async def think(  # noqa: PLR0913 - what a think node says
        self,
        prompt: str,
        *,
        save_as: str,
        system: str | None = None,
        history: int = 20,
        max_input_tokens: int = 8000,
        max_tokens: int = 512,
        budget: Budget | None = None,
        know: KnowledgeSelection | None = None,
        retrieve: AutoSelection | None = None,
        context: ContextSelection | None = _ALL_CONTEXT,
        learn: bool = False,
        timeout: timedelta = WITH_MODEL,  # noqa: ASYNC109 - Temporal's, not asyncio's
        templates: bool = False,
        results: Mapping[str, Any] | None = None,
        retry: RetryPolicy | None = None,
    ) -> ThinkResult:
        """Calls the chat model and adds its reply to working memory.

        The model gets, quoted as data and as many as fit: the latest episodes and the records that the job has
        read (`context`), facts (`know`) and memories (`retrieve`), and the last `history` messages. A call above
        the job's `budget` is refused. With `learn`, facts are extracted from prompt and reply.
        """
        await self.until_unpaused()
        params = ThinkInput(
            scope=self._scope,
            operation=self._keys.next("think"),
            prompt=prompt,
            templates=templates,
            system=system,
            history=history,
            max_tokens=max_tokens,
            save_as=check_variable(save_as),
            max_input_tokens=max_input_tokens,
            budget=budget,
            know=know,
            retrieve=retrieve,
            context=context,
            sealed_tail=self.sealed_tail,
            learn=learn,
            results=dict(results or {}),
            **self.pinned_contract,
        )
        return await run_activity(ThinkActivities.think, params, timeout=timeout, retry=retry)

    async def wait(  # noqa: PLR0913 - what a wait node says
        self,
        key: str,
        *,
        timeout: timedelta,  # noqa: ASYNC109
        context: ResumptionContext | None = None,
        outcomes: tuple[str, ...] = (RESUMED,),
        policy: WaitPolicy = "rebase",
        ask: str | None = None,
        form: dict[str, Any] | None = None,
        condition: WaitCondition | None = None,
        payload_type: type[Payload] | None = None,
    ) -> WaitOutcome[Payload]:
        """Parks the workflow until a resume or the timeout, then restores its memory.

        Args:
            key: What is waited for, such as `approval`; published as WaitKey.
            timeout: After this the outcome is `timeout`.
            context: Where to continue; by default the key, with the workflow's type as the plan.
            outcomes: The outcomes that a resume may have.
            policy: What a restore does if memory has changed.
            ask: The question to a person, for the card in the Temporal UI.
            form: JSON Schema that the payload must match.
            condition: An event between agents, or a fact, that resumes it too; the outcome is `event` or `fact`, and the
                event or the fact is the payload.
            payload_type: Type of the payload; its JSON Schema is the form, unless `form` is given.

        Raises:
            InvalidInputError: the key is too long, or the form is not a valid JSON Schema.
            AlreadyWaitingError: another wait of the job is open, perhaps one that was cancelled; a job has
                one at a time.
        """
        check_wait_key(key)
        if self._waits.open is None:
            await self.until_unpaused()
        adapter = None if payload_type is None else TypeAdapter(payload_type)
        form = checked_form(form, adapter)
        workflow_type = workflow.info().workflow_type
        wait, request, restored = await self._waits.wait(
            WaitTerms(
                key=key,
                timeout=timeout,
                context=context
                or ResumptionContext(cursor_node=key, plan_decision_id=workflow_type),
                outcomes=outcomes
                if condition is None
                else tuple(dict.fromkeys((*outcomes, condition.outcome))),
                policy=policy,
                ask=ask,
                form=form,
                condition=condition,
                refuse=partial(type_mismatch, adapter),
            )
        )
        answer = request if request is not None and request.outcome != TIMEOUT else None
        payload = answer.payload if answer else None
        if adapter is not None and answer is not None and not wait.is_by_condition(answer.outcome):
            payload = adapter.validate_python(payload)
        return WaitOutcome(
            wait_id=wait.wait_id,
            outcome=request.outcome if request else TIMEOUT,
            payload=payload,
            drift=restored.drift,
            drift_count=restored.drift_count,
            origin=ForkOrigin(
                job_id=self._keys.job_id,
                wait_id=wait.wait_id,
                snapshot_id=wait.snapshot.id,
                sha256=wait.snapshot.sha256,
            ),
        )

    async def wait_for_event(
        self,
        channel: str,
        *,
        timeout: timedelta,  # noqa: ASYNC109
        where: dict[str, Any] | None = None,
        policy: WaitPolicy = "rebase",
    ) -> ChannelEvent | None:
        """Parks the workflow until an event; returns it, or None if the time was up.

        Args:
            channel: Which; in a pattern `*` stands for any characters. It is also the key of the wait.
            timeout: How long at the most.
            where: Members that the event's payload has to have.
            policy: What a restore does if memory has changed.

        Raises:
            InvalidInputError: the channel is too long, or no pattern.
            AlreadyWaitingError: another wait of the job is open.
        """
        ended: WaitOutcome[Any] = await self.wait(
            channel,
            timeout=timeout,
            outcomes=(),
            policy=policy,
            condition=EventCondition(channel=channel, where=where or {}),
        )
        is_over = ended.outcome == TIMEOUT
        return None if is_over else ChannelEvent.model_validate(ended.payload)

    async def fork(self, origin: ForkOrigin, *, job_id: str, session_id: str) -> Scope:
        """Gives a new job the memory of a wait's snapshot; returns the new job's scope.

        The new job gets the snapshot's working memory, in a session of its own, and its read set. The job that
        waited does not change. Start the new job's workflow with the returned scope.

        Args:
            origin: A wait of this job, or of another job of the agent.
            job_id: The new job, which has not written anything yet.
            session_id: An empty session.

        Raises:
            ActivityError: the job or the session is not new; nothing has changed.
        """
        await self.until_unpaused()
        scope = self._scope.model_copy(update={"session_id": session_id})
        params = ForkInput(
            scope=scope, operation=self._keys.next("fork"), job_id=job_id, origin=origin
        )
        await run_activity(ForkActivities.fork, params)
        return scope

    async def end(
        self, outcome: JobOutcome, *, plan: str | None = None, cause: str | None = None
    ) -> str:
        """Writes the job's episode, ends an open wait and drops the read set; returns the episode's id.

        Args:
            outcome: How the job ended.
            plan: The name of the plan; by default the workflow's type.
            cause: Why it failed.
        """
        self.inbox.end(outcome)
        params = EndJobInput(
            scope=self._scope,
            operation=self._keys.next(END_JOB),
            plan=plan or workflow.info().workflow_type,
            outcome=outcome,
            cause=cause,
            waits=self._waits.count,
            **self.pinned_contract,
        )
        result = await run_to_the_end(EndingActivities.end_job, params, timeout=WITH_MODEL)
        return result.episode_id

    async def _next_unpaused(self, name: str) -> Operation:
        await self.until_unpaused()
        return self._keys.next(name)

    def _renew(self) -> None:
        assert self._continue_as_new is not None
        self._keys.epoch += 1
        self._continue_as_new(self.state)
