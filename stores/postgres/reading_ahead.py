"""Reading ahead: the rows of all of an agent's entries, once questions have had to read many of them.

It stands alone as no question needs it: what it reads is kept like what questions have read, and spares later ones a
round trip, and what they would work out of each. Where entries are is known of all or of none, so those that have come or changed are read again.
"""

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Callable, Collection, Iterable, Mapping, Sequence
from typing import Any, TypeVar

from pydantic_core import from_json
from sqlalchemy import TextClause, text
from sqlalchemy.ext.asyncio import AsyncEngine

from mnestic.memory.error_texts import describe_error
from mnestic.memory.retrieval_ports import Prepare
from mnestic.stores.postgres.candidates import (
    COLUMNS_BESIDE,
    SMALL,
    STORED_COLUMN,
    EntryLine,
    line_of,
)
from mnestic.stores.postgres.connections import Asked, array_of, read_together
from mnestic.stores.postgres.fresh_entries import COUNT
from mnestic.stores.postgres.holding import ALL_CLAIMS
from mnestic.stores.postgres.kept import Kept
from mnestic.stores.postgres.kept_claims import KeptClaims
from mnestic.stores.postgres.kept_places import PLACE_COLUMNS, place_of
from mnestic.stores.postgres.kept_words import KeptWords
from mnestic.stores.postgres.known_words import ALL_WORDS
from mnestic.stores.postgres.opening import opening
from mnestic.stores.postgres.reading import Reading
from mnestic.stores.postgres.unit import Owner

_PIECE = 100  # rows that are read at once
_TURN = 0.002  # seconds of work before others have their turn
_TRIES = 5  # at a piece, while others write
_NEWEST = 2**63 - 1
# No content that is not kept; a character has four bytes at most.
_ROWS = f"""
SELECT {COLUMNS_BESIDE}, {PLACE_COLUMNS}, {STORED_COLUMN}, CASE WHEN octet_length(e.content) <= {4 * SMALL} THEN e.content END AS content
  FROM mnestic.entry AS e
 WHERE e.tenant_id = :tenant_id AND e.agent_id = :agent_id"""  # noqa: S608 - constants of this module
_NEXT = text(f"{_ROWS} AND e.number < :before ORDER BY e.number DESC LIMIT {_PIECE}")
_THESE = text(f"{_ROWS} AND e.number = ANY(CAST(:numbers AS bigint[]))")
Item = TypeVar("Item")
_Takes = Mapping[str, Callable[[Any], None]]  # what takes a piece of each kind
log = logging.getLogger("mnestic.caches")


class ReadingAhead:
    """Reads the rows of agents' entries, one agent after the other, the newest first, while there is place for them.

    Of an agent whose entries have all been read, those that have come or changed since are read alone.
    """

    def __init__(self, engine: AsyncEngine, kept: Kept) -> None:
        """Prepares it.

        Args:
            engine: Where they are read.
            kept: Where they are kept.
        """
        self._engine, self._kept = engine, kept
        self._owners: dict[Owner, Prepare | None] = {}
        self._closes = False
        self._working: asyncio.Task[None] | None = None

    def begin(self, owner: Owner, prepare: Prepare | None = None) -> None:
        """Has those of one more agent read; returns at once.

        Args:
            owner: The agent.
            prepare: Is told the words of each entry.
        """
        if self._closes:
            return
        self._owners[owner] = prepare
        if self._working is None or self._working.done():
            self._working = asyncio.create_task(self._work())

    async def close(self) -> None:
        """Reads no more."""
        self._closes = True
        if self._working is not None:
            self._working.cancel()
            await asyncio.gather(self._working, return_exceptions=True)

    async def _work(self) -> None:
        while self._owners:
            owner = next(iter(self._owners))
            try:
                if not (self._kept.unseen(owner) or self._kept.lacks_some(owner)):
                    await self._read_all(owner)
                # a question that comes meanwhile does not begin another run
                for _ in range(_TRIES):
                    if unseen := self._kept.unseen(owner):
                        await self._see(owner, unseen)
                await self._claim(owner)
                await self._know_words(owner)
            except Exception as error:  # noqa: BLE001 - nobody else is there to be told; questions tell who asks
                log.warning("entries are not read ahead", extra={"why": describe_error(error)})
            finally:
                del self._owners[owner]

    async def _read_all(self, owner: Owner) -> None:
        """Reads all entries of an agent, and tells what its sessions say."""
        if (reading := await self._read(owner)) is not None:
            async for _ in _in_turns(reading.tell_sessions()):
                pass

    async def _read(self, owner: Owner) -> Reading | None:
        """Reads those of an agent, until nothing is left; None where there is no place, or what has changed is not heard of."""
        before, tries = _NEWEST, 0
        first: Reading | None = None
        try:
            while tries < _TRIES:
                reading, rows = await self._rows_of(owner, (_NEXT, {"before": before}))
                if first is None and reading.is_current:
                    first = reading
                    reading.begin_places()  # which hear of changes from now on
                lines = await _lines_of(reading, rows, self._owners[owner])
                if not reading.is_current:
                    tries += 1
                    continue
                if first is None or reading.generation != first.generation:
                    break
                if not reading.keep_ahead(lines):
                    break
                reading.place(map(place_of, rows), is_last=len(rows) < _PIECE)
                if len(rows) < _PIECE:
                    return reading
                before, tries = rows[-1].number, 0
        finally:
            if first is not None:
                first.end_places()
        return None

    async def _see(self, owner: Owner, unseen: Collection[int]) -> None:
        """Reads those of which it is not known where they are; if others change meanwhile, the next question has it done."""
        reading, rows = await self._rows_of(owner, (_THESE, {"numbers": array_of(unseen)}))
        reading.keep_ahead(await _lines_of(reading, rows, self._owners[owner]))
        reading.see(unseen, map(place_of, rows))

    async def _claim(self, owner: Owner) -> None:
        """Reads what was claimed, where all else is known."""
        if not self._kept.begin_claims(owner):
            return
        known = KeptClaims()
        take: _Takes = {"claims": known.claim, "facts": known.believe, "names": known.name}
        (await self._take(owner, ALL_CLAIMS, take)).keep_claims(known)

    async def _know_words(self, owner: Owner) -> None:
        """Reads which names and words there are, where all else is known."""
        if not self._kept.begin_words(owner):
            return
        known = KeptWords()
        take: _Takes = {"entries": known.enter, "names": known.name, "words": known.post}
        (await self._take(owner, ALL_WORDS, take)).keep_words(known)

    async def _take(self, owner: Owner, statement: TextClause, take: _Takes) -> Reading:
        """Reads what a statement tells in pieces of JSON, each taken by its kind; returns the right to keep it."""
        reading, pieces = await self._rows_of(owner, (statement, {}))
        async for piece in _in_turns(pieces):
            take[piece.kind](from_json(piece.told))
        return reading

    async def _rows_of(self, owner: Owner, asked: Asked) -> tuple[Reading, Sequence[Any]]:
        """Rows, and the right to keep them: to the count of changes that was read before they were."""
        tenant_id, agent_id = owner
        values = {"tenant_id": tenant_id, "agent_id": agent_id}
        statement, more = asked
        async with self._engine.connect() as connection:
            (moment,), rows = await read_together(
                connection,
                [(COUNT, values), (statement, {**values, **more})],
                opening=opening(tenant_id, write=False),
            )
        return self._kept.reading(owner, moment.knowledge), rows


async def _lines_of(
    reading: Reading, rows: Sequence[Any], prepare: Prepare | None
) -> list[EntryLine]:
    """Lines of those rows that are worth keeping and not kept whole yet; those that are prepared as well."""
    found = [row for row in rows if row.content is not None]
    held, lines = reading.held(row.number for row in found), []
    async for row in _in_turns(found):
        line = held.get(row.number)
        if line is None or line.stored is None:  # a question has read that one
            lines.append(line := line_of(row))
            line.stored = row.stored
        line.prepare()
        if prepare is not None and (terms := line.terms()):
            prepare(terms)
    return lines


async def _in_turns(items: Iterable[Item]) -> AsyncIterator[Item]:
    """Each of them, between which others have their turn."""
    began = time.monotonic()
    for item in items:
        yield item
        if time.monotonic() - began > _TURN:
            await asyncio.sleep(0)  # no wait, and for no time
            began = time.monotonic()
