"""The inbox of a waiting job: which resume is taken, and what each sender hears.

It stands apart from `AgentMemory`, which opens and restores waits, because here only requests and
receipts matter.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta

from temporalio import workflow
from temporalio.exceptions import ApplicationError

from mnestic.memory.canonical import canonical_json, check_size
from mnestic.memory.errors import InvalidInputError
from mnestic.memory.names import RESUME
from mnestic.memory.waits import (
    OpenWait,
    ResumeReceipt,
    ResumeRequest,
    check_request_id,
    refusal,
)

_RECEIPTS_KEPT = 100  # older ones are found in the wait's row
_REFUSALS_KEPT = 20
_QUEUE_BYTES = 524_288  # what a job carries into a new run stays far below Temporal's 2 MiB


class ResumeInbox:
    """Takes one request a wait, by update or signal; a duplicate gets the first receipt."""

    def __init__(
        self,
        *,
        job_id: str,
        max_payload_bytes: int,
        queued: Sequence[ResumeRequest],
        receipts: Sequence[ResumeReceipt],
        wait: OpenWait | None,
    ) -> None:
        """Registers the handlers, so that requests which came early are not lost."""
        self._job_id, self._max_payload_bytes = job_id, max_payload_bytes
        self._queued = {request.request_id: request for request in queued}
        self._queued_bytes = sum(_size(request) for request in queued)
        self._receipts = {receipt.request_id: receipt for receipt in receipts}
        self._failed: dict[str, ApplicationError] = {}
        self._wait = wait
        self._taken: ResumeRequest | None = None
        self._timed_out = False
        self._opening: str | None = None
        self._ended: str | None = None
        self.refused: tuple[str, ...] = ()
        workflow.set_signal_handler(RESUME, self._on_signal)
        workflow.set_update_handler(RESUME, self._on_update, validator=self._validate)

    @property
    def taken(self) -> ResumeRequest | None:
        """The request that resumes the open wait, or None."""
        return self._taken

    @property
    def queued(self) -> tuple[ResumeRequest, ...]:
        """Signals that named no wait and came while none was free, in their order."""
        return tuple(self._queued.values())

    @property
    def receipts(self) -> tuple[ResumeReceipt, ...]:
        """The latest receipts, oldest first."""
        return tuple(self._receipts.values())

    def expect(self, wait_id: str | None) -> None:
        """Lets updates wait for a wait that is being opened; None when it could not be."""
        self._opening = wait_id

    def open(self, wait: OpenWait) -> None:
        """Begins to take requests for a wait, the queued ones first."""
        self._wait, self._opening = wait, None
        while self._queued and self._taken is None:
            request = self._queued.pop(next(iter(self._queued)))
            self._queued_bytes -= _size(request)
            self._on_signal(request)

    def close(self, receipt: ResumeReceipt | None) -> None:
        """Ends the wait; who asked for it gets the receipt."""
        if receipt is not None:
            self._receipts[receipt.request_id] = receipt
        while len(self._receipts) > _RECEIPTS_KEPT:
            del self._receipts[next(iter(self._receipts))]
        self._wait, self._taken, self._timed_out = None, None, False

    def fail(self, failure: ApplicationError) -> None:
        """Tells who asked why the wait could not be restored, and takes requests again."""
        if self._taken is not None:
            self._note_failure(self._taken, failure)
        self._taken, self._timed_out = None, False

    def end(self, outcome: str) -> None:
        """Lets go of updates that still wait for a receipt: the job is over."""
        self._ended = outcome

    async def next_request(self, deadline: datetime, *, summary: str) -> ResumeRequest | None:
        """The request that resumes the wait, or None once the deadline passed."""
        timeout = max(deadline - workflow.now(), timedelta(0))
        try:
            await workflow.wait_condition(
                lambda: self._taken is not None, timeout=timeout, timeout_summary=summary
            )
        except TimeoutError:
            self._timed_out = self._taken is None
        return self._taken

    def _validate(self, request: ResumeRequest) -> None:
        """The update's validator: what it refuses leaves no trace in the history."""
        if self._is_known(request) or self._is_queued(request) or self._is_expected(request):
            return
        why = self._refusal(request)
        if why is not None:
            raise self._refused(why)

    async def _on_update(self, request: ResumeRequest) -> ResumeReceipt:
        await workflow.wait_condition(lambda: not self._is_expected(request))
        self._validate(request)
        if not self._is_known(request) and not self._is_queued(request):
            self._take(request)
        request_id = request.request_id
        await workflow.wait_condition(
            lambda: (
                request_id in self._receipts
                or request_id in self._failed
                or self._ended is not None
            )
        )
        if request_id in self._receipts:
            return self._receipts[request_id]
        raise self._failed.get(request_id) or self._refused(f"the job is {self._ended}")

    def _on_signal(self, request: ResumeRequest) -> None:
        if self._is_known(request) or self._is_queued(request):
            return
        if request.wait_id is None and self._is_busy():
            why = self._closed_to(request) or self._keep(request)
            if why is None:
                return
        else:
            why = self._refusal(request)
        if why is None:
            self._take(request)
            return
        # Not why: it may quote the payload. The status tells it.
        workflow.logger.warning("resume signal refused", extra={"request_id": request.request_id})
        self.refused = (*self.refused, f"{request.request_id}: {why}")[-_REFUSALS_KEPT:]
        self._note_failure(request, self._refused(why))

    def _is_busy(self) -> bool:
        """Whether no wait is free, so that a signal which names none is kept for the next."""
        return self._wait is None or self._taken is not None or self._timed_out

    def _take(self, request: ResumeRequest) -> None:
        self._failed.pop(request.request_id, None)
        self._taken = request

    def _note_failure(self, request: ResumeRequest, failure: ApplicationError) -> None:
        """Keeps it for updates of the same request that still wait for their receipt."""
        self._failed[request.request_id] = failure
        while len(self._failed) > _REFUSALS_KEPT:
            del self._failed[next(iter(self._failed))]

    def _refused(self, why: str) -> ApplicationError:
        told = f"job {self._job_id} was not resumed: {why}"
        return ApplicationError(told, type="ResumeRefusedError", non_retryable=True)

    def _is_expected(self, request: ResumeRequest) -> bool:
        """Whether it is for the wait that is being opened at this moment."""
        if self._opening is None or self._is_queued(request):
            return False
        return request.wait_id in (None, self._opening)

    def _is_known(self, request: ResumeRequest) -> bool:
        taken = self._taken is not None and self._taken.request_id == request.request_id
        return taken or request.request_id in self._receipts

    def _refusal(self, request: ResumeRequest) -> str | None:
        return (
            self._closed_to(request)
            or refusal(request, job_id=self._job_id, open_wait=self._wait)
            or self._busy_with()
        )

    def _closed_to(self, request: ResumeRequest) -> str | None:
        """Why the request is refused whatever the wait."""
        try:
            check_request_id(request.request_id)
            check_size(request.payload, what="payload", limit_bytes=self._max_payload_bytes)
        except InvalidInputError as error:
            return str(error)
        if self._ended is not None:
            return f"the job is {self._ended}"
        return None

    def _keep(self, request: ResumeRequest) -> str | None:
        """Keeps the request for the next wait; returns why not, if there is no room."""
        size = _size(request)
        if self._queued_bytes + size > _QUEUE_BYTES:
            return f"the requests kept for the next wait would be over {_QUEUE_BYTES} bytes"
        self._queued[request.request_id] = request
        self._queued_bytes += size
        return None

    def _is_queued(self, request: ResumeRequest) -> bool:
        return request.request_id in self._queued

    def _busy_with(self) -> str | None:
        """Why the open wait takes no request any more."""
        if self._wait is None:
            return None
        if self._timed_out:
            return f"wait {self._wait.wait_id} is over, its time was up"
        if self._taken is not None:
            return f"wait {self._wait.wait_id} is being resumed by {self._taken.request_id}"
        return None


def _size(request: ResumeRequest) -> int:
    """Bytes that the request takes in what a job carries into a new run."""
    return len(canonical_json(request.model_dump(mode="json")))
