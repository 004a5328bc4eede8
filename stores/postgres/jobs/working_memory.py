"""Working memory in Postgres: one row a session, rewritten at each version.

The state is a column of type json and not jsonb: it stays as it was written, in canonical form, so
that a snapshot takes it over byte by byte.
"""

from collections.abc import Sequence
from typing import Any

from mnestic.memory.canonical import check_json
from mnestic.memory.errors import StaleVersionError, StoredValueError
from mnestic.memory.jobs.short_term.segments import Segments
from mnestic.memory.jobs.working_memory import (
    WorkingDocument,
    WorkingMemory,
    WorkingRef,
    count_messages,
)
from mnestic.stores.postgres.queries import NamedQuery, read_query
from mnestic.stores.postgres.stored import read_stored_json
from mnestic.stores.postgres.unit_of_work import UnitOfWork

_LOAD, _FIND_REF = read_query("working_memory.load"), read_query("working_memory.find_ref")
_FIND_SEGMENTS = read_query("working_memory.find_segments")
_INSERT_EMPTY = read_query("working_memory.insert_empty")
_CHECKPOINT = read_query("working_memory.checkpoint")
_SAVE, _SAVE_FIRST = read_query("working_memory.save"), read_query("working_memory.save_first")


class PostgresWorkingMemoryStore:
    """Implements `mnestic.memory.jobs.ports.WorkingMemoryStore`."""

    def __init__(self, unit: UnitOfWork) -> None:
        self._unit = unit

    async def load(self, session_id: str, *, lock: bool = False) -> WorkingMemory:
        """See the port."""
        row = await self._select(_LOAD, session_id, lock=lock)
        return WorkingMemory() if row is None else _state(row, session_id)

    async def find_ref(self, session_id: str, *, lock: bool = False) -> WorkingRef:
        """See the port."""
        row = await self._select(_FIND_REF, session_id, lock=lock)
        if row is None:
            return WorkingMemory().document().ref
        return WorkingRef(version=row.version, sha256=row.sha256)

    async def find_segments(self, session_id: str) -> Segments | None:
        """See the port."""
        row = await self._unit.fetch_one(_FIND_SEGMENTS, session_id=session_id)
        if row is None or row.segments is None:
            return None
        self._unit.read("working.load", session_id)
        return read_stored_json(Segments, row.segments, what=_what(session_id))

    async def load_document(self, session_id: str) -> WorkingDocument:
        """See the port."""
        row = await self._select(_LOAD, session_id, lock=False)
        if row is None:
            return WorkingMemory().document()
        return _document(row, message_count=count_messages(row.state) or 0)

    async def checkpoint(self, session_id: str, snapshot_id: str) -> WorkingDocument:
        """See the port."""
        values = {"session_id": session_id, "snapshot_id": snapshot_id}
        (row,) = await self._rows(_CHECKPOINT, values, or_empty=True)
        self._unit.read("working.load", session_id)
        self._unit.wrote("working.save", session_id)
        message_count = count_messages(row.state)
        if message_count is None:
            raise StoredValueError(what=_what(session_id), why="it holds no messages")
        return _document(row, message_count=message_count)

    async def save(self, session_id: str, state: WorkingMemory) -> WorkingMemory:
        """See the port."""
        check_json(state.last_checkpoint, what="working memory.last_checkpoint")
        values = {
            "session_id": session_id,
            "state": state.document().body.decode(),
            "version": state.version,
            "last_checkpoint": state.last_checkpoint,
        }
        statement = _SAVE if state.version else _SAVE_FIRST
        if not await self._unit.fetch(statement, **values):
            stored = await self.load(session_id)
            raise StaleVersionError(
                what=_what(session_id),
                expected=state.version,
                stored_version=stored.version,
                stored=stored,
            )
        self._unit.wrote("working.save", session_id)
        return state.model_copy(update={"version": state.version + 1})

    async def _select(self, statement: NamedQuery, session_id: str, *, lock: bool) -> Any:
        """The row, or None; one that is to be locked is made first if there is none."""
        values = {"session_id": session_id, "lock": lock or None}
        self._unit.read("working.load", session_id)
        rows = await self._rows(statement, values, or_empty=lock)
        return next(iter(rows), None)

    async def _rows(
        self, statement: NamedQuery, values: dict[str, Any], *, or_empty: bool
    ) -> Sequence[Any]:
        """The rows of a statement; if there are none, those of an empty session, which is inserted first."""
        rows = await self._unit.fetch(statement, **values)
        if not rows and or_empty:
            values = self._unit.owner | values
            empty = values | {"empty": WorkingMemory().document().body.decode()}
            _, rows = await self._unit.rows_of(_INSERT_EMPTY.bind(empty), statement.bind(values))
        return rows


def _state(row: Any, session_id: str) -> WorkingMemory:
    columns = {"version": row.version, "last_checkpoint": row.last_checkpoint}
    found = read_stored_json(WorkingMemory, row.state, what=_what(session_id))
    return found.model_copy(update=columns)


def _document(row: Any, *, message_count: int) -> WorkingDocument:
    return WorkingDocument(
        version=row.version,
        last_checkpoint=row.last_checkpoint,
        message_count=message_count,
        body=row.state.encode(),
    )


def _what(session_id: str) -> str:
    return f"working memory of session {session_id}"
