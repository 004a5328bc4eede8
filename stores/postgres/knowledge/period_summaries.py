"""The summaries of large memories by time in Postgres. `DerivedEntries` clears them when a message changes."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from mnestic.memory.knowledge.world.period_summaries import (
    LEVELS,
    PeriodSummary,
    SummaryLevel,
    SummaryNode,
    SummaryPart,
    SummarySearch,
    end_of,
    name_of,
)
from mnestic.stores.postgres.cursors import check_limit, decode_cursor, encode_cursor, read_instant
from mnestic.stores.postgres.knowledge.derived_entries import ADD_CORPUS, LOCK_CORPUS
from mnestic.stores.postgres.queries import read_query
from mnestic.stores.postgres.stored import read_stored
from mnestic.stores.postgres.unit_of_work import UnitOfWork

_ALWAYS = {"first": "-infinity", "last": "infinity"}
_COUNT_MESSAGES = read_query("period_summaries.count_messages")
_COUNT_BUILT = read_query("period_summaries.count_built")
_LIST_SESSIONS = read_query("period_summaries.list_sessions")
_CHANGED_SESSIONS, _CHANGED_PERIODS = read_query("changed_sessions"), read_query("changed_periods")
_MESSAGES, _BELOW = read_query("summary_messages"), read_query("period_summaries.list_below")
_ADD, _REMOVE = read_query("period_summaries.add"), read_query("period_summaries.remove")
_REMOVE_ABOVE = read_query("period_summaries.remove_above")
_REMOVE_ALL = read_query("period_summaries.remove_all")
_LIST, _FIND = read_query("period_summaries.list"), read_query("find_summaries")


class PostgresPeriodSummaryStore:
    """Implements `mnestic.memory.knowledge.world.period_summaries.PeriodSummaryStore`."""

    def __init__(self, unit: UnitOfWork) -> None:
        self._unit = unit

    async def count_messages(self, *, at_most: int) -> int:
        """See the port."""
        (row,) = await self._unit.fetch(_COUNT_MESSAGES, limit=at_most)
        return min(int(row.messages), at_most)

    async def list_sessions(self, after: str, *, limit: int) -> tuple[str, ...]:
        """See the port."""
        rows = await self._unit.fetch(_LIST_SESSIONS, after=after, limit=check_limit(limit))
        return tuple(row.name for row in rows)

    async def list_changed_sessions(self, sessions: Sequence[str]) -> tuple[SummaryNode, ...]:
        """See the port."""
        return await self._changed_sessions(sessions, **_ALWAYS)

    async def list_changed_periods(self, level: SummaryLevel) -> tuple[SummaryNode, ...]:
        """See the port."""
        return await self._changed_periods(level, **_ALWAYS)

    async def read_parts(
        self, node: SummaryNode, *, after: SummaryPart | None, limit: int
    ) -> tuple[SummaryPart, ...]:
        """See the port."""
        values = {
            **_bounds(node),
            "after_at": "-infinity" if after is None else after.at,
            "after_key": "" if after is None else after.key,
            "limit": limit,
        }
        if node.level == "session":
            rows = await self._unit.fetch(
                _MESSAGES, sessions=[node.session_id], as_of=None, **values
            )
        else:
            rows = await self._unit.fetch(_BELOW, below=_below(node.level), **values)
        return tuple(SummaryPart(row.at, row.key, row.text, row.mark) for row in rows)

    async def put(
        self, node: SummaryNode, text: str, *, tokens: int, at: datetime, is_left: bool = False
    ) -> bool:
        """See the port."""
        await self._unit.write(ADD_CORPUS)
        await self._unit.write(LOCK_CORPUS)  # who changes a message or a fact holds it too
        if node.level == "session":
            changed = await self._changed_sessions([node.session_id], **_bounds(node))
        else:
            changed = await self._changed_periods(node.level, **_bounds(node))
        if node not in changed:
            return False
        values = {**node._asdict(), "text": text, "tokens": tokens, "at": at}
        if is_left:  # no parts have this digest, so the next run builds it again
            values["digest"] = f"left:{node.digest}"
        await self._unit.write(_REMOVE, **values)
        if node.messages:
            await self._unit.write(_ADD, **values)
        else:
            above = LEVELS[LEVELS.index(node.level) + 1 :]
            await self._unit.write(_REMOVE_ABOVE, **values, above=[*above])
        self._unit.wrote("summary.put", name_of(node.level, node.starts_at, node.session_id))
        return True

    async def count_built(self, at: datetime) -> int:
        """See the port."""
        (row,) = await self._unit.fetch(_COUNT_BUILT, at=at)
        return int(row.built)

    async def remove_all(self) -> int:
        """See the port."""
        removed = await self._unit.write(_REMOVE_ALL)
        if removed:
            self._unit.wrote("summary.remove", f"{removed} summaries")
        return removed

    async def list_summaries(
        self, level: SummaryLevel | None = None, *, limit: int = 100, cursor: str | None = None
    ) -> tuple[tuple[PeriodSummary, ...], str | None]:
        """See the port."""
        levels = [*reversed(LEVELS)] if level is None else [level]
        rows = await self._unit.fetch(
            _LIST, levels=levels, limit=check_limit(limit) + 1, **_after(cursor, levels)
        )
        self._unit.read("summary.list", level or "*")
        found = tuple(map(_summary, rows[:limit]))
        if len(rows) <= limit:
            return found, None
        last = found[-1]
        return found, encode_cursor(last.level, last.starts_at.isoformat(), last.session_id or "")

    async def find(self, search: SummarySearch) -> tuple[PeriodSummary, ...]:
        """See the port."""
        values = search._asdict() | {"sessions": [*search.sessions]}
        rows = await self._unit.fetch(_FIND, **values)
        self._unit.read("summary.find", search.level)
        return tuple(map(_summary, rows))

    async def _changed_sessions(
        self, sessions: Sequence[str], **bounds: Any
    ) -> tuple[SummaryNode, ...]:
        rows = await self._unit.fetch(_CHANGED_SESSIONS, sessions=[*sessions], as_of=None, **bounds)
        return tuple(
            SummaryNode(
                "session",
                row.session_id,
                row.starts_at.astimezone(UTC),
                end_of("session", row.starts_at.astimezone(UTC)),
                row.messages,
                row.digest,
            )
            for row in rows
        )

    async def _changed_periods(self, level: SummaryLevel, **bounds: Any) -> tuple[SummaryNode, ...]:
        rows = await self._unit.fetch(_CHANGED_PERIODS, level=level, below=_below(level), **bounds)
        nodes = []
        for row in rows:
            starts_at = row.starts_at.astimezone(UTC)
            ends_at = row.ends_at if level == "life" else end_of(level, starts_at)
            nodes.append(
                SummaryNode(
                    level, "", starts_at, ends_at.astimezone(UTC), int(row.messages), row.digest
                )
            )
        return tuple(nodes)


def _after(cursor: str | None, levels: Sequence[str]) -> dict[str, Any]:
    """Where a page begins; after all of them if the cursor is of a list of another level."""
    if cursor is None:
        return {"after_place": None, "after_at": None, "after_session": None}
    level, moment, session_id = decode_cursor(cursor, parts=3)
    place = levels.index(level) + 1 if level in levels else len(levels) + 1
    return {
        "after_place": place,
        "after_at": read_instant(moment),
        "after_session": session_id,
    }


def _below(level: SummaryLevel) -> SummaryLevel:
    return LEVELS[LEVELS.index(level) - 1]


def _bounds(node: SummaryNode) -> dict[str, Any]:
    """The interval of what a summary is made of; the life is of all."""
    return _ALWAYS if node.level == "life" else {"first": node.starts_at, "last": node.ends_at}


def _summary(row: Any) -> PeriodSummary:
    columns = row._asdict()
    if row.level != "session":
        columns["session_id"] = None
    return read_stored(PeriodSummary, columns, what=f"summary of {row.level} {row.starts_at}")
