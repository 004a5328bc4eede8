"""What a process keeps, for tests."""

import asyncio
from collections.abc import Sequence
from typing import Any

import numpy as np

from mnestic.memory.claims import Cardinality
from mnestic.stores.postgres.kept_claims import KeptClaims, Source
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
    kept.claim((session_id, str(one), [("mara", "likes", [0])]) for one in range(number))
    kept.believe([fact(0, "mara", "likes", until=until)])
    return kept


def fact(
    number: int,
    subject: str,
    predicate: str,
    *,
    since: float = 0.0,
    until: float | str = "Infinity",
    cardinality: Cardinality = "multi",
    is_active: bool = True,
    is_dated: bool = False,
    told_by: Sequence[Source] = (),
) -> tuple[Any, ...]:
    """A fact as Postgres tells it."""
    known = (since, until, f"f{number}", cardinality, is_active, is_dated)
    return number, subject, predicate, *known, told_by


async def read_ahead(ahead: ReadingAhead, owner: Owner) -> None:
    """Has the rows of an agent read, and waits for it."""
    ahead.begin(owner)
    assert ahead._working is not None
    await asyncio.wait_for(ahead._working, 30)
    assert not ahead._owners
