"""The inbox of a waiting job: which request resumes it, and which answer each sender gets.

`AgentMemory` opens and restores waits; this is about requests alone.
"""

import asyncio
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from functools import partial

from temporalio import workflow
from temporalio.exceptions import ApplicationError

from mnestic.memory.errors import InvalidInputError
from mnestic.memory.jobs.refusals import resume_refusal
from mnestic.memory.jobs.waits import (
    DeferredRequest,
    OpenWait,
    ResumeReceipt,
    ResumeRequest,
    check_request,
)
from mnestic.memory.names import MOVED, OVERRIDE, RESUME
from mnestic.workflows.handlers import take_signal, take_update
from mnestic.workflows.jobs.controls import JobControls
from mnestic.workflows.jobs.refusals import Refusals
from mnestic.workflows.jobs.request_queue import RequestQueue

_MAX_RECEIPTS = 100  # older ones are found in the wait's row
_EARLY = "early-signals"  # the patch: runs before it refuse a signal that names the next wait
_ORDER = "requests-in-order"  # the patch: runs before it put what they put back behind the others
_SENDERS = "senders-of-kept"  # the patch: in runs before it all that was kept has come by signal
LATE = "late-requests"  # the patch: in runs before it what is handled at once with the deadline is in time


class ResumeInbox:
    """Accepts one request per wait, by update or signal; a duplicate gets the first receipt."""

    def __init__(
        self,
        *,
        job_id: str,
        max_payload_bytes: int,
        queued: Sequence[ResumeRequest],
        receipts: Sequence[ResumeReceipt],
        refusals: Refusals,
        wait: OpenWait | None,
        controls: JobControls,
    ) -> None:
        """Registers the handlers at once, so that early requests are not lost."""
        self._controls = controls
        self._job_id, self._max_payload_bytes = job_id, max_payload_bytes
        self._queue = RequestQueue(queued)
        self._receipts = {receipt.request_id: receipt for receipt in receipts}
        self._wait = wait
        self._taken: ResumeRequest | None = None
        self._taken_by_signal = False
        self.is_doubtful = False  # whether the taken request may have come after the deadline
        self._timed_out = False
        self._opening: str | None = None
        self._ended: str | None = None
        self._released = False
        self.next_wait_id = ""  # of the wait that this run opens next
        self.needs_attention = False
        self._refusals = refusals
        refuse = partial(refusals.add, RESUME)
        take_signal(RESUME, self._on_signal, takes=ResumeRequest, refuse=refuse)
        for name in (RESUME, OVERRIDE):
            take_update(name, self._on_update, takes=ResumeRequest, validate=self._validate)

    @property
    def taken(self) -> ResumeRequest | None:
        """The request that resumes the open wait, or None."""
        return self._taken

    @property
    def is_resolved(self) -> bool:
        """Whether the open wait is being resumed, or has timed out."""
        return self._taken is not None or self._timed_out

    @property
    def queued(self) -> tuple[ResumeRequest, ...]:
        """Signals for the next wait, which came while no wait could take them, and those of `deferred`."""
        return tuple(self._queue)

    @property
    def deferred(self) -> tuple[DeferredRequest, ...]:
        """Signals for which the open wait could not be restored, in their order; each names it."""
        return tuple(
            DeferredRequest(request_id=request.request_id, outcome=request.outcome)
            for request in self._queue
            if self._is_deferred(request)
        )

    @property
    def refused(self) -> tuple[str, ...]:
        """Why the latest signals were refused, for the status."""
        return self._refusals.messages

    @property
    def free_bytes(self) -> int:
        """How many bytes of requests a job may still carry into a new run."""
        return self._queue.free_bytes

    @property
    def receipts(self) -> tuple[ResumeReceipt, ...]:
        """The latest receipts, oldest first."""
        return tuple(self._receipts.values())

    def expect(self, wait_id: str | None) -> None:
        """Lets updates wait for a wait that is being opened; None if opening it failed."""
        self._opening = wait_id

    def open(self, wait: OpenWait) -> None:
        """Begins to accept requests for a wait, the queued ones first."""
        self._wait, self._opening, self._timed_out = wait, None, False
        for request in self._queue:
            waits_on = request.wait_id is None and self._taken is not None
            if not (waits_on or request.wait_id == self.next_wait_id or self._is_deferred(request)):
                self._queue.drop(request)
                self._receive(request)

    def try_again(self) -> None:
        """Takes the first request that was deferred for the open wait, unless another one is taken."""
        deferred = next(filter(self._is_deferred, self._queue), None)
        if deferred is not None and self._taken is None:
            self._take(deferred, by_signal=True)

    def close(self, receipt: ResumeReceipt | None) -> None:
        """Ends the wait; the sender of its request gets the receipt.

        The receipt may be for another request than the taken one, if a lost attempt had restored the wait before.
        Then the taken request fails if it is an update, and is queued for the next wait if it is a signal that names none.
        """
        if receipt is not None:
            self._receipts[receipt.request_id] = receipt
        taken, self._taken = self._taken, None
        if taken is not None and (receipt is None or receipt.request_id != taken.request_id):
            self._refuse_taken(taken, receipt)
        for request in filter(self._names_open_wait, self._queue):
            self._queue.drop(request)
            if receipt is None or receipt.request_id != request.request_id:
                self._refuse_signal(request, self._over_by(receipt))
        while len(self._receipts) > _MAX_RECEIPTS:
            del self._receipts[next(iter(self._receipts))]
        self._wait, self._timed_out = None, False

    def release_updates(self) -> None:
        """Ends updates that wait for the receipt of a queued request.

        Their senders send them again: the job is about to continue in a new run, which carries the request.
        """
        self._released = True

    def accept_updates(self) -> None:
        """Accepts updates again: the job stays in its run."""
        self._released = False

    def fail(self, failure: ApplicationError, *, keep: bool = False) -> None:
        """Gives the sender the reason why the wait could not be restored, and accepts requests again.

        With `keep`, a signal is deferred for the wait, since its sender got no answer.
        """
        taken, self._taken, self._timed_out = self._taken, None, False
        if taken is None:
            return
        if self._taken_by_signal and self._queue.find(taken.request_id) is None:
            of_wait = taken.model_copy(update={"wait_id": self._wait.wait_id if self._wait else ""})
            deferred = keep and taken.override is None and self._defer(of_wait) is None
            if not deferred:
                self._refusals.add(taken.request_id, failure.message)
        self._refusals.note(taken.request_id, failure)

    def refuse_late(self) -> None:
        """Refuses the taken request, which came after the deadline: the wait has timed out."""
        taken, self._taken, self._timed_out = self._taken, None, True
        if taken is not None:
            self._refuse_taken(taken, None)

    def move(self, wait: OpenWait) -> None:
        """Replaces the open wait by the same with a later deadline."""
        self._wait = wait

    def time_is_up(self) -> None:
        """Times the wait out, unless a request was taken before."""
        self._timed_out = self._taken is None

    def refuse_duplicate(self, why: str) -> None:
        """Refuses the taken request, and accepts others again."""
        self.fail(self._refused(why))

    def end(self, outcome: str) -> None:
        """Ends updates that still wait for a receipt: the job has ended."""
        self._ended = outcome

    def is_past(self) -> bool:
        """Whether the deadline of the open wait has passed; a job that needs attention has none."""
        if self._wait is None or self.needs_attention:
            return False
        return workflow.now() >= self._wait.deadline

    async def next_request(
        self, alarm: datetime | None, *, stirred: Callable[[], bool], summary: str
    ) -> bool:
        """Waits for a request, the alarm or `stirred`; returns whether it was a request or the alarm."""
        self._timed_out = False
        timeout = None if alarm is None else max(alarm - workflow.now(), timedelta(0))
        try:
            await workflow.wait_condition(
                lambda: self._taken is not None or stirred(),
                timeout=timeout,
                timeout_summary=None if alarm is None else summary,
            )
        except TimeoutError:
            return True
        return self._taken is not None

    def _validate(self, request: ResumeRequest) -> None:
        """Validates an update; a refused one is not written to the history."""
        if self._is_known(request) or self._is_queued(request) or self._is_expected(request):
            return
        self._check_update(request, is_late=self.is_past())

    def _check_update(self, request: ResumeRequest, *, is_late: bool) -> None:
        request = self._deferred_or_given(request)
        if self._controls.paused:
            why: str | None = "it is paused; unpause it first"
        elif self._is_for_the_next(request):
            why = self._closed_to(request) or self._queue.refusal(request)
        else:
            why = self._refusal(request)
        if why is None and is_late:
            why = self._over_by(None)
        if why is not None:
            raise self._refused(why)

    async def _on_update(self, request: ResumeRequest) -> ResumeReceipt:
        await workflow.wait_condition(lambda: not self._is_expected(request))
        if not self._is_known(request) and not self._is_queued(request):
            self._check_update(request, is_late=self.is_past() and workflow.patched(LATE))
            if self._is_for_the_next(request):
                self._defer(request)
            else:
                self._take(self._deferred_or_given(request))
        request_id = request.request_id
        with self._refusals.awaited(request_id):
            await workflow.wait_condition(
                lambda: (
                    request_id in self._receipts
                    or self._refusals.find(request_id) is not None
                    or self._ended is not None
                    or (self._released and self._is_queued(request))
                )
            )
        if request_id in self._receipts:
            return self._receipts[request_id]
        failure = self._refusals.find(request_id)
        if failure is not None:
            raise failure
        if self._ended is not None:
            raise self._refused(f"the job is {self._ended}")
        moved = f"job {self._job_id} goes on in a new run; send the request again"
        raise ApplicationError(moved, type=MOVED)

    async def _on_signal(self, request: ResumeRequest) -> None:
        await after_acceptance()
        self._refusals.note_signal(request.request_id)
        self._receive(request)

    def _receive(self, request: ResumeRequest) -> None:
        """Takes, queues or refuses a signal, or a queued request for the wait that is open now."""
        if self._is_known(request) or self._is_queued(request):
            taken = self._taken is not None and self._taken.request_id == request.request_id
            self._taken_by_signal |= taken  # its sender no longer waits for the update
            return
        if self._queue.find(request.request_id) is not None:
            request = self._deferred_or_given(request)
            if self._refusal(request) is None:
                self._take(request, by_signal=True)
            return
        if (request.wait_id is None and self._is_busy()) or self._is_early(request):
            why = self._closed_to(request) or self._defer(request)
            if why is None:
                return
        else:
            why = self._refusal(request)
        if why is None:
            by_update = self._refusals.has_caller(request.request_id) and workflow.patched(_SENDERS)
            self._take(request, by_signal=not by_update)
        else:
            self._refuse_signal(request, why)

    def _refuse_taken(self, request: ResumeRequest, receipt: ResumeReceipt | None) -> None:
        """Refuses or queues a request that was taken for a wait which had ended before."""
        why = self._over_by(receipt)
        if self._refusals.is_awaited(request.request_id):
            self._refusals.note(request.request_id, self._refused(why))
        elif request.wait_id is not None or self._defer(request, first=workflow.patched(_ORDER)):
            self._refuse_signal(request, why)

    def _over_by(self, receipt: ResumeReceipt | None) -> str:
        """Says how the open wait has ended."""
        by = f"was resumed by {receipt.request_id}" if receipt else "is over, its time was up"
        return f"wait {self._wait.wait_id if self._wait else ''} {by}"

    def _refuse_signal(self, request: ResumeRequest, why: str) -> None:
        self._refusals.add(request.request_id, why)
        self._refusals.note(request.request_id, self._refused(why))

    def _is_busy(self) -> bool:
        """Whether no wait can take a request, so that a signal which names none is queued for the next."""
        return self._wait is None or self._taken is not None or self._timed_out

    def _take(self, request: ResumeRequest, *, by_signal: bool = False) -> None:
        self._refusals.forget(request.request_id)
        self._taken, self._taken_by_signal = request, by_signal
        self.is_doubtful = by_signal and self.is_past()

    def _refused(self, why: str) -> ApplicationError:
        message = f"job {self._job_id} was not resumed: {why}"
        return ApplicationError(message, type="ResumeRefusedError", non_retryable=True)

    def _is_expected(self, request: ResumeRequest) -> bool:
        """Whether it is for the wait that is being opened."""
        if self._opening is None or self._is_queued(request):
            return False
        return request.wait_id in (None, self._opening)

    def _is_early(self, request: ResumeRequest) -> bool:
        """Whether it names the next wait.

        Its sender knows the wait from the database: a lost attempt has opened it already.
        """
        return request.wait_id == self.next_wait_id and workflow.patched(_EARLY)

    def _is_for_the_next(self, request: ResumeRequest) -> bool:
        """Whether an update names the next wait while none is open; see `_is_early`."""
        return self._wait is None and request.wait_id == self.next_wait_id

    def _is_known(self, request: ResumeRequest) -> bool:
        taken = self._taken is not None and self._taken.request_id == request.request_id
        return taken or request.request_id in self._receipts

    def _refusal(self, request: ResumeRequest) -> str | None:
        return (
            self._closed_to(request)
            or self._out_of_place(request)
            or resume_refusal(request, job_id=self._job_id, open_wait=self._wait)
            or self._busy_with()
        )

    def _out_of_place(self, request: ResumeRequest) -> str | None:
        """Why the job takes no override, or None if it does."""
        if request.override is None or self.needs_attention:
            return None
        return "it needs no attention; resume it without an override"

    def _closed_to(self, request: ResumeRequest) -> str | None:
        """Why the request is refused for any wait, or None."""
        try:
            check_request(request, limit_bytes=self._max_payload_bytes)
        except InvalidInputError as error:
            return str(error)
        return f"the job is {self._ended}" if self._ended is not None else None

    def _defer(self, request: ResumeRequest, *, first: bool = False) -> str | None:
        """Queues the request; returns why not, if there is no room."""
        why = self._queue.add(request, first=first)
        if why is None:
            self._refusals.forget(request.request_id)
        return why

    def _is_queued(self, request: ResumeRequest) -> bool:
        """Whether it is queued for a later wait."""
        deferred = self._queue.find(request.request_id)
        return deferred is not None and not self._is_deferred(deferred)

    def _is_deferred(self, queued: ResumeRequest) -> bool:
        """Whether restoring the open wait for it has failed."""
        return self.needs_attention and self._names_open_wait(queued)

    def _names_open_wait(self, request: ResumeRequest) -> bool:
        return self._wait is not None and request.wait_id == self._wait.wait_id

    def _deferred_or_given(self, request: ResumeRequest) -> ResumeRequest:
        """The deferred request of the same id with the new override, or the given request if there is none."""
        deferred = self._queue.find(request.request_id)
        return deferred.model_copy(update={"override": request.override}) if deferred else request

    def _busy_with(self) -> str | None:
        """Why the open wait takes no more requests, or None if it does."""
        if self._wait is None:
            return None
        if self._timed_out:
            return f"wait {self._wait.wait_id} is over, its time was up"
        if self._taken is not None:
            return f"wait {self._wait.wait_id} is being resumed by {self._taken.request_id}"
        return None


# In which order a workflow takes what it is handed at one moment has to be the same live and in a replay. The SDK (temporalio
# 1.35) begins a run whose handlers are registered in `__init__` otherwise: its first signals are handled after the updates
# that came with them, but before them in a replay, once the run has called `patched`. So who decides something lets the
# others go first.


async def after_acceptance() -> None:
    """A signal's turn: once the updates that came with it are accepted."""
    await asyncio.sleep(0)


async def after_signals() -> None:
    """An update's turn: once the signals that came with it have had theirs."""
    await asyncio.sleep(0)
    await asyncio.sleep(0)
