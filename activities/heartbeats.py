"""Heartbeats: a step that takes long tells Temporal that its worker still lives.

So a step of a worker that was killed is begun again within seconds, not once its time is up.
"""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

from temporalio import activity

_OFTEN = 4  # heartbeats within the time after which a worker counts as lost


@asynccontextmanager
async def heartbeats(details: Callable[[], Any] | None = None) -> AsyncIterator[None]:
    """Gives heartbeats for as long as a block, if the activity was asked for any.

    Args:
        details: What the next attempt finds in `activity.info().heartbeat_details`, read at each heartbeat.
    """
    limit = activity.info().heartbeat_timeout
    if not limit:
        yield
        return
    beating = asyncio.create_task(_beat(limit.total_seconds() / _OFTEN, details))
    try:
        yield
    finally:
        beating.cancel()


async def _beat(pause_s: float, details: Callable[[], Any] | None) -> None:
    while True:
        activity.heartbeat(*() if details is None else (details(),))
        await asyncio.sleep(pause_s)
