"""`memory.events`: the changes of an agent's memory, for subscribers."""

from collections.abc import Sequence
from datetime import datetime

from mnestic.memory.knowledge.events import EventKind, StoredEvent
from mnestic.starter.client.client_scope import ClientPart


class EventClient(ClientPart):
    """The events of one agent, numbered in the order of their transactions."""

    async def list(
        self, *, after: int | None = None, kinds: Sequence[EventKind] = (), limit: int = 100
    ) -> tuple[StoredEvent, ...]:
        """Events in order, after the number of an event, or from the oldest stored one.

        A subscriber that continues after the last number misses none.

        Raises:
            EventsTrimmedError: some events after that number were removed.
            InvalidInputError: there has been no event of that number yet, or it is asked for a reader.
        """
        self._scope.caller.check_own("events are")
        async with self._scope.transaction(write=False) as transaction:
            return await transaction.events.list_events(after=after, kinds=kinds, limit=limit)

    async def last_number(self) -> int:
        """The number of the last event; 0 before the first. `list` with it as `after` lists what comes later.

        Raises:
            InvalidInputError: it is asked for a reader.
        """
        self._scope.caller.check_own("events are")
        async with self._scope.transaction(write=False) as transaction:
            return await transaction.events.last_number()

    async def trim(self, before: datetime) -> int:
        """Removes events older than a time, each batch in its own transaction; returns how many."""
        trimmed = 0
        while True:
            async with self._scope.transaction(write=True) as transaction:
                removed = await transaction.events.trim(before)
            trimmed += removed
            if not removed:
                return trimmed
