"""What was put before messages, in Postgres."""

from datetime import datetime
from typing import Any

from sqlalchemy import Row, func, select
from sqlalchemy.dialects.postgresql import insert

from mnestic.memory.models.costs import InjectedTokens
from mnestic.memory.retrieval.retrieval_log import RetrievalLogEntry, StoredLogEntry
from mnestic.stores.postgres.cursors import check_limit, decode_number_cursor, encode_cursor
from mnestic.stores.postgres.retrieval.tables import MemoryRetrievalRow
from mnestic.stores.postgres.stored import read_stored
from mnestic.stores.postgres.tables import table
from mnestic.stores.postgres.unit_of_work import UnitOfWork

RETRIEVAL_LOG = table(MemoryRetrievalRow)
_LATEST = 1000  # that are looked through for an entry, which no index serves


class PostgresRetrievalLogStore:
    """Implements `mnestic.memory.retrieval.ports.RetrievalLogStore`.

    For the audit log an injection is a read: memory stays as it was, and so does its revision.
    """

    def __init__(self, unit: UnitOfWork) -> None:
        self._unit = unit

    async def add(self, log_entry: RetrievalLogEntry) -> None:
        """See the port."""
        values = log_entry.model_dump(mode="json")
        await self._unit.run(
            insert(RETRIEVAL_LOG).values(**self._unit.owner, created_at=func.now(), **values)
        )
        self._unit.read("retrieval.inject", log_entry.channel)

    async def list_entries(
        self, *, limit: int = 100, cursor: str | None = None
    ) -> tuple[tuple[StoredLogEntry, ...], str | None]:
        """See the port."""
        found = select(*RETRIEVAL_LOG.c).where(self._unit.owned(RETRIEVAL_LOG))
        if cursor is not None:
            found = found.where(RETRIEVAL_LOG.c.id < decode_number_cursor(cursor))
        page = found.order_by(RETRIEVAL_LOG.c.id.desc()).limit(check_limit(limit) + 1)
        rows = await self._unit.rows(page)
        self._unit.read("retrieval.list", "*")
        entries = tuple(_log_entry(row) for row in rows[:limit])
        return entries, encode_cursor(str(entries[-1].id)) if len(rows) > limit else None

    async def list_with(self, entry_id: str, *, limit: int) -> tuple[StoredLogEntry, ...]:
        """See the port."""
        owned, newest = self._unit.owned(RETRIEVAL_LOG), RETRIEVAL_LOG.c.id.desc()
        latest = select(RETRIEVAL_LOG.c.id).where(owned).order_by(newest).limit(_LATEST)
        found = select(*RETRIEVAL_LOG.c).where(
            owned,
            RETRIEVAL_LOG.c.id.in_(latest),
            RETRIEVAL_LOG.c.memories.contains([{"id": entry_id}]),
        )
        rows = await self._unit.rows(found.order_by(newest).limit(check_limit(limit)))
        return tuple(map(_log_entry, rows))

    async def sum_between(
        self, since: datetime, until: datetime, *, agent_id: str | None = None
    ) -> InjectedTokens:
        """See the port."""
        summed = select(
            func.count().label("retrievals"),
            func.coalesce(func.sum(RETRIEVAL_LOG.c.tokens), 0).label("tokens"),
        ).where(
            RETRIEVAL_LOG.c.tenant_id == self._unit.tenant_id,
            RETRIEVAL_LOG.c.created_at >= since,
            RETRIEVAL_LOG.c.created_at < until,
        )
        if agent_id is not None:
            summed = summed.where(RETRIEVAL_LOG.c.agent_id == agent_id)
        row = await self._unit.row(summed)
        self._unit.read("retrieval.sum", agent_id or "*")
        return InjectedTokens.model_validate(row, from_attributes=True)


def _log_entry(row: Row[Any]) -> StoredLogEntry:
    return read_stored(StoredLogEntry, dict(row._mapping), what=f"retrieval {row.id}")  # noqa: SLF001
