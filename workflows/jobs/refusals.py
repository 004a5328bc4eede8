"""Refusals of requests, for the senders that wait for an answer and for the job's status.

The inbox decides; here it only matters who still waits for an answer.
"""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

from temporalio import workflow
from temporalio.exceptions import ApplicationError

from mnestic.workflows.refused_signals import RefusedSignals

_MAX_REFUSALS = 20
# Characters; a new run carries the messages, and the status shows them.
_LONGEST_ID, _LONGEST_WHY, _LONGEST_LOGGED = 256, 500, 64
_AWAITED_REFUSALS = (
    "refusals-heard"  # the patch: runs before it forget refusals that an update has not heard
)


class Refusals:
    """The latest refusals: of signals, for the status; of updates, until their senders got them."""

    def __init__(self, messages: tuple[str, ...]) -> None:
        """Begins with the messages of an earlier run."""
        self.messages, self._log = messages, RefusedSignals()
        self._failures: dict[str, ApplicationError] = {}
        self._awaited: Counter[str] = Counter()  # how many updates of a request wait for an answer
        self._left: set[str] = set()  # updates whose senders no longer wait

    @contextmanager
    def awaited(self, request_id: str) -> Iterator[None]:
        """Counts an update that waits for the answer to a request, as long as it waits."""
        self._awaited += Counter((request_id,))
        self._left.discard(request_id)
        try:
            yield
        finally:
            self._awaited -= Counter((request_id,))

    def is_awaited(self, request_id: str) -> bool:
        """Whether an update waits for the answer."""
        return request_id in self._awaited

    def note_signal(self, request_id: str) -> None:
        """The request came by signal, so the sender of its update no longer waits."""
        if self.is_awaited(request_id):
            self._left.add(request_id)

    def has_caller(self, request_id: str) -> bool:
        """Whether an update waits for the answer, and its sender as well."""
        return self.is_awaited(request_id) and request_id not in self._left

    def add(self, request_id: str, why: str) -> None:
        """Adds the reason to the status, since a signal gets no answer. It may quote the payload, so it is not logged."""
        named = _cut(request_id, _LONGEST_ID)
        self._log.note(request_id=_cut(request_id, _LONGEST_LOGGED))
        self.messages = (*self.messages, f"{named}: {_cut(why, _LONGEST_WHY)}")[-_MAX_REFUSALS:]

    def note(self, request_id: str, failure: ApplicationError) -> None:
        """Stores the failure for updates of the same request that still wait for their receipt."""
        self._failures[request_id] = failure
        over = len(self._failures) - _MAX_REFUSALS
        if over > 0:
            spares_awaited = workflow.patched(_AWAITED_REFUSALS)
            spare = [
                known for known in self._failures if not (spares_awaited and self.is_awaited(known))
            ]
            for known in spare[:over]:
                del self._failures[known]

    def find(self, request_id: str) -> ApplicationError | None:
        """Why the request was refused, or None."""
        return self._failures.get(request_id)

    def forget(self, request_id: str) -> None:
        """Deletes an earlier refusal: the request was taken or queued after it."""
        self._failures.pop(request_id, None)


def _cut(text: str, longest: int) -> str:
    return text if len(text) <= longest else f"{text[:longest]}…"
