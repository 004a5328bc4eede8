"""Vectors of entries in Postgres, and which entries have none yet.

They are stored per model, and written later.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from mnestic.stores.postgres.queries import read_query
from mnestic.stores.postgres.reals import reals_of
from mnestic.stores.postgres.unit_of_work import Statements

# Below, looking at all vectors is as fast, and always right. See docs/decisions/0007.
INDEXED_FROM = 5000
EF_SEARCH = 120  # chosen by the recall of the whole search among 100,000 entries
_ACTIVE, _COUNT_MISSING = read_query("vectors.active_model"), read_query("vectors.count_missing")
_LIST_MISSING, _LIST_ZERO = read_query("vectors.list_missing"), read_query("vectors.list_zero")
_KEEP, _FORGET = read_query("vectors.keep"), read_query("vectors.forget")


class Vectors:
    """The vectors of an agent's entries."""

    def __init__(self, unit: Statements) -> None:
        self._unit = unit

    async def active_model(self) -> str | None:
        """The model whose vectors searches compare."""
        row = await self._unit.fetch_one(_ACTIVE)
        return None if row is None else row.active_model

    async def missing(self, model: str, *, limit: int) -> Sequence[Any]:
        """Entries, as far as embedding needs them, that have no vector of a model, the oldest first.

        Those up to `complete_to` come last, and are looked at only if those above it are not all that
        have none: they were committed late, or have changed.
        """
        known = await self._unit.fetch_one(_COUNT_MISSING, model=model)
        if known is None or not known.missing:
            return ()
        wanted = min(limit, known.missing)
        after = known.complete_to
        found = await self._unit.fetch(_LIST_MISSING, model=model, after=after, limit=wanted)
        if len(found) == wanted:
            return found
        return await self._unit.fetch(_LIST_MISSING, model=model, after=0, limit=wanted)

    async def zero(self, model: str, *, limit: int) -> Sequence[Any]:
        """Entries whose vector of a model is 0, the oldest first; all vectors of the agent are looked at."""
        return await self._unit.fetch(_LIST_ZERO, model=model, limit=limit)

    async def keep(self, model: str, vectors: Mapping[int, bytes]) -> int:
        """Keeps vectors by the numbers of their entries, but none where one is; returns how many."""
        numbers = sorted(vectors)
        (row,) = await self._unit.fetch(
            _KEEP,
            model=model,
            numbers=numbers,
            complete_to=numbers[-1],
            **reals_of([vectors[number] for number in numbers]),
        )
        return int(row.stored)

    async def forget(self, numbers: Sequence[int], *, empty: bool = False) -> None:
        """Removes the vectors of entries, whatever the model; or the vectors 0 alone."""
        await self._unit.fetch(_FORGET, numbers=list(numbers), empty=empty or None)
