"""Temporal on demand: a client of memory connects to it when it has to start a workflow, and not before.

Most clients of memory never start one, and importing Temporal takes longer than to connect to Postgres.
"""

import asyncio
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

from mnestic.starter.settings import Settings

if TYPE_CHECKING:  # a third of a second, which only who needs Temporal pays
    from mnestic.starter.temporal_connection import TemporalConnection


class LazyTemporal:
    """Where workflows are started. Connects at the first call, and once."""

    def __init__(
        self, settings: Settings, *, connected: "TemporalConnection | None" = None
    ) -> None:
        """Prepares it.

        Args:
            settings: They say where Temporal is, or the runtime that is up does.
            connected: What is connected already.
        """
        self._settings, self._connected = settings, connected
        self._connecting = asyncio.Lock()

    async def temporal(self) -> "TemporalConnection":
        """Temporal, connected.

        Raises:
            ConfigurationError: nothing says where it is, or its own settings cannot be read.
            TemporalUnavailableError: it does not answer; the next call tries again.
        """
        async with self._connecting:
            if self._connected is None:
                connect = await asyncio.to_thread(_load)  # others go on while modules are loaded
                self._connected = await connect(self._settings)
            return self._connected


def _load() -> "Callable[[Settings], Awaitable[TemporalConnection]]":
    from mnestic.starter.temporal_connection import (  # noqa: PLC0415 - it imports Temporal
        connect_temporal_for_starts,
    )

    return connect_temporal_for_starts
