"""The readers of sessions and channels, in Postgres."""

from mnestic.memory.sharing.readers import DefaultKind, ReaderDefault
from mnestic.stores.postgres.queries import read_query
from mnestic.stores.postgres.stored import read_stored
from mnestic.stores.postgres.unit_of_work import UnitOfWork

_SET, _REMOVE = read_query("reader_defaults.set"), read_query("reader_defaults.remove")
_LIST, _FIND = read_query("reader_defaults.list"), read_query("reader_defaults.find")
_INHERIT = read_query("reader_defaults.inherit")
_USED = read_query("reader_defaults.are_used")
_OF_SESSION = read_query("reader_defaults.of_session")
_OF_AUDIENCE = read_query("reader_defaults.of_audience")


class PostgresReaderDefaultStore:
    """Implements `mnestic.memory.sharing.ports.ReaderDefaultStore`."""

    def __init__(self, unit: UnitOfWork) -> None:
        self._unit = unit

    async def set(self, default: ReaderDefault) -> None:
        """See the port."""
        values = default.model_dump() | {"readers": [*default.readers]}
        await self._unit.write(_SET, **values)
        self._unit.wrote("readers.set", f"{default.kind}/{default.name}")

    async def remove(self, kind: DefaultKind, name: str) -> None:
        """See the port."""
        await self._unit.write(_REMOVE, kind=kind, name=name)
        self._unit.wrote("readers.remove", f"{kind}/{name}")

    async def inherit(self, session_id: str, *, wait_id: str) -> None:
        """See the port."""
        if await self._unit.write(_INHERIT, session_id=session_id, wait_id=wait_id):
            self._unit.wrote("readers.set", f"session/{session_id}")

    async def list_defaults(self) -> tuple[ReaderDefault, ...]:
        """See the port."""
        rows = await self._unit.fetch(_LIST)
        self._unit.read("readers.list", "*")
        return tuple(read_stored(ReaderDefault, row._asdict(), what="readers") for row in rows)

    async def of_session(self, session_id: str) -> tuple[str, ...] | None:
        """See the port."""
        (made,) = await self._unit.fetch(_OF_SESSION, session_id=session_id, said=None)
        if not made.audience:
            return None
        row = await self._unit.fetch_one(_OF_AUDIENCE, audience=made.audience)
        return () if row is None else tuple(row.readers)

    async def are_used(self) -> bool:
        """See the port."""
        return bool(await self._unit.fetch(_USED))

    async def find(self, session_id: str, channel: str) -> tuple[str, ...] | None:
        """See the port."""
        row = await self._unit.fetch_one(_FIND, session_id=session_id, channel=channel)
        return None if row is None else tuple(row.readers)
