"""Raw messages in Postgres, append-only; forgotten ones are not returned."""

from collections.abc import Sequence

from sqlalchemy import select, tuple_

from mnestic.memory.knowledge.resources import Resource
from mnestic.stores.postgres.bulk import insert_rows, packed
from mnestic.stores.postgres.cursors import check_limit, decode_time_cursor, encode_cursor
from mnestic.stores.postgres.tables import ResourceRow, table
from mnestic.stores.postgres.unit_of_work import UnitOfWork

RESOURCE = table(ResourceRow)
_ORDER = (
    RESOURCE.c.at,
    RESOURCE.c.source_id.collate("C"),
)  # of the index, the same in every database
_INSERT = insert_rows(RESOURCE, *Resource.model_fields, now=["created_at"], where_new=True)


class PostgresResourceStore:
    """Implements `mnestic.memory.ports.ResourceStore`."""

    def __init__(self, unit: UnitOfWork) -> None:
        self._unit = unit

    async def append(self, resources: Sequence[Resource]) -> int:
        """See the port."""
        if not resources:
            return 0
        rows = packed(self._unit.owner, [one.model_dump() for one in resources], what="messages")
        added = await self._unit.run(_INSERT, rows)
        if added:
            self._unit.wrote("resource.append", resources[0].session_id)
        return added

    async def list_by_session(
        self, session_id: str, *, limit: int = 1000, cursor: str | None = None
    ) -> tuple[tuple[Resource, ...], str | None]:
        """See the port."""
        statement = select(*RESOURCE.c).where(
            self._unit.owned(RESOURCE),
            RESOURCE.c.session_id == session_id,
            RESOURCE.c.forgotten_at.is_(None),
        )
        if cursor is not None:
            after = decode_time_cursor(cursor)
            statement = statement.where(tuple_(*_ORDER) > after)
        statement = statement.order_by(*_ORDER)
        rows = await self._unit.rows(statement.limit(check_limit(limit) + 1))
        self._unit.read("resource.list", session_id)
        found = tuple(Resource.model_validate(row, from_attributes=True) for row in rows[:limit])
        if len(rows) <= limit:
            return found, None
        return found, encode_cursor(found[-1].at.isoformat(), found[-1].source_id)
