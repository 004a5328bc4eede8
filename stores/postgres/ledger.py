"""The operation ledger in Postgres: each memory write once, with what it gave."""

from collections.abc import Mapping
from typing import Any

from sqlalchemy import bindparam, select, text, tuple_, update

from mnestic.memory.errors import IdempotencyConflictError
from mnestic.memory.operations import LedgerEntry, Operation
from mnestic.stores.postgres.pages import check_limit, decode_time_cursor, encode_cursor
from mnestic.stores.postgres.tables import OperationRow, table
from mnestic.stores.postgres.unit import Unit

OPERATION = table(OperationRow)

# The first statements of their transactions: what begins one goes with them in one round trip.
_ENTER = text("""
INSERT INTO mnestic.operation (tenant_id, key, name, agent_id, job_id, request_hash, created_at)
VALUES (:tenant_id, :key, :name, :agent_id, :job_id, :request_hash, now())
ON CONFLICT DO NOTHING
RETURNING key
""")
_FIND = text("""
SELECT request_hash, agent_id, result FROM mnestic.operation
 WHERE tenant_id = :tenant_id AND key = :key
""")
_IS = (OPERATION.c.tenant_id == bindparam("in_tenant")) & (OPERATION.c.key == bindparam("of_key"))
_COMPLETE = update(OPERATION).where(_IS)


class PostgresLedger:
    """Enters operations before their writes, in the same transaction."""

    def __init__(self, unit: Unit) -> None:
        self._unit = unit

    async def replay(self, operation: Operation, request_hash: str) -> Mapping[str, Any] | None:
        """See `mnestic.memory.ports.Transaction.replay`."""
        values = {
            **self._unit.owner,
            "key": operation.key,
            "name": operation.name,
            "job_id": operation.job_id,
            "request_hash": request_hash,
        }
        (entered,) = await self._unit.rows_of((_ENTER, values))
        if entered:
            self._unit.operation_key = operation.key
            return None
        result = await self.find_result(operation, request_hash)
        if result is None:
            raise IdempotencyConflictError(key=operation.key)
        return result

    async def find_result(
        self, operation: Operation, request_hash: str
    ) -> Mapping[str, Any] | None:
        """See `mnestic.memory.ports.Transaction.find_result`."""
        of_key = {"tenant_id": self._unit.tenant_id, "key": operation.key}
        (rows,) = await self._unit.rows_of((_FIND, of_key))
        if not rows:
            return None
        (row,) = rows
        if row.request_hash != request_hash or row.agent_id != self._unit.agent_id:
            raise IdempotencyConflictError(key=operation.key)
        self._unit.read("operation.replay", operation.key)
        result: Mapping[str, Any] | None = row.result
        return result

    async def complete(self, operation: Operation, result: Mapping[str, Any]) -> None:
        """See `mnestic.memory.ports.Transaction.complete`."""
        self._unit.at_end(_COMPLETE, {**self._is(operation), "result": dict(result)})

    async def list_operations(
        self, job_id: str, *, limit: int, cursor: str | None
    ) -> tuple[tuple[LedgerEntry, ...], str | None]:
        """See `mnestic.memory.ports.Transaction.list_operations`."""
        done = select(OPERATION.c.key, OPERATION.c.name, OPERATION.c.created_at)
        done = done.where(self._unit.owned(OPERATION), OPERATION.c.job_id == job_id)
        if cursor is not None:
            after = decode_time_cursor(cursor)
            done = done.where(tuple_(OPERATION.c.created_at, OPERATION.c.key) > after)
        done = done.order_by(OPERATION.c.created_at, OPERATION.c.key).limit(check_limit(limit) + 1)
        rows = await self._unit.rows(done)
        self._unit.read("operation.list", job_id)
        entries = tuple(
            LedgerEntry.model_validate(row, from_attributes=True) for row in rows[:limit]
        )
        if len(rows) <= limit:
            return entries, None
        return entries, encode_cursor(entries[-1].created_at.isoformat(), entries[-1].key)

    def _is(self, operation: Operation) -> dict[str, str]:
        return {"in_tenant": self._unit.tenant_id, "of_key": operation.key}
