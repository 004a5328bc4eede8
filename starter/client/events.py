"""`memory.events`: what changes in an agent's memory, for who follows it."""

from collections.abc import Sequence
from datetime import datetime

from mnestic.memory.knowledge.events import EventKind, StoredEvent
from mnestic.starter.client.client_scope import ClientPart


class EventClient(ClientPart):
    """The events of one agent, numbered in the order of their transactions."""

    async def list(
        self, *, after: int | None = None, kinds: Sequence[EventKind] = (), limit: int = 100
    ) -> tuple[StoredEvent, ...]:
        """What subscribers are told, after the number of an event, or from the first that is kept.

        Whoever goes on after the last number misses none.

        Raises:
            EventsTrimmedError: some after that number are no longer kept.
            InvalidInputError: there has been no event of that number yet.
        """
        async with self._scope.transaction(write=False) as transaction:
            return await transaction.events.list_events(after=after, kinds=kinds, limit=limit)

    async def trim(self, before: datetime) -> int:
        """Removes events from before a moment; returns how many, each batch in its transaction."""
        trimmed = 0
        while True:
            async with self._scope.transaction(write=True) as transaction:
                gone = await transaction.events.trim(before)
            trimmed += gone
            if not gone:
                return trimmed
