"""Heartbeats: a step that takes long tells Temporal that its worker still lives.

So a step of a worker that was killed is begun again within seconds, not once its time is up.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from temporalio import activity

_OFTEN = 4  # heartbeats within the time after which a worker counts as lost


@asynccontextmanager
async def heartbeats() -> AsyncIterator[None]:
    """Gives heartbeats for as long as a block, if the activity was asked for any."""
    limit = activity.info().heartbeat_timeout
    if not limit:
        yield
        return
    beating = asyncio.create_task(_beat(limit.total_seconds() / _OFTEN))
    try:
        yield
    finally:
        beating.cancel()


async def _beat(pause_s: float) -> None:
    while True:
        activity.heartbeat()
        await asyncio.sleep(pause_s)
