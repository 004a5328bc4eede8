"""What the senders of refused requests are told, and what of it is kept.

It stands apart from the inbox, which decides, because only who still waits for an answer matters here.
"""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

from temporalio import workflow
from temporalio.exceptions import ApplicationError

_MAX_REFUSALS = 20
_LONGEST_ID, _LONGEST_WHY = 256, 500  # a new run carries what is told, and the status shows it
_AWAITED_REFUSALS = (
    "refusals-heard"  # the patch: runs before it forget refusals that an update has not heard
)


class Refusals:
    """The latest refusals: of signals, for the status; of updates, until those have heard them."""

    def __init__(self, messages: tuple[str, ...]) -> None:
        """Begins with what an earlier run has told."""
        self.messages = messages
        self._failures: dict[str, ApplicationError] = {}
        self._awaited: Counter[str] = Counter()  # how many updates of a request wait for its answer
        self._left: set[str] = set()  # whose senders do not

    @contextmanager
    def awaited(self, request_id: str) -> Iterator[None]:
        """For the time in which an update waits for the answer to a request."""
        self._awaited += Counter((request_id,))
        self._left.discard(request_id)
        try:
            yield
        finally:
            self._awaited -= Counter((request_id,))

    def is_awaited(self, request_id: str) -> bool:
        """Whether an update waits for the answer."""
        return request_id in self._awaited

    def leave(self, request_id: str) -> None:
        """The request came by signal: the sender of an update has given up waiting for it."""
        if self.is_awaited(request_id):
            self._left.add(request_id)

    def has_caller(self, request_id: str) -> bool:
        """Whether an update waits for the answer, and its sender as well."""
        return self.is_awaited(request_id) and request_id not in self._left

    def add(self, request_id: str, why: str) -> None:
        """Nobody hears an answer, so the status tells why; the log does not, as it may quote the payload."""
        named = _cut(request_id, _LONGEST_ID)
        workflow.logger.warning("signal refused", extra={"request_id": named})
        self.messages = (*self.messages, f"{named}: {_cut(why, _LONGEST_WHY)}")[-_MAX_REFUSALS:]

    def note(self, request_id: str, failure: ApplicationError) -> None:
        """Keeps it for updates of the same request that still wait for their receipt."""
        self._failures[request_id] = failure
        over = len(self._failures) - _MAX_REFUSALS
        if over > 0:
            hears = workflow.patched(_AWAITED_REFUSALS)
            spare = [known for known in self._failures if not (hears and self.is_awaited(known))]
            for known in spare[:over]:
                del self._failures[known]

    def find(self, request_id: str) -> ApplicationError | None:
        """Why the request was refused, or None."""
        return self._failures.get(request_id)

    def forget(self, request_id: str) -> None:
        """The request is taken, or kept for later, so an earlier refusal does not count."""
        self._failures.pop(request_id, None)


def _cut(text: str, longest: int) -> str:
    return text if len(text) <= longest else f"{text[:longest]}…"
