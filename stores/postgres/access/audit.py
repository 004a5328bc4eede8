"""The audit log in Postgres, as those read it who look for an access."""

from sqlalchemy import bindparam, select, text

from mnestic.memory.access.audit import ALLOWED, DENIED, AuditEntry, AuditQuery, key_actor
from mnestic.stores.postgres.cursors import check_limit, decode_number_cursor, encode_cursor
from mnestic.stores.postgres.tables import AuditRow, table
from mnestic.stores.postgres.unit_of_work import UnitOfWork

AUDIT = table(AuditRow)
_LIST = (
    select(*AUDIT.c)
    .where(AUDIT.c.tenant_id == bindparam("in_tenant"))
    .order_by(AUDIT.c.id.desc())
    .limit(bindparam("at_most"))
)

# As the partial indexes have them, which serve no condition with a parameter.
_BY_KEY, _DENIED = text("starts_with(actor, 'key/')"), text("action = 'access.denied'")
_OF_ENTRIES = text(
    "action IN ('entry.change', 'entry.remove', 'entry.archive', 'entry.restore') AND actor <> 'learning'"
)


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

    async def list(
        self, query: AuditQuery, *, limit: int = 100, cursor: str | None = None
    ) -> tuple[tuple[AuditEntry, ...], str | None]:
        """See the port."""
        statement = _LIST
        if query.agent_id is not None:
            statement = statement.where(AUDIT.c.agent_id == query.agent_id)
        if query.key_id is not None:
            statement = statement.where(_BY_KEY, AUDIT.c.actor == key_actor(query.key_id))
        if query.denied:
            statement = statement.where(_DENIED)
        if cursor is not None:
            statement = statement.where(AUDIT.c.id < decode_number_cursor(cursor))
        values = {"in_tenant": self._unit.tenant_id, "at_most": check_limit(limit) + 1}
        rows = await self._unit.rows(statement, values)
        self._unit.read("audit.list", query.agent_id or "*")
        found = tuple(AuditEntry.model_validate(row._asdict()) for row in rows[:limit])
        return found, encode_cursor(str(found[-1].id)) if len(rows) > limit else None

    async def list_changes(
        self, agent_id: str, entry_id: str, *, limit: int
    ) -> tuple[AuditEntry, ...]:
        """See the port."""
        statement = _LIST.where(
            AUDIT.c.agent_id == agent_id, AUDIT.c.target == entry_id, _OF_ENTRIES
        )
        values = {"in_tenant": self._unit.tenant_id, "at_most": check_limit(limit)}
        rows = await self._unit.rows(statement, values)
        return tuple(AuditEntry.model_validate(row._asdict()) for row in rows)
