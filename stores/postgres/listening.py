"""Listening for changes of knowledge, on a connection of its own, while searches are asked.

What it hears only spares reading again what has not changed; nothing that is kept depends on it.
"""

import asyncio
import json
import logging
from collections.abc import Sequence
from typing import Any

import psycopg

from mnestic.stores.postgres.kept import Kept
from mnestic.stores.postgres.telling import CHANNEL
from mnestic.stores.postgres.unit import Change

_FIRST_DELAY, _LONGEST_DELAY = 1.0, 60.0  # seconds before it is tried again
log = logging.getLogger("mnestic.caches")


class Listener:
    """Tells a process's caches what has changed, from when it is first asked to until it is closed."""

    def __init__(self, url: str, kept: Kept) -> None:
        """Prepares it.

        Args:
            url: `postgresql://…`; behind a pooler that parts sessions it hears nothing.
            kept: Who is told.
        """
        self._url, self._kept = url, kept
        self._listening: asyncio.Task[None] | None = None
        self._hears = asyncio.Event()

    def begin(self) -> None:
        """Listens from now on; returns at once."""
        if self._listening is None:
            self._listening = asyncio.create_task(self._listen())

    async def hears(self) -> None:
        """Waits until it does."""
        await self._hears.wait()

    async def close(self) -> None:
        """Listens no more."""
        if self._listening is not None:
            self._listening.cancel()
            await asyncio.gather(self._listening, return_exceptions=True)

    async def _listen(self) -> None:
        delay = _FIRST_DELAY
        while True:
            try:
                async with await psycopg.AsyncConnection.connect(
                    self._url, autocommit=True, connect_timeout=10
                ) as connection:
                    await connection.execute(f"LISTEN {CHANNEL}")
                    delay = _FIRST_DELAY
                    self._hears.set()
                    async for notification in connection.notifies():
                        self._hear(notification.payload)
            except psycopg.Error as error:
                log.warning("no changes are heard", extra={"why": str(error).strip()})
            self._hears.clear()
            await asyncio.sleep(delay)
            delay = min(2 * delay, _LONGEST_DELAY)

    def _hear(self, told: str) -> None:
        try:
            tenant_id, agent_id, knowledge, numbers, *others = json.loads(told)
            added = others[0] if others else None  # versions up to 0.2 do not tell what is new
            is_of_facts = others[1] if len(others) > 1 else True
            change = Change(
                (tenant_id, agent_id),
                int(knowledge),
                numbers=_numbers(numbers),
                added=_numbers(added),
                is_of_facts=bool(is_of_facts),
            )
            self._kept.changed(change)
        except (TypeError, ValueError):  # of another version, or of somebody else
            log.warning("a change is told that cannot be read", extra={"told": told[:200]})


def _numbers(told: Sequence[Any] | None) -> list[int] | None:
    return None if told is None else [int(number) for number in told]
