"""The operation ledger in Postgres: each memory write once, with what it gave."""

import json
from collections.abc import Mapping
from typing import Any

from mnestic.memory.errors import IdempotencyConflictError
from mnestic.memory.operations import LedgerEntry, Operation
from mnestic.stores.postgres.cursors import check_limit, decode_time_cursor, encode_cursor
from mnestic.stores.postgres.queries import read_query
from mnestic.stores.postgres.unit_of_work import UnitOfWork

_ENTER, _FIND = read_query("ledger.enter"), read_query("ledger.find")
_COMPLETE, _LIST = read_query("ledger.complete"), read_query("ledger.list")


class PostgresLedger:
    """Enters operations before their writes, in the same transaction."""

    def __init__(self, unit: UnitOfWork) -> None:
        self._unit = unit

    async def replay(self, operation: Operation, request_hash: str) -> Mapping[str, Any] | None:
        """See `mnestic.memory.ports.Transaction.replay`."""
        entered = await self._unit.write(
            _ENTER,
            key=operation.key,
            name=operation.name,
            job_id=operation.job_id,
            request_hash=request_hash,
        )
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
        row = await self._unit.fetch_one(_FIND, key=operation.key)
        if row is None:
            return None
        if row.request_hash != request_hash or row.agent_id != self._unit.agent_id:
            raise IdempotencyConflictError(key=operation.key)
        self._unit.read("operation.replay", operation.key)
        self._unit.is_replay = True
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
        after, after_key = decode_time_cursor(cursor) if cursor is not None else (None, None)
        rows = await self._unit.fetch(
            _LIST, job_id=job_id, after=after, after_key=after_key, limit=check_limit(limit) + 1
        )
        self._unit.read("operation.list", job_id)
        entries = tuple(
            LedgerEntry.model_validate(row, from_attributes=True) for row in rows[:limit]
        )
        if len(rows) <= limit:
            return entries, None
        return entries, encode_cursor(entries[-1].created_at.isoformat(), entries[-1].key)
