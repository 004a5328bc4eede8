"""`AgentMemory`: memory and waits inside a workflow.

It stands apart from `AgentJob`, which is built on it, so that anyone's own workflow can use it.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from datetime import datetime, timedelta
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict
from temporalio import workflow
from temporalio.common import RetryPolicy
from temporalio.exceptions import ActivityError, ApplicationError

from mnestic.activities.endings import EndingActivities, EndJobInput
from mnestic.activities.memories import (
    MemoryActivities,
    RecallInput,
    RecallResult,
    RememberInput,
    RememberResult,
)
from mnestic.activities.thoughts import ThinkActivities, ThinkInput, ThinkResult
from mnestic.activities.waits import OpenWaitInput, RestoreInput, WaitActivities
from mnestic.memory.forms import check_form
from mnestic.memory.jobs import AgentMemoryState
from mnestic.memory.names import operation_key, wait_id
from mnestic.memory.operations import Operation
from mnestic.memory.recalls import RecallQuery
from mnestic.memory.scope import Scope
from mnestic.memory.snapshots import Drift
from mnestic.memory.waits import (
    RESUMED,
    TIMEOUT,
    JobOutcome,
    OpenWait,
    Restored,
    ResumeRequest,
    ResumptionContext,
    WaitPolicy,
)
from mnestic.memory.working import ToolCall
from mnestic.memory.writes import MemoryWrite
from mnestic.workflows.publishing import publish_attention, publish_running, publish_waiting
from mnestic.workflows.resumes import ResumeInbox
from mnestic.workflows.retries import OURS

_TIMEOUT = timedelta(seconds=60)
_TRY_AGAIN = timedelta(days=1)

Asked = TypeVar("Asked")
Result = TypeVar("Result")


class WaitOutcome(BaseModel):
    """How a wait ended, and what changed in memory meanwhile."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    wait_id: str
    outcome: str
    payload: Any = None
    drift: tuple[Drift, ...] = ()
    drift_count: int = 0


class AgentMemory:
    """The memory of one job.

    Make it in `__init__` of a workflow (under `workflow.init`): it registers the handlers `resume`,
    one update and one signal, and early requests then find them.
    """

    def __init__(
        self,
        *,
        job_id: str,
        scope: Scope,
        state: AgentMemoryState | None = None,
        max_payload_bytes: int = 16_384,
        continue_as_new: Callable[[AgentMemoryState], None] | None = None,
    ) -> None:
        """Registers the handlers.

        Args:
            job_id: Names the job in operation keys and wait ids; unique in the tenant.
            scope: Whose memory it is.
            state: What an earlier run carried on.
            max_payload_bytes: Largest payload of a resume, as canonical JSON.
            continue_as_new: Called before a wait is opened when the history is long; carries `state` into
                a new run. Without it the workflow stays in one run.
        """
        state = state or AgentMemoryState()
        self._job_id, self._scope = job_id, scope
        self._epoch, self._step, self._waits = state.epoch, state.step, state.waits
        self._open = state.open_wait
        self._continue_as_new = continue_as_new
        self.inbox = ResumeInbox(
            job_id=job_id,
            max_payload_bytes=max_payload_bytes,
            queued=state.queued,
            receipts=state.receipts,
            wait=state.open_wait,
        )
        self.attention: str | None = None

    @property
    def open_wait(self) -> OpenWait | None:
        """The wait that is open, or None."""
        return self._open

    @property
    def waits(self) -> int:
        """How many waits were opened so far."""
        return self._waits

    @property
    def state(self) -> AgentMemoryState:
        """What the next run needs."""
        return AgentMemoryState(
            epoch=self._epoch,
            step=self._step,
            waits=self._waits,
            open_wait=self._open,
            queued=self.inbox.queued,
            receipts=self.inbox.receipts,
        )

    def next_operation(self, name: str) -> Operation:
        """The next memory write of this job, with its idempotency key."""
        self._step += 1
        key = operation_key(self._job_id, epoch=self._epoch, step=self._step, name=name)
        return Operation(key=key, name=name, job_id=self._job_id)

    async def remember(
        self,
        write: MemoryWrite,
        *,
        tool_call: ToolCall | None = None,
        templates: bool = False,
        results: Mapping[str, Any] | None = None,
        retry: RetryPolicy | None = None,
    ) -> RememberResult:
        """Keeps records, an episode and changes of working memory, all or nothing.

        With `templates`, `${memory...}` in the values is filled in from working memory, and
        `${memory.results...}` from `results`; leave it off for text that somebody else wrote.
        """
        asked = RememberInput(
            scope=self._scope,
            operation=self.next_operation("remember"),
            write=write,
            templates=templates,
            tool_call=tool_call,
            results=dict(results or {}),
        )
        return await _run(MemoryActivities.remember, asked, retry=retry)

    async def recall(
        self, query: RecallQuery, *, save_as: str, retry: RetryPolicy | None = None
    ) -> RecallResult:
        """Reads records and episodes into a variable of working memory, and into the read set."""
        asked = RecallInput(
            scope=self._scope,
            operation=self.next_operation("recall"),
            query=query,
            save_as=save_as,
        )
        return await _run(MemoryActivities.recall, asked, retry=retry)

    async def think(  # noqa: PLR0913 - what a model call can be told
        self,
        prompt: str,
        *,
        save_as: str,
        system: str | None = None,
        history: int = 20,
        max_tokens: int = 512,
        timeout: timedelta = timedelta(minutes=2),  # noqa: ASYNC109 - Temporal's, not asyncio's
        templates: bool = False,
        results: Mapping[str, Any] | None = None,
        retry: RetryPolicy | None = None,
    ) -> ThinkResult:
        """Asks the chat model; its reply joins working memory."""
        asked = ThinkInput(
            scope=self._scope,
            operation=self.next_operation("think"),
            prompt=prompt,
            templates=templates,
            system=system,
            history=history,
            max_tokens=max_tokens,
            save_as=save_as,
            results=dict(results or {}),
        )
        return await _run(ThinkActivities.think, asked, timeout=timeout, retry=retry)

    async def wait(
        self,
        key: str,
        *,
        timeout: timedelta,  # noqa: ASYNC109
        context: ResumptionContext,
        outcomes: tuple[str, ...] = (RESUMED,),
        policy: WaitPolicy = "rebase",
        ask: str | None = None,
        form: dict[str, Any] | None = None,
    ) -> WaitOutcome:
        """Parks the workflow until a resume or the timeout, and restores what it knew.

        Args:
            key: What is waited for, such as `approval`; published as WaitKey.
            timeout: After this the outcome is `timeout`.
            context: Where to go on.
            outcomes: What a resume may answer.
            policy: What a restore does with memory that changed meanwhile.
            ask: What a person is asked, for the card in the Temporal UI.
            form: A JSON Schema that the payload of a resume must fit.

        Raises:
            InvalidInputError: the form is no JSON Schema.
        """
        if form is not None:
            check_form(form)
        if self._open is None:
            await self._continue_if_long()
            await self._open_wait(
                key,
                timeout=timeout,
                context=context,
                outcomes=outcomes,
                policy=policy,
                ask=ask,
                form=form,
            )
        assert self._open is not None
        publish_waiting(self._open, scope=self._scope, ask=ask)
        self.inbox.open(self._open)
        request, restored = await self._until_restored(self._open)
        outcome = WaitOutcome(
            wait_id=self._open.wait_id,
            outcome=request.outcome if request else TIMEOUT,
            payload=request.payload if request else None,
            drift=restored.drift,
            drift_count=restored.drift_count,
        )
        self._open = None
        self.inbox.close(restored.receipt)
        publish_running()
        return outcome

    async def end(self, outcome: JobOutcome, *, plan: str, cause: str | None) -> str:
        """Writes the job's episode and ends an open wait; returns the episode's id."""
        self.inbox.end(outcome)
        asked = EndJobInput(
            scope=self._scope,
            operation=self.next_operation("end"),
            plan=plan,
            outcome=outcome,
            cause=cause,
            waits=self._waits,
        )
        result = await _to_the_end(EndingActivities.end_job, asked, timeout=timedelta(minutes=2))
        return result.episode_id

    async def _open_wait(
        self,
        key: str,
        *,
        timeout: timedelta,  # noqa: ASYNC109
        context: ResumptionContext,
        outcomes: tuple[str, ...],
        policy: WaitPolicy,
        ask: str | None,
        form: dict[str, Any] | None,
    ) -> None:
        number = self._waits + 1
        opened_at: datetime = workflow.now()
        asked = OpenWaitInput(
            scope=self._scope,
            operation=self.next_operation("open_wait"),
            wait_id=wait_id(self._job_id, number),
            key=key,
            policy=policy,
            context=context,
            opened_at=opened_at,
            deadline=opened_at + timeout,
            outcomes=outcomes,
            ask=ask,
            form=form,
        )
        self.inbox.expect(asked.wait_id)
        try:
            snapshot = await _run(WaitActivities.open_wait, asked)
        except BaseException:
            self.inbox.expect(None)
            raise
        self._waits = number
        self._open = OpenWait(
            wait_id=asked.wait_id,
            key=key,
            outcomes=outcomes,
            policy=policy,
            deadline=asked.deadline,
            snapshot=snapshot,
            ask=ask,
            form=form,
        )

    async def _until_restored(self, wait: OpenWait) -> tuple[ResumeRequest | None, Restored]:
        """Waits for a request or the deadline, and restores; parks again if that is refused."""
        while True:
            request = await self.inbox.next_request(self._alarm(wait), summary=wait.key)
            try:
                restored = await self._restore(wait, request)
            except ActivityError as error:
                cause = error.cause
                if not isinstance(cause, ApplicationError):
                    raise
                failure = ApplicationError(cause.message, type=cause.type, non_retryable=True)
                self.inbox.fail(failure)
                if cause.type == "ResumeRefusedError":
                    continue
                self.attention = cause.message
                publish_attention(wait, scope=self._scope, why=cause.message)
            else:
                self.attention = None
                return request, restored

    def _alarm(self, wait: OpenWait) -> datetime:
        """When to go on without a request; a job that needs attention tries again each day."""
        if self.attention is None:
            return wait.deadline
        return max(wait.deadline, workflow.now() + _TRY_AGAIN)

    async def _restore(self, wait: OpenWait, request: ResumeRequest | None) -> Restored:
        asked = RestoreInput(
            scope=self._scope,
            operation=self.next_operation("restore"),
            wait=wait,
            outcome=request.outcome if request else TIMEOUT,
            request_id=request.request_id if request else None,
            restored_at=workflow.now(),
        )
        return await _run(WaitActivities.restore, asked)

    async def _continue_if_long(self) -> None:
        """Goes on in a new run when Temporal suggests it.

        While updates still wait for their receipts the run goes on; the next wait asks again.
        """
        suggested = workflow.info().is_continue_as_new_suggested()
        if self._continue_as_new is None or not suggested or not workflow.all_handlers_finished():
            return
        self._epoch += 1
        self._continue_as_new(self.state)


async def _run(
    method: Callable[[Any, Asked], Awaitable[Result]],
    asked: Asked,
    *,
    timeout: timedelta = _TIMEOUT,  # noqa: ASYNC109
    retry: RetryPolicy | None = None,
) -> Result:
    """Runs an activity to its end, and only then takes note of a cancellation.

    What it writes is so settled before the job's episode is written. Temporal tells of a
    cancellation once; one that came while the activity ended is raised here.
    """
    cancelled_before = workflow.cancellation_reason() is not None
    result = await _to_the_end(method, asked, timeout=timeout, retry=retry)
    if workflow.cancellation_reason() is not None and not cancelled_before:
        raise asyncio.CancelledError
    return result


async def _to_the_end(
    method: Callable[[Any, Asked], Awaitable[Result]],
    asked: Asked,
    *,
    timeout: timedelta,  # noqa: ASYNC109
    retry: RetryPolicy | None = None,
) -> Result:
    return await workflow.execute_activity_method(
        method,
        asked,
        start_to_close_timeout=timeout,
        retry_policy=retry or OURS,
        cancellation_type=workflow.ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
    )
