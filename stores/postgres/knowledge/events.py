"""Events in Postgres: the outbox that every transaction writes its own into."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Row, func, select, text

from mnestic.memory.errors import EventsTrimmedError, InvalidInputError
from mnestic.memory.knowledge.events import EventKind, StoredEvent
from mnestic.stores.postgres.cursors import check_limit
from mnestic.stores.postgres.knowledge.tables import EventRow
from mnestic.stores.postgres.stored import read_stored
from mnestic.stores.postgres.tables import RevisionRow, table
from mnestic.stores.postgres.unit_of_work import UnitOfWork

EVENT = table(EventRow)
_REVISION = table(RevisionRow)
# Numbers follow the order of commits, times that of beginnings: nothing younger goes with what is old.
_TRIM = text("""
WITH oldest AS MATERIALIZED (
    SELECT number, at FROM mnestic.memory_event
     WHERE tenant_id = :tenant_id AND agent_id = :agent_id ORDER BY number LIMIT :limit
)
DELETE FROM mnestic.memory_event
 WHERE tenant_id = :tenant_id AND agent_id = :agent_id
   AND number < COALESCE((SELECT min(number) FROM oldest WHERE at >= :before),
                         (SELECT max(number) + 1 FROM oldest))
""")


class PostgresEventStore:
    """Implements `mnestic.memory.ports.EventStore`."""

    def __init__(self, unit: UnitOfWork) -> None:
        self._unit = unit

    async def list_events(
        self, *, after: int | None = None, kinds: Sequence[EventKind] = (), limit: int = 100
    ) -> tuple[StoredEvent, ...]:
        """See the port."""
        found = select(*EVENT.c).where(self._unit.owned(EVENT))
        if after is not None:
            found = found.where(EVENT.c.number > after)
        if kinds:
            found = found.where(EVENT.c.kind.in_(kinds))
        rows = await self._unit.rows(found.order_by(EVENT.c.number).limit(check_limit(limit)))
        if after is not None:  # later than the list, so that nothing is trimmed between them unseen
            await self._check(after)
        self._unit.read("signal.list", str(after or "*"))
        return tuple(_event(row) for row in rows)

    async def last_number(self) -> int:
        """See the port."""
        row = await self._unit.row(select(_REVISION.c.events).where(self._unit.owned(_REVISION)))
        return int(row.events) if row else 0

    async def trim(self, before: datetime, *, limit: int = 10_000) -> int:
        """See the port."""
        values = {**self._unit.owner, "before": before, "limit": limit}
        gone = await self._unit.run(_TRIM, values)
        if gone:
            self._unit.wrote("signal.trim", f"{gone} events")
        return gone

    async def _check(self, after: int) -> None:
        """Refuses a place that is not in the outbox, or no longer."""
        first = select(func.min(EVENT.c.number)).where(self._unit.owned(EVENT)).scalar_subquery()
        row = await self._unit.row(
            select(_REVISION.c.events, first.label("first")).where(self._unit.owned(_REVISION))
        )
        last = row.events if row else 0
        oldest = row.first if row and row.first else last + 1
        if not 0 <= after <= last:
            raise InvalidInputError(what="after", why=f"is {after}; the last event is {last}")
        if after + 1 < oldest:
            raise EventsTrimmedError(after=after, first=oldest)


def _event(row: Row[Any]) -> StoredEvent:
    return read_stored(StoredEvent, dict(row._mapping), what=f"event {row.number}")  # noqa: SLF001
