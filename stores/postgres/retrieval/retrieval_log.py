"""What was put before messages, in Postgres."""

from datetime import datetime
from typing import Any

from mnestic.memory.models.costs import InjectedTokens
from mnestic.memory.retrieval.retrieval_log import RetrievalLogEntry, StoredLogEntry
from mnestic.stores.postgres.cursors import check_limit, decode_number_cursor, encode_cursor
from mnestic.stores.postgres.queries import as_json, read_query
from mnestic.stores.postgres.stored import read_stored
from mnestic.stores.postgres.unit_of_work import UnitOfWork

_ADD, _LIST = read_query("retrieval_log.add"), read_query("retrieval_log.list")
_LIST_WITH, _SUM = read_query("retrieval_log.list_with"), read_query("retrieval_log.sum")


class PostgresRetrievalLogStore:
    """Implements `mnestic.memory.retrieval.ports.RetrievalLogStore`.

    For the audit log an injection is a read: memory stays as it was, and so does its revision.
    """

    def __init__(self, unit: UnitOfWork) -> None:
        self._unit = unit

    async def add(self, log_entry: RetrievalLogEntry) -> None:
        """See the port."""
        columns = log_entry.model_dump(mode="json")
        columns |= {name: as_json(columns[name]) for name in ("memories", "notes", "skipped")}
        await self._unit.write(_ADD, **columns)
        self._unit.read("retrieval.inject", log_entry.channel)

    async def list_entries(
        self, *, limit: int = 100, cursor: str | None = None
    ) -> tuple[tuple[StoredLogEntry, ...], str | None]:
        """See the port."""
        before = decode_number_cursor(cursor) if cursor is not None else None
        rows = await self._unit.fetch(_LIST, before=before, limit=check_limit(limit) + 1)
        self._unit.read("retrieval.list", "*")
        entries = tuple(_log_entry(row) for row in rows[:limit])
        return entries, encode_cursor(str(entries[-1].id)) if len(rows) > limit else None

    async def list_with(self, entry_id: str, *, limit: int) -> tuple[StoredLogEntry, ...]:
        """See the port."""
        rows = await self._unit.fetch(_LIST_WITH, entry_id=entry_id, limit=check_limit(limit))
        return tuple(map(_log_entry, rows))

    async def sum_between(
        self, since: datetime, until: datetime, *, agent_id: str | None = None
    ) -> InjectedTokens:
        """See the port."""
        row = await self._unit.fetch_one(_SUM, since=since, until=until, of_agent=agent_id)
        self._unit.read("retrieval.sum", agent_id or "*")
        return InjectedTokens.model_validate(row, from_attributes=True)


def _log_entry(row: Any) -> StoredLogEntry:
    return read_stored(StoredLogEntry, row._asdict(), what=f"retrieval {row.id}")
