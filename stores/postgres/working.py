"""Working memory in Postgres: one row a session, rewritten at each version.

The state is a column of type json and not jsonb: it stays as it was written, in canonical form, so
that a snapshot takes it over byte by byte.
"""

from typing import Any

from sqlalchemy import Row, Select, Text, bindparam, cast, func, literal, select, update
from sqlalchemy.dialects.postgresql import JSON, insert

from mnestic.memory.canonical import check_json
from mnestic.memory.errors import StaleVersionError, StoredValueError
from mnestic.memory.working import WorkingDocument, WorkingMemory, WorkingRef
from mnestic.stores.postgres.stored import read_stored_json
from mnestic.stores.postgres.tables import WorkingMemoryRow, table
from mnestic.stores.postgres.unit import Unit, is_owned

WORKING = table(WorkingMemoryRow)
_TEXT = cast(WORKING.c.state, Text)
_STATE = (
    _TEXT.label("state"),
    WORKING.c.version,
    WORKING.c.last_checkpoint,
    WORKING.c.message_count,
)
_SHA256 = func.encode(func.sha256(func.convert_to(_TEXT, "UTF8")), "hex").label("sha256")

# Built once: building a statement takes as long as running a small one.
_IS = is_owned(WORKING) & (WORKING.c.session_id == bindparam("of_session"))
_LOAD = select(*_STATE).where(_IS)
_FIND_REF = select(WORKING.c.version, _SHA256).where(_IS)
_CHECKPOINT = (
    update(WORKING)
    .where(_IS)
    .values(version=WORKING.c.version + 1, last_checkpoint=bindparam("at"), updated_at=func.now())
    .returning(*_STATE)
)
_SAVE = (
    update(WORKING)
    .where(_IS, WORKING.c.version == bindparam("at_version"))
    .values(
        state=cast(bindparam("new_state", type_=Text), JSON),
        version=bindparam("at_version") + 1,
        last_checkpoint=bindparam("at"),
        updated_at=func.now(),
    )
)


class PostgresWorkingMemoryStore:
    """Implements `mnestic.memory.ports.WorkingMemoryStore`."""

    def __init__(self, unit: Unit) -> None:
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

    async def load_document(self, session_id: str) -> WorkingDocument:
        """See the port."""
        row = await self._select(_LOAD, session_id, lock=False)
        return WorkingMemory().document() if row is None else _document(row)

    async def checkpoint(self, session_id: str, snapshot_id: str) -> WorkingDocument:
        """See the port."""
        values = {**self._named(session_id), "at": snapshot_id}
        row = await self._unit.row(_CHECKPOINT, values)
        if row is None:
            await self._unit.run(self._insert(session_id))
            row = await self._unit.row(_CHECKPOINT, values)
            assert row is not None
        self._unit.read("working.load", session_id)
        self._unit.wrote("working.save", session_id)
        if row.message_count is None:
            raise StoredValueError(what=_what(session_id), why="it holds no messages")
        return _document(row)

    async def save(self, session_id: str, state: WorkingMemory) -> WorkingMemory:
        """See the port."""
        document = state.document().body.decode()
        check_json(state.last_checkpoint, what="working memory.last_checkpoint")
        saved = state.model_copy(update={"version": state.version + 1})
        if state.version == 0:
            await self._unit.run(self._insert(session_id))
        values = {
            **self._named(session_id),
            "at_version": state.version,
            "new_state": document,
            "at": state.last_checkpoint,
        }
        if not await self._unit.run(_SAVE, values):
            stored = await self.load(session_id)
            raise StaleVersionError(
                what=_what(session_id),
                expected=state.version,
                stored_version=stored.version,
                stored=stored,
            )
        self._unit.wrote("working.save", session_id)
        return saved

    def _insert(self, session_id: str) -> Any:
        """A row at version 0, for a lock and for the first write; none if there is one."""
        values = {
            **self._unit.owner,
            "session_id": session_id,
            "version": 0,
            "state": _json(WorkingMemory()),
            "updated_at": func.now(),
        }
        return insert(WORKING).values(values).on_conflict_do_nothing()

    async def _select(
        self, statement: Select[Any], session_id: str, *, lock: bool
    ) -> Row[Any] | None:
        """The row; one that is to be locked is made first if there is none."""
        asked = statement.with_for_update() if lock else statement
        row = await self._unit.row(asked, self._named(session_id))
        if row is None and lock:
            await self._unit.run(self._insert(session_id))
            row = await self._unit.row(asked, self._named(session_id))
        self._unit.read("working.load", session_id)
        return row

    def _named(self, session_id: str) -> dict[str, str]:
        return {**self._unit.here, "of_session": session_id}


def _json(state: WorkingMemory) -> Any:
    return cast(literal(state.document().body.decode(), Text), JSON)


def _state(row: Row[Any], session_id: str) -> WorkingMemory:
    kept = {"version": row.version, "last_checkpoint": row.last_checkpoint}
    found = read_stored_json(WorkingMemory, row.state, what=_what(session_id))
    return found.model_copy(update=kept)


def _document(row: Row[Any]) -> WorkingDocument:
    return WorkingDocument(
        version=row.version,
        last_checkpoint=row.last_checkpoint,
        message_count=row.message_count or 0,
        body=row.state.encode(),
    )


def _what(session_id: str) -> str:
    return f"working memory of session {session_id}"
