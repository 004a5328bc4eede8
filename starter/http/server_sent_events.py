"""Server-sent events: streams that end by themselves, and of which each key has a few at most.

Every stream has the same limits: it lasts five minutes at most, after which a client goes on with `Last-Event-ID`, and
it ends when its key is revoked or expires.
"""

import asyncio
import time
from collections import Counter
from collections.abc import AsyncIterator, Coroutine, Iterator
from contextlib import contextmanager, suppress
from http import HTTPStatus
from typing import Annotated, Any, TypeVar

from fastapi import Depends, Header, Request
from starlette.exceptions import HTTPException

from mnestic.memory.access.errors import UnauthenticatedError
from mnestic.starter.http.calls import access_of, tenants_of
from mnestic.starter.tenants import Access, Tenants

Result = TypeVar("Result")
MOST_STREAMS = 16  # of a key at once
MOST_IN_ALL = 128  # of all keys: half of the requests that are answered at once
LONGEST_S = 300.0
POLL_S = 1.0
LastEventId = Annotated[
    str | None,
    Header(
        alias="Last-Event-ID",
        max_length=100,
        description="The id of the last event that came; the stream goes on after it",
        examples=["41"],
    ),
]
_READING: set[asyncio.Task[Any]] = set()  # asyncio itself does not hold tasks


class Streams:
    """The streams of a process, until it is to end."""

    def __init__(self) -> None:
        self._open: Counter[str] = Counter()
        self._ending = asyncio.Event()

    def end(self) -> None:
        """Ends all streams, since their clients would keep the server from ending; they go on at the next one."""
        self._ending.set()

    @property
    def is_ending(self) -> bool:
        """Whether the process is to end."""
        return self._ending.is_set()

    async def wait_to_end(self, seconds: float) -> None:
        """Waits until the process is to end, but no longer than some seconds."""
        with suppress(TimeoutError):
            await asyncio.wait_for(self._ending.wait(), seconds)

    @contextmanager
    def hold(self, key_id: str) -> Iterator[None]:
        """Counts a stream of a key while it is open.

        Raises:
            HTTPException: the key has as many as it may have, or all have.
        """
        if self._open.total() >= MOST_IN_ALL:
            why = f"all {MOST_IN_ALL} streams of the server are open"
            raise HTTPException(HTTPStatus.SERVICE_UNAVAILABLE, why, {"Retry-After": "5"})
        if self._open[key_id] >= MOST_STREAMS:
            why = f"the API key has {MOST_STREAMS} streams open; close one"
            raise HTTPException(HTTPStatus.TOO_MANY_REQUESTS, why, {"Retry-After": "5"})
        self._open[key_id] += 1
        try:
            yield
        finally:
            self._open[key_id] -= 1
            self._open += Counter()  # drops keys without a stream


class Stream:
    """One stream, which is open as long as its key is valid."""

    def __init__(
        self, streams: Streams, tenants: Tenants, access: Access, *, is_head: bool
    ) -> None:
        self._streams, self._tenants, self._access = streams, tenants, access
        self._is_head = is_head

    async def polls(self) -> AsyncIterator[None]:
        """The moments at which the stream looks for something new, until it has lasted long enough."""
        ends = time.monotonic() + (0 if self._is_head else LONGEST_S)
        while not self._streams.is_ending:
            yield
            if time.monotonic() + POLL_S > ends:
                return
            # Neither Temporal nor the outbox of events says when to look again.
            await self._streams.wait_to_end(POLL_S)
            if not await finished(self._is_allowed()):
                return

    async def _is_allowed(self) -> bool:
        try:
            await self._tenants.authenticate(self._access.text)
        except UnauthenticatedError:
            return False
        return True


@contextmanager
def open_stream(request: Request) -> Iterator[Stream]:
    """A stream of the request's key.

    Raises:
        HTTPException: the key has as many as it may have.
    """
    access, streams = access_of(request), request.app.state.streams
    assert isinstance(streams, Streams)
    with streams.hold(access.key.id):
        yield Stream(streams, tenants_of(request), access, is_head=request.state.is_head)


async def _held(request: Request) -> AsyncIterator[Stream]:
    with open_stream(request) as stream:
        yield stream


HELD = Depends(_held)
"""The dependency of a route that streams; `Held` is its parameter."""
Held = Annotated[Stream, HELD]


async def finished(read: Coroutine[Any, Any, Result]) -> Result:
    """The result of a read, which ends by itself if the client leaves meanwhile: cut off, it would break its connection."""
    reading = asyncio.create_task(read)
    _READING.add(reading)
    reading.add_done_callback(_READING.discard)
    return await asyncio.shield(reading)
