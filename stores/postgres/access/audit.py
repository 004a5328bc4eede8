"""The audit log in Postgres, as those read it who look for an access."""

from mnestic.memory.access.audit import (
    ALLOWED,
    DENIED,
    AuditEntry,
    AuditQuery,
    SearchCount,
    key_actor,
)
from mnestic.stores.postgres.cursors import check_limit, decode_number_cursor, encode_cursor
from mnestic.stores.postgres.queries import read_query
from mnestic.stores.postgres.unit_of_work import UnitOfWork

_LIST, _LIST_CHANGES = read_query("audit.list"), read_query("audit.list_changes")
_COUNT_SEARCHES = read_query("audit.count_searches")


class PostgresAuditStore:
    """Implements `mnestic.memory.access.ports.AuditStore`."""

    def __init__(self, unit: UnitOfWork) -> None:
        self._unit = unit

    def allow(self, target: str) -> None:
        """See the port."""
        self._unit.read(ALLOWED, target)

    def deny(self, action: str, target: str, *, reason: str) -> None:
        """See the port."""
        self._unit.read(DENIED, target, reason=f"{action}: {reason}")

    def attempt(self, action: str, target: str, *, operation_key: str | None = None) -> None:
        """See the port."""
        self._unit.begin_access(action, target, operation_key=operation_key)

    def complete(self, *, reason: str | None = None) -> None:
        """See the port."""
        self._unit.complete_access(reason=reason)

    async def list(
        self, query: AuditQuery, *, limit: int = 100, cursor: str | None = None
    ) -> tuple[tuple[AuditEntry, ...], str | None]:
        """See the port."""
        rows = await self._unit.fetch(
            _LIST,
            of_agent=query.agent_id,
            of_key=key_actor(query.key_id) if query.key_id is not None else None,
            of_actor=query.actor,
            of_action=query.action,
            only_denied=query.denied or None,
            before=decode_number_cursor(cursor) if cursor is not None else None,
            limit=check_limit(limit) + 1,
        )
        self._unit.read("audit.list", query.agent_id or "*")
        found = tuple(AuditEntry.model_validate(row._asdict()) for row in rows[:limit])
        return found, encode_cursor(str(found[-1].id)) if len(rows) > limit else None

    async def list_changes(
        self, agent_id: str, entry_id: str, *, limit: int
    ) -> tuple[AuditEntry, ...]:
        """See the port."""
        rows = await self._unit.fetch(
            _LIST_CHANGES, of_agent=agent_id, entry_id=entry_id, limit=check_limit(limit)
        )
        return tuple(AuditEntry.model_validate(row._asdict()) for row in rows)

    async def count_searches(self) -> tuple[SearchCount, ...]:
        """See the port."""
        rows = [] if self._unit.reader else await self._unit.fetch(_COUNT_SEARCHES)
        return tuple(SearchCount.model_validate(row._asdict()) for row in rows)
