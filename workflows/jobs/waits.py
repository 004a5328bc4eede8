"""The waits of one job: opened, parked, continued in a new run, extended, restored.

Other operations of `AgentMemory` write and return at once.
"""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from temporalio import workflow
from temporalio.exceptions import ActivityError, ApplicationError

from mnestic.activities.jobs.signal_times import SignalTimeActivities, SignalTimeInput
from mnestic.activities.jobs.waits import (
    ExtendWaitInput,
    OpenWaitInput,
    RestoreInput,
    WaitActivities,
)
from mnestic.memory.errors import AlreadyWaitingError
from mnestic.memory.jobs.agent_job import AgentMemoryState
from mnestic.memory.jobs.refusals import extension_refusal
from mnestic.memory.jobs.waits import (
    TIMEOUT,
    ExtendRequest,
    OpenWait,
    Restored,
    ResumeRequest,
    ResumptionContext,
    WaitCondition,
    WaitExtended,
    WaitPolicy,
    episodes_after_restore,
)
from mnestic.memory.names import EXTEND_WAIT, RESUMPTION_CONTEXT, wait_id
from mnestic.memory.scope import Scope
from mnestic.workflows.calls import cause_of, is_of_this_version, run_activity, run_local_first
from mnestic.workflows.handlers import answer_query, take_update
from mnestic.workflows.jobs.controls import JobControls
from mnestic.workflows.jobs.operation_keys import OperationKeys
from mnestic.workflows.jobs.publishing import (
    publish_attention,
    publish_owner,
    publish_paused,
    publish_running,
    publish_waiting,
)
from mnestic.workflows.jobs.renewals import JobRenewal
from mnestic.workflows.jobs.resumes import LATE, ResumeInbox, after_signals

_TRY_AGAIN = timedelta(days=1)
_LATE_EXTENSIONS = "late-extensions"  # the patch: runs before it extend a wait that has timed out
_GIVEN_UP = "given-up-openings"  # the patch: runs before it forget a wait that is given up so early
_DEFERS = "kept-requests"  # the patch: runs before it time out a wait that needs attention


@dataclass(frozen=True, kw_only=True)
class WaitTerms:
    """What is waited for, how long, and what a resume may say.

    `refuse` tells what is wrong with a payload that the form lets pass, if something is.
    """

    key: str
    timeout: timedelta
    context: ResumptionContext
    outcomes: tuple[str, ...]
    policy: WaitPolicy
    ask: str | None
    form: dict[str, Any] | None
    condition: WaitCondition | None
    refuse: Callable[[Any], str | None]


class JobWaits:
    """At most one wait is open. It is in the database before the job parks, and ends there first."""

    def __init__(
        self,
        *,
        scope: Scope,
        keys: OperationKeys,
        inbox: ResumeInbox,
        controls: JobControls,
        state: AgentMemoryState,
        renew: Callable[[], None] | None,
    ) -> None:
        """Registers the update `extend_wait` and the query `resumption_context`.

        Args:
            scope: Whose memory it is.
            keys: Counts the job's operations.
            inbox: Who resumes.
            controls: Whether the job is paused or was poked.
            state: What an earlier run carried on.
            renew: Continues as new; None if the workflow stays in one run.
        """
        self._scope, self._keys = scope, keys
        self._inbox, self._controls = inbox, controls
        self._renewal = JobRenewal(
            inbox=inbox, controls=controls, renew=renew, began_renewed=state.epoch > 0
        )
        self._lock = asyncio.Lock()  # the deadline does not move while the wait ends
        self._extended = False
        self._context: ResumptionContext | None = None
        self._key: str | None = None  # of what is waited for in this run
        self._given_up: str | None = None  # the key of a wait that was given up while it was opened
        self.count = self._carried = state.waits
        self.sealed_tail = state.sealed_tail  # the source of episodes; None: the current ones
        self.open = state.open_wait
        self.attention = state.attention
        inbox.needs_attention = state.attention is not None
        inbox.next_wait_id = wait_id(keys.job_id, self.count + 1)
        extends, check = self._on_extend, self._validate_extend
        take_update(EXTEND_WAIT, extends, takes=ExtendRequest, validate=check)
        answer_query(RESUMPTION_CONTEXT, self._on_resumption_context)

    async def wait(self, terms: WaitTerms) -> tuple[OpenWait, ResumeRequest | None, Restored]:
        """Parks until a request or the deadline; returns the wait, who resumed it, and the drift.

        Raises:
            AlreadyWaitingError: another call has not returned yet, or left its wait open.
        """
        self._check_is_free(terms.key)
        self._key = terms.key
        try:
            return await self._wait(terms)
        finally:
            self._key = None

    def _check_is_free(self, key: str) -> None:
        """Whether no other wait is under way, nor open since its call was given up."""
        given_up = self._key is None
        waits_for = self._key or (self.open.key if self.open else self._given_up)
        if waits_for is None or (given_up and waits_for == key):
            return
        if given_up and self.open is None:
            if not workflow.patched(_GIVEN_UP):
                return
        elif given_up and self.count == self._carried:  # fails the task, until the code is mended
            message = f"the job waits for {waits_for}, and its code came to the wait for {key}"
            raise workflow.NondeterminismError(f"{message}; a new run has to come to the open one")
        job_id = self._keys.job_id
        raise AlreadyWaitingError(job_id=job_id, waits_for=waits_for, key=key, is_given_up=given_up)

    async def _wait(self, terms: WaitTerms) -> tuple[OpenWait, ResumeRequest | None, Restored]:
        modern, is_given_up = is_of_this_version(), False
        self._renewal.comes_to_a_wait()
        if self.open is None:
            if self._renewal.is_due(suggestion_counts=True):
                await self._renewal.go_on(patient=modern)
            publish_owner(self._scope)
            before = _cancellations()
            self.open = await self._open(terms)
            is_given_up = _cancellations() > before and workflow.patched(_GIVEN_UP)
            self._renewal.has_opened_a_wait()
        self._context = terms.context
        self._publish()
        self._inbox.open(self.open)
        if is_given_up:  # while an ordinary activity opened it, which ends all the same
            raise asyncio.CancelledError
        self._inbox.try_again()
        request, restored = await self._until_restored(terms, modern=modern)
        self.sealed_tail = episodes_after_restore(self.open, restored, before=self.sealed_tail)
        wait, self.open, self._context = self.open, None, None
        self._inbox.close(restored.receipt)
        publish_running()
        return wait, request, restored

    async def _open(self, terms: WaitTerms) -> OpenWait:
        number = self.count + 1
        opened_at: datetime = workflow.now()
        wait = wait_id(self._keys.job_id, number)
        params = OpenWaitInput(
            scope=self._scope,
            operation=self._keys.of_wait(wait, "open_wait"),
            wait_id=wait,
            key=terms.key,
            policy=terms.policy,
            context=terms.context,
            outcomes=terms.outcomes,
            ask=terms.ask,
            form=terms.form,
            condition=terms.condition,
            opened_at=opened_at,
            deadline=opened_at + terms.timeout,
            sealed_tail=self.sealed_tail,
        )
        self._inbox.expect(wait)
        try:
            snapshot = await run_local_first(WaitActivities.open_wait, params)
        except BaseException as error:
            self._inbox.expect(None)
            if isinstance(error, asyncio.CancelledError):
                self._given_up = terms.key  # its row may be there
            raise
        self.count, self._given_up = number, None
        self._inbox.next_wait_id = wait_id(self._keys.job_id, number + 1)
        return OpenWait(
            wait_id=wait,
            key=terms.key,
            outcomes=terms.outcomes,
            policy=terms.policy,
            deadline=snapshot.snapshot_at + terms.timeout,
            snapshot=snapshot,
            ask=terms.ask,
            form=terms.form,
            condition=terms.condition,
        )

    async def _until_restored(
        self, terms: WaitTerms, *, modern: bool
    ) -> tuple[ResumeRequest | None, Restored]:
        """Waits for a request or the deadline, and restores; parks again if that is refused."""
        while True:
            if self._renewal.is_due(suggestion_counts=modern):
                await self._renewal.go_on(patient=True)
            if self._controls.paused:
                await self._stay_paused(modern=modern)
                continue
            wait, self._extended = self._opened, False
            has_ended = await self._inbox.next_request(
                self._alarm(wait),
                stirred=lambda: self._is_stirred(modern=modern),
                summary=wait.key,
            )
            if not has_ended or self._controls.paused:
                continue
            async with self._lock:  # a later deadline that is being written counts
                if not self._ends():
                    continue
                await self._refuse_late()
                restored = await self._restore(self._opened, self._inbox.taken, terms)
            if restored is not None:
                return _decision(self._opened, self._inbox.taken, restored), restored
            if modern:
                self._inbox.open(self._opened)  # for requests that were deferred during the opening

    async def _refuse_late(self) -> None:
        """Ends the wait by its timeout, if the request that was taken had come after the deadline."""
        taken = self._inbox.taken
        if taken is None or not self._inbox.is_doubtful or not workflow.patched(LATE):
            return
        if await arrived_late(taken, wait=self._opened):
            self._inbox.refuse_late()

    async def _restore(
        self, wait: OpenWait, request: ResumeRequest | None, terms: WaitTerms
    ) -> Restored | None:
        """Restores, or gives the sender the reason why not."""
        outcome = request.outcome if request else TIMEOUT
        is_answer = outcome != TIMEOUT and not wait.is_by_condition(outcome)
        why = terms.refuse(request.payload) if request and is_answer else None
        if why is not None:
            self._inbox.refuse_duplicate(why)
            return None
        params = RestoreInput(
            scope=self._scope,
            operation=self._keys.of_wait(wait.wait_id, "restore"),
            wait=wait,
            request=request,
            restored_at=workflow.now(),
        )
        try:
            restored = await run_local_first(WaitActivities.restore, params)
        except ActivityError as error:
            failure = cause_of(error)
            needs_attention = failure.type != "ResumeRefusedError"
            self._inbox.fail(failure, keep=needs_attention and workflow.patched(_DEFERS))
            if needs_attention:
                self._need_attention(failure.message)
                self._publish(unanswered=request)
            return None
        self._need_attention(None)
        return restored

    def _need_attention(self, why: str | None) -> None:
        self.attention = why
        self._inbox.needs_attention = why is not None

    def _waits_for_a_person(self) -> bool:
        """Whether the open wait needs attention, so that its deadline does not count any more."""
        return self.attention is not None and workflow.patched(_DEFERS)

    def _ends(self) -> bool:
        """Whether the open wait is to be restored, by a request (maybe a deferred one) or by its timeout."""
        if self._inbox.taken is None and self._extended:
            return False
        if self._waits_for_a_person():
            self._inbox.try_again()
        else:
            self._inbox.time_is_up()
        return self._inbox.is_resolved

    async def _stay_paused(self, *, modern: bool) -> None:
        """Waits while the job is paused; requests that are deferred in that time come afterwards."""
        publish_paused(self._opened)
        alarm = None if self._inbox.is_resolved else self._alarm(self._opened)
        try:
            await workflow.wait_condition(
                lambda: not self._controls.paused or self._renewal.is_due(suggestion_counts=modern),
                timeout=None if alarm is None else max(alarm - workflow.now(), timedelta(0)),
            )
        except TimeoutError:
            async with self._lock:
                alarm = self._alarm(self._opened)
                if alarm is not None and alarm <= workflow.now():  # else it got a later deadline
                    self._inbox.time_is_up()
        if not self._controls.paused:
            self._publish()

    def _alarm(self, wait: OpenWait) -> datetime | None:
        """When to go on without a new request; None: never."""
        if self.attention is None:
            return wait.deadline
        if not self._waits_for_a_person():
            return max(wait.deadline, workflow.now() + _TRY_AGAIN)
        return workflow.now() + _TRY_AGAIN if self._inbox.deferred else None

    def _is_stirred(self, *, modern: bool) -> bool:
        paused = self._controls.paused
        return paused or self._extended or self._renewal.is_due(suggestion_counts=modern)

    def _publish(self, *, unanswered: ResumeRequest | None = None) -> None:
        wait = self._opened
        if self._controls.paused:
            publish_paused(wait)
        elif self.attention is not None:
            publish_attention(
                wait,
                scope=self._scope,
                why=self.attention,
                request=unanswered,
                deferred=self._inbox.deferred,
            )
        else:
            publish_waiting(wait, scope=self._scope)

    @property
    def _opened(self) -> OpenWait:
        assert self.open is not None
        return self.open

    def _validate_extend(self, request: ExtendRequest) -> None:
        """The update's validator: what it refuses leaves no trace in the history."""
        is_late = self._inbox.is_past() and not self._lock.locked()  # else another one may count
        self._check_extend(request, is_late=is_late)

    def _check_extend(self, request: ExtendRequest, *, is_late: bool) -> None:
        ends = "is just ending" if self._inbox.is_resolved else None
        if is_late:
            ends = "is over, its time was up"
        why = extension_refusal(request, open_wait=self.open, now=workflow.now(), ends=ends)
        if why is not None:
            message = f"job {self._keys.job_id}: {why}"
            raise ApplicationError(message, type="InvalidInputError", non_retryable=True)

    async def _on_extend(self, request: ExtendRequest) -> WaitExtended:
        await after_signals()
        async with self._lock:
            is_late = self._inbox.is_past() and workflow.patched(_LATE_EXTENSIONS)
            self._check_extend(request, is_late=is_late)
            wait = self._opened
            if request.until == wait.deadline:
                return WaitExtended(wait_id=wait.wait_id, deadline=wait.deadline)
            params = ExtendWaitInput(
                scope=self._scope,
                operation=self._keys.of_extension(wait.wait_id, request.until),
                wait_id=wait.wait_id,
                request=request,
            )
            try:
                extended = await run_activity(WaitActivities.extend_wait, params)
            except ActivityError as error:
                raise cause_of(error) from error
            self.open = wait.model_copy(update={"deadline": extended.deadline})
            self._inbox.move(self.open)
            self._extended = True
            self._publish()
        return extended

    def _on_resumption_context(self) -> ResumptionContext | None:
        """Where and with which memory the job goes on; None while it does not wait."""
        if self._context is None or self.open is None:
            return None
        return self._context.model_copy(update={"memory_snapshot": self.open.snapshot})


def _cancellations() -> int:
    """How often the running task was cancelled."""
    task = asyncio.current_task()
    assert task is not None
    return task.cancelling()


def _decision(
    wait: OpenWait, taken: ResumeRequest | None, restored: Restored
) -> ResumeRequest | None:
    """Who resumed the wait: the request that was taken, or one that an attempt took which was lost.

    What met the condition is as the restore has read it: the signal only says that something did.
    """
    if restored.receipt is None:
        return None
    is_taken = taken is not None and taken.request_id == restored.receipt.request_id
    if is_taken and not wait.is_by_condition(restored.receipt.outcome):
        return taken
    return restored.request


async def arrived_late(request: ResumeRequest, *, wait: OpenWait) -> bool:
    """Whether a signal came after the deadline of its wait, by Temporal's clock.

    It is in doubt only when no worker was up at the deadline: then the workflow is handed what came before and after it at
    one moment, signals first.
    """
    params = SignalTimeInput(request=request, opened_at=wait.snapshot.snapshot_at)
    arrival = await run_local_first(SignalTimeActivities.find_signal_time, params)
    # An activity of an earlier version looked in one run only, and gave None for signals of others.
    return arrival.came_at is None or arrival.came_at >= wait.deadline
