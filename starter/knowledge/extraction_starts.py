"""Extraction that begins by itself: who has added to memory has `IngestMessages` started, and waits for nothing.

A call that adds must neither wait for Temporal nor fail by it. What gets lost here, a worker finds
(`polls/extraction_poll.py`).
"""

import asyncio
import logging

from mnestic.memory.errors import MnesticError
from mnestic.starter.lazy_temporal import LazyTemporal

_PAUSE_S = 1.0  # between two starts: each is an event of the workflow's history
_AT_END_S = 2.0  # for starts that are still due when the connection closes
log = logging.getLogger("mnestic.extraction")


class ExtractionStarts:
    """Starts the extraction of agents' messages in the background, and no more than once a second."""

    def __init__(self, lazy_temporal: LazyTemporal, *, tenant_id: str) -> None:
        self._lazy_temporal, self._tenant_id = lazy_temporal, tenant_id
        self._agents: set[str] = set()
        self._is_closing = asyncio.Event()
        self._starting: asyncio.Task[None] | None = None

    def start_in_background(self, agent_id: str) -> None:
        """Has the extraction of an agent's messages started; it neither waits nor fails."""
        self._agents.add(agent_id)
        if self._starting is None or self._starting.done():
            self._starting = asyncio.get_running_loop().create_task(self._start())

    async def close(self) -> None:
        """Makes the starts that are still due, within a time limit."""
        self._is_closing.set()
        if self._starting is not None:
            await asyncio.wait({self._starting}, timeout=_AT_END_S)
            self._starting.cancel()
            await asyncio.wait({self._starting})

    async def _start(self) -> None:
        while self._agents:
            agents, self._agents = self._agents, set()
            try:
                temporal = await self._lazy_temporal.temporal()
                for agent_id in agents:
                    await temporal.start_ingest(tenant_id=self._tenant_id, agent_id=agent_id)
            except MnesticError as error:
                log.warning("extraction is left to a worker", extra={"why": str(error)})
            await self._pause()

    async def _pause(self) -> None:
        try:
            async with asyncio.timeout(_PAUSE_S):
                await self._is_closing.wait()
        except TimeoutError:
            return
