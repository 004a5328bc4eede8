"""Work on texts, such as finding their words and dates: on long ones it is done in a thread, while a server answers others.

Messages are described as they are received, and again as they are indexed.
"""

import asyncio
from collections.abc import Callable, Iterable
from typing import TypeVar

Result = TypeVar("Result")
_LONG = 50_000  # characters, which take some tens of milliseconds


async def work_on(texts: Iterable[str], work: Callable[[], Result]) -> Result:
    """The result of work on texts."""
    return await asyncio.to_thread(work) if sum(map(len, texts)) > _LONG else work()
