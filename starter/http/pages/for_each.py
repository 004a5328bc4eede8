"""Actions on several things at once: a few at a time, and what fails keeps the others from nothing."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence

from mnestic.memory.errors import MnesticError

MOST_AT_ONCE = 400  # of one action; a form may have a thousand fields, and each job takes two
_CONCURRENT = 8


async def for_each(
    names: Sequence[str], do: Callable[[str], Awaitable[None]]
) -> list[tuple[str, str]]:
    """Does something to each; those that it fails for, each with why."""
    slots = asyncio.Semaphore(_CONCURRENT)

    async def attempt(name: str) -> str | None:
        async with slots:
            try:
                await do(name)
            except MnesticError as error:
                return str(error)
            return None

    problems = await asyncio.gather(*map(attempt, names))
    return [(one, why) for one, why in zip(names, problems, strict=True) if why is not None]
