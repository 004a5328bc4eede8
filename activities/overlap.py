"""Work of this process while somebody else works for it."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, TypeVar

Told = TypeVar("Told")
Done = TypeVar("Done")
_TURNS = 2  # of the event loop, until it is sent: psycopg gives others one before that


async def meanwhile(
    asked: Coroutine[Any, Any, Told], work: Callable[[], Done]
) -> tuple[Told, Done]:
    """What is asked of Postgres or a server, and what is worked out here until it answers.

    Raises:
        Exception: as either does; if the work fails, or who asks gives up, what was asked is cancelled first.
    """

    async def worked_out() -> Done:
        return work()

    return await alongside(asked, worked_out)


async def alongside(
    asked: Coroutine[Any, Any, Told], work: Callable[[], Awaitable[Done]]
) -> tuple[Told, Done]:
    """As `meanwhile`, where the work may have to wait for somebody else as well."""
    asking = asyncio.create_task(asked)
    try:
        for _ in range(_TURNS):
            await asyncio.sleep(0)
        done = await work()
    except BaseException:
        asking.cancel()
        await asyncio.gather(asking, return_exceptions=True)
        raise
    return await asking, done
