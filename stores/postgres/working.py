"""Working memory in Postgres: one row a session, rewritten at each version."""

from typing import Any

from sqlalchemy import func, select, update
from sqlalchemy.dialects.postgresql import insert

from mnestic.memory.canonical import check_json
from mnestic.memory.errors import StaleVersionError, StoredValueError
from mnestic.memory.working import WorkingMemory
from mnestic.stores.postgres.stored import read_stored
from mnestic.stores.postgres.tables import WorkingMemoryRow, table
from mnestic.stores.postgres.unit import Unit

WORKING = table(WorkingMemoryRow)


class PostgresWorkingMemoryStore:
    """Implements `mnestic.memory.ports.WorkingMemoryStore`."""

    def __init__(self, unit: Unit) -> None:
        self._unit = unit

    async def load(self, session_id: str, *, lock: bool = False) -> WorkingMemory:
        """See the port."""
        if lock:
            await self._unit.run(self._insert(session_id, WorkingMemory()))
        statement = select(WORKING.c.state, WORKING.c.version).where(self._is(session_id))
        row = await self._unit.row(statement.with_for_update() if lock else statement)
        self._unit.read("working.load", session_id)
        if row is None:
            return WorkingMemory()
        what = f"working memory of session {session_id}"
        if not isinstance(row.state, dict):
            raise StoredValueError(what=what, why="it is no object")
        return read_stored(WorkingMemory, {**row.state, "version": row.version}, what=what)

    async def save(self, session_id: str, state: WorkingMemory) -> WorkingMemory:
        """See the port."""
        document = state.model_dump(mode="json")
        check_json(document, what="working memory")
        saved = state.model_copy(update={"version": state.version + 1})
        if state.version == 0:
            await self._unit.run(self._insert(session_id, WorkingMemory()))
        statement = (
            update(WORKING)
            .where(self._is(session_id), WORKING.c.version == state.version)
            .values(state=document, version=saved.version, updated_at=func.now())
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

    def _insert(self, session_id: str, state: WorkingMemory) -> Any:
        values = {
            **self._unit.owner,
            "session_id": session_id,
            "version": state.version,
            "state": state.model_dump(mode="json"),
            "updated_at": func.now(),
        }
        return insert(WORKING).values(values).on_conflict_do_nothing()

    def _is(self, session_id: str) -> Any:
        return self._unit.owned(WORKING) & (WORKING.c.session_id == session_id)
