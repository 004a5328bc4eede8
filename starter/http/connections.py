"""Connections: one that sends no whole head of a request in time, or does not read its answer, is closed.

The application behind it sees a request only once its head is whole.
"""

import asyncio
from typing import Any, ClassVar

from uvicorn.protocols.http.h11_impl import H11Protocol

HEAD_DEADLINE_S = 10.0
STALLED_S = 30.0  # without anything read of an answer
MOST_WAITING = 512  # connections without a whole head; for one more, the oldest is closed


class Connection(H11Protocol):
    """HTTP/1.1 with a deadline for each head, and for a client that does not read."""

    _stalled: asyncio.TimerHandle | None = None
    _waiting: ClassVar[dict["Connection", asyncio.TimerHandle]] = {}

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begins to wait for a head."""
        super().connection_made(transport)
        self._watch()

    def data_received(self, data: bytes) -> None:
        """Reads a part of a request."""
        super().data_received(data)
        self._watch()

    def connection_lost(self, exc: Exception | None) -> None:
        """Ends the wait."""
        super().connection_lost(exc)
        self._stop_waiting()
        if self._stalled is not None:
            self._stalled.cancel()

    def timeout_keep_alive_handler(self) -> None:
        """Closes a connection that is not used again, also one whose answer is not read."""
        super().timeout_keep_alive_handler()
        self.loop.call_later(STALLED_S, self.transport.abort)

    def pause_writing(self) -> None:
        """Begins to wait for a client that does not read its answer."""
        super().pause_writing()
        self._stalled = self.loop.call_later(STALLED_S, self.transport.abort)

    def resume_writing(self) -> None:
        """Ends that wait."""
        super().resume_writing()
        if self._stalled is not None:
            self._stalled.cancel()

    def _watch(self) -> None:
        """Waits for a head unless a request is being answered; what comes after an answer is a part of the next head."""
        cycle: Any = self.cycle
        if cycle is not None and not cycle.response_complete:
            self._stop_waiting()
        elif self not in self._waiting and not self.transport.is_closing():
            self._waiting[self] = self.loop.call_later(HEAD_DEADLINE_S, self.transport.abort)
            if len(self._waiting) > MOST_WAITING:
                oldest = next(iter(self._waiting))
                self._waiting.pop(oldest).cancel()
                oldest.transport.abort()

    def _stop_waiting(self) -> None:
        if timer := self._waiting.pop(self, None):
            timer.cancel()
