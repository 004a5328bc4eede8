"""Reading ahead: the rows of all of an agent's entries, while nobody waits, once many were read one by one.

It stands alone as no question needs it: what it reads is kept like what questions have read, and only spares later
ones a round trip.
"""

import asyncio
import logging
from collections.abc import Sequence
from typing import Any

from sqlalchemy import text
from sqlalchemy.exc import DBAPIError
from sqlalchemy.exc import TimeoutError as PoolTimeoutError
from sqlalchemy.ext.asyncio import AsyncEngine

from mnestic.memory.errors import MnesticError
from mnestic.stores.postgres.candidates import COLUMNS, line_of
from mnestic.stores.postgres.connections import read_together
from mnestic.stores.postgres.fresh_entries import COUNT
from mnestic.stores.postgres.kept import Kept, Owner, Reading
from mnestic.stores.postgres.kept_sessions import KeptSessions
from mnestic.stores.postgres.opening import opening

_PIECE = 100  # rows that are read at once, which keeps questions waiting for some 3 ms
_NEWEST = 2**63 - 1
_NEXT = text(f"""
SELECT {COLUMNS} FROM mnestic.entry AS e
 WHERE e.tenant_id = :tenant_id AND e.agent_id = :agent_id AND e.number < :before
 ORDER BY e.number DESC LIMIT {_PIECE}
""")  # noqa: S608 - constants of this module
log = logging.getLogger("mnestic.caches")


class ReadingAhead:
    """Reads the rows of agents' entries, one agent after the other, the newest first, while there is place for them."""

    def __init__(self, engine: AsyncEngine, kept: Kept) -> None:
        """Prepares it.

        Args:
            engine: Where they are read.
            kept: Where they are kept.
        """
        self._engine, self._kept = engine, kept
        self._owners: dict[Owner, None] = {}
        self._working: asyncio.Task[None] | None = None

    def begin(self, owner: Owner) -> None:
        """Has those of one more agent read; returns at once."""
        self._owners[owner] = None
        if self._working is None or self._working.done():
            self._working = asyncio.create_task(self._work())

    async def close(self) -> None:
        """Reads no more."""
        self._owners.clear()
        if self._working is not None:
            self._working.cancel()
            await asyncio.gather(self._working, return_exceptions=True)

    async def _work(self) -> None:
        while self._owners:
            owner = next(iter(self._owners))
            try:
                await self._read(owner)
            except (DBAPIError, PoolTimeoutError, MnesticError) as error:  # questions tell who asks
                log.warning("entries are not read ahead", extra={"why": type(error).__name__})
            self._owners.pop(owner, None)

    async def _read(self, owner: Owner) -> None:
        """Reads those of an agent, until nothing is left, there is no place, or something has changed unheard."""
        before, sessions = _NEWEST, KeptSessions()
        while self._kept.has_place:
            reading, rows = await self._next(owner, before=before)
            if before == _NEWEST:
                reading.keep_sessions(sessions)
            if not reading.is_current:
                return
            lacking = reading.lacking(row.number for row in rows)
            lines = [line_of(row) for row in rows if row.number in lacking]
            for line in lines:
                line.terms()  # which are kept with it
            reading.keep(lines, ahead=True)
            for row in rows:
                sessions.place(row.number, row.session_id)
            if len(rows) < _PIECE:
                sessions.is_whole = True
                return
            before = rows[-1].number

    async def _next(self, owner: Owner, *, before: int) -> tuple[Reading, Sequence[Any]]:
        """The next rows, and the right to keep them."""
        tenant_id, agent_id = owner
        values = {"tenant_id": tenant_id, "agent_id": agent_id}
        async with self._engine.connect() as connection:
            (moment,), rows = await read_together(
                connection,
                [(COUNT, values), (_NEXT, {**values, "before": before})],
                opening=opening(tenant_id, write=False),
            )
        return self._kept.reading(owner, moment.knowledge), rows
