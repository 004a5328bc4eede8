"""How long the backend of a schema is waited for, whatever it is, and what is said of one that does not answer."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from mnestic.memory.errors import BackendUnavailableError
from mnestic.memory.jobs.long_term.backends import ANSWER_LIMIT


def name_of(error: Exception) -> str:
    """The name of an error, whose text may hold the address."""
    return type(error).__name__


@asynccontextmanager
async def answer_of(
    backend_id: str, kind: type[Exception], *, describe: Callable[[Exception], str] = name_of
) -> AsyncIterator[float]:
    """Gives the time of the loop until which a backend may answer; the block ends by then.

    Raises:
        BackendUnavailableError: it failed with an error of the kind, or of the system's.
    """
    clock = asyncio.get_running_loop().time
    end = clock() + ANSWER_LIMIT.total_seconds()
    try:
        yield end
    except (kind, OSError) as error:
        late = f"nothing came within {ANSWER_LIMIT.total_seconds():g} s"
        why = late if clock() >= end else describe(error)
        raise BackendUnavailableError(backend_id=backend_id, why=why) from None
