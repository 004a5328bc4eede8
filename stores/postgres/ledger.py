"""The operation ledger in Postgres: each memory write once, with what it gave."""

import json
from collections.abc import Mapping
from typing import Any

from sqlalchemy import select, tuple_

from mnestic.memory.errors import IdempotencyConflictError
from mnestic.memory.operations import LedgerEntry, Operation
from mnestic.stores.postgres.cursors import check_limit, decode_time_cursor, encode_cursor
from mnestic.stores.postgres.queries import NamedQuery
from mnestic.stores.postgres.tables import OperationRow, table
from mnestic.stores.postgres.unit_of_work import UnitOfWork

OPERATION = table(OperationRow)

# The first statements of their transactions: what begins one goes with them in one round trip.
_ENTER = NamedQuery.of("""
INSERT INTO mnestic.operation (tenant_id, key, name, agent_id, job_id, request_hash, created_at)
VALUES (%(tenant_id)s, %(key)s, %(name)s, %(agent_id)s, %(job_id)s, %(request_hash)s, now())
ON CONFLICT DO NOTHING
RETURNING key
""")
_FIND = NamedQuery.of("""
SELECT request_hash, agent_id, result FROM mnestic.operation
 WHERE tenant_id = %(tenant_id)s AND key = %(key)s
""")
_COMPLETE = NamedQuery.of("""
UPDATE mnestic.operation SET result = CAST(%(result)s AS jsonb)
 WHERE tenant_id = %(tenant_id)s AND key = %(key)s
""")


class PostgresLedger:
    """Enters operations before their writes, in the same transaction."""

    def __init__(self, unit: UnitOfWork) -> None:
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
        (entered,) = await self._unit.rows_of(_ENTER.bind(values))
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
        (rows,) = await self._unit.rows_of(_FIND.bind(of_key))
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
        values = {**self._unit.owner, "key": operation.key, "result": json.dumps(dict(result))}
        self._unit.at_end(_COMPLETE.bind(values))

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
