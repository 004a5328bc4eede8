"""What a process keeps, for tests."""

import asyncio

import numpy as np

from mnestic.stores.postgres.kept_claims import KeptClaims
from mnestic.stores.postgres.kept_vectors import KeptVectors
from mnestic.stores.postgres.reading_ahead import ReadingAhead
from mnestic.stores.postgres.unit import Owner


def whole(dimensions: int) -> KeptVectors:
    """Vectors of a memory that has none yet, all of which have been read."""
    held = KeptVectors(dimensions)
    none = np.zeros(0, np.int64), np.zeros((0, dimensions), np.float16)
    held.complete(None, none, bare=())
    return held


def claimed(number: int, until: float = 1.0, session_id: str = "s") -> KeptClaims:
    """So many messages of a session, each of which claimed what Mara likes."""
    kept = KeptClaims()
    kept.claim((session_id, str(one), [("mara", "likes", until)]) for one in range(number))
    return kept


async def read_ahead(ahead: ReadingAhead, owner: Owner) -> None:
    """Has the rows of an agent read, and waits for it."""
    ahead.begin(owner)
    assert ahead._working is not None
    await asyncio.wait_for(ahead._working, 30)
    assert not ahead._owners
