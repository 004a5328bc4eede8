"""Telling other processes what this one has changed, once it is committed.

It stands apart from the transactions that change something, since a transaction that notifies commits alone:
Postgres lets one after the other do so in a whole cluster, and each waits for the disk. Nothing depends on
what is told, so what cannot be is left.
"""

import asyncio
import json
import logging
from collections import deque
from datetime import timedelta

from sqlalchemy import text
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.ext.asyncio import AsyncEngine

from mnestic.stores.postgres.connections import pipelined
from mnestic.stores.postgres.schema import reason_of
from mnestic.stores.postgres.unit import Change

CHANNEL = "mnestic_knowledge"
_TELL = text(
    f"SELECT pg_notify('{CHANNEL}', told) FROM unnest(CAST(:told AS text[])) AS told"  # noqa: S608 - a constant
)
_LONGEST = 8000  # bytes; no notification has as many
_MOST = 1000  # changes that wait; of more the last ones are told
_CLOSING = timedelta(seconds=5)
log = logging.getLogger("mnestic.caches")


class Teller:
    """What one process has changed and not told yet. What comes up meanwhile is told together."""

    def __init__(self, engine: AsyncEngine, *, closing: timedelta = _CLOSING) -> None:
        """`close` takes no longer than `closing`."""
        self._engine, self._closing = engine, closing
        self._pending: deque[str] = deque(maxlen=_MOST)
        self._telling: asyncio.Task[None] | None = None

    def tell(self, change: Change) -> None:
        """Has a change told; returns at once."""
        what = change.numbers, change.added, change.is_of_facts
        told = json.dumps([*change.owner, change.knowledge, *what])
        if len(told) < _LONGEST:
            self._pending.append(told)
        if self._telling is None or self._telling.done():
            self._telling = asyncio.create_task(self._tell())

    async def close(self) -> None:
        """Waits until what is pending is told, or given up."""
        if self._telling is not None:
            await asyncio.wait({self._telling}, timeout=self._closing.total_seconds())
            self._telling.cancel()
            await asyncio.gather(self._telling, return_exceptions=True)

    async def _tell(self) -> None:
        while self._pending:
            told = list(self._pending)
            self._pending.clear()
            try:
                async with self._engine.connect() as connection, pipelined(connection):
                    await connection.execute(_TELL, {"told": told})
                    await connection.commit()
            except SQLAlchemyError as error:
                log.warning("changes are not told", extra={"why": reason_of(error)})
