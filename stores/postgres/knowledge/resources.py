"""Raw messages in Postgres, append-only; forgotten ones are not returned."""

from collections.abc import Collection, Sequence

from mnestic.memory.knowledge.relations import Place
from mnestic.memory.knowledge.resources import Resource
from mnestic.stores.postgres.cursors import check_limit, decode_time_cursor, encode_cursor
from mnestic.stores.postgres.queries import packed, read_query
from mnestic.stores.postgres.unit_of_work import UnitOfWork

_SELECT_READERS = read_query("resources.select_readers")
_APPEND, _LIST = read_query("resources.append"), read_query("resources.list_by_session")


class PostgresResourceStore:
    """Implements `mnestic.memory.knowledge.ports.ResourceStore`."""

    def __init__(self, unit: UnitOfWork) -> None:
        self._unit = unit

    async def append(self, resources: Sequence[Resource]) -> int:
        """See the port."""
        if not resources:
            return 0
        rows = packed(self._unit.owner, [one.model_dump() for one in resources], what="messages")
        added = await self._unit.write(_APPEND, **rows)
        if added:
            self._unit.wrote("resource.append", resources[0].session_id)
        return added

    async def select_readers(
        self, places: Collection[Place]
    ) -> dict[Place, tuple[str, ...] | None]:
        """See the port."""
        sessions, sources = [one[0] for one in places], [one[1] for one in places]
        rows = await self._unit.fetch(_SELECT_READERS, sessions=sessions, sources=sources)
        return {
            (row.session_id, row.source_id): None if row.readers is None else tuple(row.readers)
            for row in rows
        }

    async def list_by_session(
        self, session_id: str, *, limit: int = 1000, cursor: str | None = None
    ) -> tuple[tuple[Resource, ...], str | None]:
        """See the port."""
        after, after_id = decode_time_cursor(cursor) if cursor is not None else (None, None)
        rows = await self._unit.fetch(
            _LIST,
            session_id=session_id,
            after=after,
            after_id=after_id,
            limit=check_limit(limit) + 1,
        )
        self._unit.read("resource.list", session_id)
        found = tuple(Resource.model_validate(row, from_attributes=True) for row in rows[:limit])
        if len(rows) <= limit:
            return found, None
        return found, encode_cursor(found[-1].at.isoformat(), found[-1].source_id)
