"""What was put before messages, in Postgres."""

from datetime import datetime
from typing import Any

from sqlalchemy import Row, func, select
from sqlalchemy.dialects.postgresql import insert

from mnestic.memory.retrieval.retrieval_log import InjectedTokens, RetrievalLogEntry, StoredLogEntry
from mnestic.stores.postgres.cursors import check_limit, decode_number_cursor, encode_cursor
from mnestic.stores.postgres.retrieval.tables import MemoryRetrievalRow
from mnestic.stores.postgres.stored import read_stored
from mnestic.stores.postgres.tables import table
from mnestic.stores.postgres.unit_of_work import UnitOfWork

INJECTION = table(MemoryRetrievalRow)


class PostgresInjectionStore:
    """Implements `mnestic.memory.retrieval.ports.RetrievalLogStore`.

    For the audit log an injection is a read: memory stays as it was, and so does its revision.
    """

    def __init__(self, unit: UnitOfWork) -> None:
        self._unit = unit

    async def add(self, injection: RetrievalLogEntry) -> None:
        """See the port."""
        values = injection.model_dump(mode="json")
        await self._unit.run(
            insert(INJECTION).values(**self._unit.owner, created_at=func.now(), **values)
        )
        self._unit.read("retrieval.inject", injection.channel)

    async def list_injections(
        self, *, limit: int = 100, cursor: str | None = None
    ) -> tuple[tuple[StoredLogEntry, ...], str | None]:
        """See the port."""
        found = select(*INJECTION.c).where(self._unit.owned(INJECTION))
        if cursor is not None:
            found = found.where(INJECTION.c.id < decode_number_cursor(cursor))
        page = found.order_by(INJECTION.c.id.desc()).limit(check_limit(limit) + 1)
        rows = await self._unit.rows(page)
        self._unit.read("retrieval.list", "*")
        kept = tuple(_injection(row) for row in rows[:limit])
        return kept, encode_cursor(str(kept[-1].id)) if len(rows) > limit else None

    async def sum_between(
        self, since: datetime, until: datetime, *, agent_id: str | None = None
    ) -> InjectedTokens:
        """See the port."""
        summed = select(
            func.count().label("retrievals"),
            func.coalesce(func.sum(INJECTION.c.tokens), 0).label("tokens"),
        ).where(
            INJECTION.c.tenant_id == self._unit.tenant_id,
            INJECTION.c.created_at >= since,
            INJECTION.c.created_at < until,
        )
        if agent_id is not None:
            summed = summed.where(INJECTION.c.agent_id == agent_id)
        row = await self._unit.row(summed)
        self._unit.read("retrieval.sum", agent_id or "*")
        return InjectedTokens.model_validate(row, from_attributes=True)


def _injection(row: Row[Any]) -> StoredLogEntry:
    return read_stored(StoredLogEntry, dict(row._mapping), what=f"retrieval {row.id}")  # noqa: SLF001
