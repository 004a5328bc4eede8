"""Working memory in Postgres: one row a session, rewritten at each version."""

from typing import Any

from sqlalchemy import Row, Text, cast, func, select, update
from sqlalchemy.dialects.postgresql import insert

from mnestic.memory.canonical import check_json
from mnestic.memory.errors import StaleVersionError
from mnestic.memory.working import WorkingMemory
from mnestic.stores.postgres.stored import read_stored_json
from mnestic.stores.postgres.tables import WorkingMemoryRow, table
from mnestic.stores.postgres.unit import Unit

WORKING = table(WorkingMemoryRow)
_STATE = (cast(WORKING.c.state, Text).label("state"), WORKING.c.version, WORKING.c.last_checkpoint)


class PostgresWorkingMemoryStore:
    """Implements `mnestic.memory.ports.WorkingMemoryStore`."""

    def __init__(self, unit: Unit) -> None:
        self._unit = unit

    async def load(self, session_id: str, *, lock: bool = False) -> WorkingMemory:
        """See the port."""
        statement = select(*_STATE).where(self._is(session_id))
        row = await self._unit.row(statement.with_for_update() if lock else statement)
        if row is None and lock:
            await self._unit.run(self._insert(session_id))
            row = await self._unit.row(statement.with_for_update())
        self._unit.read("working.load", session_id)
        return WorkingMemory() if row is None else _state(row, session_id)

    async def checkpoint(self, session_id: str, snapshot_id: str) -> WorkingMemory:
        """See the port."""
        statement = (
            update(WORKING)
            .where(self._is(session_id))
            .values(
                version=WORKING.c.version + 1,
                last_checkpoint=snapshot_id,
                updated_at=func.now(),
            )
            .returning(*_STATE)
        )
        row = await self._unit.row(statement)
        if row is None:
            await self._unit.run(self._insert(session_id))
            row = await self._unit.row(statement)
            assert row is not None
        self._unit.read("working.load", session_id)
        self._unit.wrote("working.save", session_id)
        return _state(row, session_id)

    async def clear(self, session_id: str) -> WorkingMemory:
        """See the port."""
        statement = (
            update(WORKING)
            .where(self._is(session_id))
            .values(
                state=_document(WorkingMemory()),
                version=WORKING.c.version + 1,
                last_checkpoint=None,
                updated_at=func.now(),
            )
        )
        await self._unit.run(statement)
        self._unit.wrote("working.clear", session_id)
        return await self.load(session_id, lock=True)

    async def save(self, session_id: str, state: WorkingMemory) -> WorkingMemory:
        """See the port."""
        document = _document(state)
        check_json(document, what="working memory")
        check_json(state.last_checkpoint, what="working memory.last_checkpoint")
        saved = state.model_copy(update={"version": state.version + 1})
        if state.version == 0:
            await self._unit.run(self._insert(session_id))
        statement = (
            update(WORKING)
            .where(self._is(session_id), WORKING.c.version == state.version)
            .values(
                state=document,
                version=saved.version,
                last_checkpoint=state.last_checkpoint,
                updated_at=func.now(),
            )
        )
        if not await self._unit.run(statement):
            stored = await self.load(session_id)
            raise StaleVersionError(
                what=f"working memory of session {session_id}",
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
            "state": _document(WorkingMemory()),
            "updated_at": func.now(),
        }
        return insert(WORKING).values(values).on_conflict_do_nothing()

    def _is(self, session_id: str) -> Any:
        return self._unit.owned(WORKING) & (WORKING.c.session_id == session_id)


def _document(state: WorkingMemory) -> dict[str, Any]:
    """What the column `state` holds; a row of 0.1.0 holds the other two there as well."""
    return state.model_dump(mode="json", exclude={"version", "last_checkpoint"})


def _state(row: Row[Any], session_id: str) -> WorkingMemory:
    what = f"working memory of session {session_id}"
    columns: dict[str, Any] = {"version": row.version}
    if row.last_checkpoint is not None:
        columns["last_checkpoint"] = row.last_checkpoint
    return read_stored_json(WorkingMemory, row.state, what=what).model_copy(update=columns)
