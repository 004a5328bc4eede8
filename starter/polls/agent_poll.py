"""A worker's look at the memory of its tenants: what agents wait for is started, at once and again and again.

It is what makes such work certain: who writes memory may start it at once, but may have no Temporal, or lose it.
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from datetime import timedelta
from typing import Any

from temporalio.service import RPCError, RPCStatusCode

from mnestic.memory.agents import WaitingAgent
from mnestic.memory.error_texts import describe_error

List = Callable[[], Awaitable[Sequence[WaitingAgent]]]
Rest = Callable[[float], Awaitable[Any]]
Start = Callable[[WaitingAgent], Awaitable[Any]]


@asynccontextmanager
async def agent_poll(
    list_agents: List,
    start: Start,
    *,
    what: str,
    every: timedelta,
    rest: Rest = asyncio.sleep,
) -> AsyncIterator[None]:
    """Starts work for agents that wait for it, for as long as a block.

    Args:
        list_agents: Which they are.
        start: Starts the work of one; what runs already is left alone.
        what: The work, for the log.
        every: How long it rests between two looks.
        rest: Rests for so many seconds, or until there is something to do.
    """
    log = logging.getLogger(f"mnestic.{what}")

    async def poll() -> None:
        while True:
            try:
                for waiting in await list_agents():
                    await _start(start, waiting, what=what, log=log)
                await rest(every.total_seconds())
            except Exception as error:  # noqa: BLE001 - whatever it was, the next look may succeed
                log.warning("%s is not started yet", what, extra={"why": describe_error(error)})
                await asyncio.sleep(every.total_seconds())

    polling = asyncio.create_task(poll())
    try:
        yield
    finally:
        polling.cancel()
        with suppress(asyncio.CancelledError):
            await polling


async def _start(start: Start, waiting: WaitingAgent, *, what: str, log: logging.Logger) -> None:
    """Starts the work of an agent; one that Temporal refuses keeps no other from being started.

    Raises:
        RPCError: Temporal does not answer.
    """
    try:
        await start(waiting)
    except RPCError as error:
        if error.status is not RPCStatusCode.INVALID_ARGUMENT:
            raise
        log.warning(
            "%s is refused",
            what,
            extra={**waiting._asdict(), "why": describe_error(error)},
        )
