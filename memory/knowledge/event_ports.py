"""The port of the store of events, apart from the stores of what the events are about."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:  # who implements or uses the port loads no model
    from mnestic.memory.knowledge.events import EventKind, StoredEvent


class EventStore(Protocol):
    """The outbox: events for subscribers, each written in the transaction of its change.

    Numbers come to be seen in their order, so whoever goes on after the last one misses none.
    """

    async def list_events(
        self, *, after: int | None = None, kinds: Sequence[EventKind] = (), limit: int = 100
    ) -> tuple[StoredEvent, ...]:
        """Events after a number, or from the first that is stored, the oldest first.

        Raises:
            EventsTrimmedError: some after that number are no longer stored.
            InvalidInputError: there has been no event of that number yet.
        """
        ...

    async def last_number(self) -> int:
        """The number of the last event, also if it is no longer stored; 0 before the first."""
        ...

    async def trim(self, before: datetime, *, limit: int = 10_000) -> int:
        """Removes the oldest events, those from before a moment; returns how many, `limit` at most."""
        ...
