"""The queue of requests that wait for the job's next wait, or until the open one can be restored.

Only the order and the size of the requests matter here.
"""

from collections.abc import Iterator, Sequence

from mnestic.memory.canonical import canonical_json
from mnestic.memory.jobs.waits import ResumeRequest

_LARGEST_BYTES = 524_288  # what a job carries into a new run stays far below Temporal's 2 MiB


class RequestQueue:
    """Requests in the order they came, each once, no more than a new run can carry."""

    def __init__(self, requests: Sequence[ResumeRequest]) -> None:
        self._requests = {request.request_id: request for request in requests}
        self._size_bytes = sum(_size(request) for request in requests)

    def __iter__(self) -> Iterator[ResumeRequest]:
        """Iterates over the present requests; they may be dropped during the iteration."""
        return iter(tuple(self._requests.values()))

    @property
    def free_bytes(self) -> int:
        """How many bytes may still be added."""
        return _LARGEST_BYTES - self._size_bytes

    def find(self, request_id: str) -> ResumeRequest | None:
        """The request of that id, or None."""
        return self._requests.get(request_id)

    def add(self, request: ResumeRequest, *, first: bool = False) -> str | None:
        """Adds a request, with `first` before all others; returns why not, if there is no room."""
        why = self.refusal(request)
        if why is None:
            added = {request.request_id: request}
            self._requests = added | self._requests if first else self._requests | added
            self._size_bytes += _size(request)
        return why

    def refusal(self, request: ResumeRequest) -> str | None:
        """Why there is no room for a request, or None if there is."""
        if _size(request) <= self.free_bytes:
            return None
        return f"the requests kept for the next wait would be over {_LARGEST_BYTES} bytes"

    def drop(self, request: ResumeRequest) -> None:
        """Removes a request."""
        del self._requests[request.request_id]
        self._size_bytes -= _size(request)


def _size(request: ResumeRequest) -> int:
    """Bytes that the request takes in what a job carries into a new run."""
    return len(canonical_json(request.model_dump(mode="json")))
