"""Access counts: how often entries were retrieved, counted in the process and written in batches.

No query waits for them: a count that is late, or lost with the process, does no harm.
"""

import asyncio
import logging
from collections import Counter
from collections.abc import Callable, Collection, Mapping
from contextlib import AbstractAsyncContextManager, suppress
from datetime import timedelta

from mnestic.memory.error_texts import describe_error
from mnestic.memory.errors import UnavailableError
from mnestic.memory.ports import Transaction
from mnestic.stores.postgres.queries import read_query
from mnestic.stores.postgres.unit_of_work import Owner, UnitOfWork

Begin = Callable[[Owner], AbstractAsyncContextManager[Transaction]]
_DELAY = timedelta(seconds=1)
_CLOSING = timedelta(seconds=5)
_MANY = 1000  # entries that do not wait any longer
_COUNT_FREE, _COUNT_ALL = read_query("accesses.count_free"), read_query("accesses.count_all")
_COUNT_ARCHIVED = read_query("accesses.count_archived")
log = logging.getLogger("mnestic.accesses")


class AccessCounts:
    """The accesses of one process that are not written yet."""

    def __init__(
        self, begin: Begin, *, delay: timedelta = _DELAY, closing: timedelta = _CLOSING
    ) -> None:
        """Prepares the counts.

        Args:
            begin: Begins a transaction of an agent.
            delay: How long counts wait for others.
            closing: How long `close` may take.
        """
        self._begin, self._delay, self._closing = begin, delay, closing
        self._pending: dict[Owner, Counter[str]] = {}
        self._hurry, self._closes = asyncio.Event(), False
        self._writing: asyncio.Task[None] | None = None

    def add(self, owner: Owner, entry_ids: Collection[str]) -> None:
        """Counts entries once each; returns at once."""
        if not entry_ids:
            return
        self._pending.setdefault(owner, Counter()).update(entry_ids)
        if sum(map(len, self._pending.values())) >= _MANY:
            self._hurry.set()
        if self._writing is None or self._writing.done():
            self._writing = asyncio.create_task(self._write_soon())

    async def close(self) -> None:
        """Writes what is pending; what cannot be written in time is dropped, and logged."""
        self._closes = True
        self._hurry.set()
        try:
            async with asyncio.timeout(self._closing.total_seconds()):
                if self._writing is not None:
                    await self._writing
                await self._write(wait=True)
        except TimeoutError:
            log.warning("accesses are given up", extra={"entries": self._number})

    @property
    def _number(self) -> int:
        return sum(map(len, self._pending.values()))

    async def _write_soon(self) -> None:
        """Writes until nothing is pending or a write fails."""
        while self._pending and not self._closes:
            with suppress(TimeoutError):
                async with asyncio.timeout(self._delay.total_seconds()):
                    await self._hurry.wait()
            self._hurry.clear()
            if not await self._write():
                return  # the next access tries again

    async def _write(self, *, wait: bool = False) -> bool:
        """Writes what is pending, and puts back what could not be written; returns whether nothing failed.

        A failure for one agent does not stop the writes for others, unless the database is down.
        """
        pending, self._pending = self._pending, {}
        written = True
        try:
            for owner in tuple(pending):
                try:
                    await self._write_of(owner, pending[owner], wait=wait)
                except Exception as error:  # noqa: BLE001 - there is no caller to raise to
                    written = False
                    log.warning(
                        "accesses are not counted yet", extra={"why": describe_error(error)}
                    )
                    if isinstance(error, UnavailableError):
                        break
        finally:
            for owner, counts in pending.items():
                self._put_back(owner, counts)
        return written

    async def _write_of(self, owner: Owner, counts: Counter[str], *, wait: bool) -> None:
        """Writes the counts of an agent, and removes the written ones.

        A locked entry is left for the next time. With `wait`, locked entries are waited for one at a time, since a
        transaction that waits for one and has locked another could cause a deadlock.
        """
        locked = await self._count(owner, counts)
        for name in counts.keys() - locked:
            del counts[name]
        for name in sorted(locked) if wait else ():
            await self._count(owner, {name: counts[name]}, wait=True)
            del counts[name]

    async def _count(
        self, owner: Owner, counts: Mapping[str, int], *, wait: bool = False
    ) -> frozenset[str]:
        async with self._begin(owner) as transaction:
            return await transaction.accesses.count(counts, wait=wait)

    def _put_back(self, owner: Owner, counts: Counter[str]) -> None:
        if counts:
            self._pending.setdefault(owner, Counter()).update(counts)


class PostgresAccessStore:
    """Implements `mnestic.memory.knowledge.ports.AccessStore`."""

    def __init__(self, unit: UnitOfWork) -> None:
        self._unit = unit

    async def count(self, counts: Mapping[str, int], *, wait: bool = False) -> frozenset[str]:
        """See the port.

        For the audit log it is a read: memory stays as it was, and so does its revision.
        """
        (counted,) = await self._unit.fetch(
            _COUNT_ALL if wait else _COUNT_FREE, ids=list(counts), numbers=list(counts.values())
        )
        if counted.ids:
            self._unit.read("entry.access", f"{len(counted.ids)} entries")
        if not (left := sorted(counts.keys() - (counted.ids or ()))):
            return frozenset()
        numbers = [counts[name] for name in left]
        locked = await self._unit.fetch(_COUNT_ARCHIVED, ids=left, numbers=numbers)
        return frozenset(row.id for row in locked)
