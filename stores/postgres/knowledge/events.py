"""Events in Postgres: the outbox that every transaction writes its own into."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from mnestic.memory.knowledge.events import EventKind, StoredEvent
from mnestic.stores.postgres.cursors import check_limit, check_place
from mnestic.stores.postgres.queries import read_query
from mnestic.stores.postgres.stored import read_stored
from mnestic.stores.postgres.unit_of_work import UnitOfWork

_LIST, _TRIM = read_query("events.list"), read_query("events.trim")
_LAST, _RANGE = read_query("events.last"), read_query("events.range")


class PostgresEventStore:
    """Implements `mnestic.memory.knowledge.ports.EventStore`."""

    def __init__(self, unit: UnitOfWork) -> None:
        self._unit = unit

    async def list_events(
        self, *, after: int | None = None, kinds: Sequence[EventKind] = (), limit: int = 100
    ) -> tuple[StoredEvent, ...]:
        """See the port."""
        rows = await self._unit.fetch(
            _LIST, after=after, kinds=[*kinds] or None, limit=check_limit(limit)
        )
        if after is not None:  # later than the list, so that nothing is trimmed between them unseen
            check_place(after, stored=await self._unit.fetch_one(_RANGE))
        self._unit.read("signal.list", str(after or "*"))
        return tuple(_event(row) for row in rows)

    async def last_number(self) -> int:
        """See the port."""
        row = await self._unit.fetch_one(_LAST)
        return int(row.events) if row else 0

    async def trim(self, before: datetime, *, limit: int = 10_000) -> int:
        """See the port."""
        gone = await self._unit.write(_TRIM, before=before, limit=limit)
        if gone:
            self._unit.wrote("signal.trim", f"{gone} events")
        return gone


def _event(row: Any) -> StoredEvent:
    return read_stored(StoredEvent, row._asdict(), what=f"event {row.number}")
