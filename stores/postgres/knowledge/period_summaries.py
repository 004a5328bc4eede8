"""The summaries of large memories by time in Postgres. `SummaryClearing` clears them when a message changes."""

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
from mnestic.stores.postgres.queries import NamedQuery, read_query
from mnestic.stores.postgres.stored import read_stored
from mnestic.stores.postgres.unit_of_work import UnitOfWork

_ALWAYS = {"first": "-infinity", "last": "infinity"}
_COUNT_MESSAGES = NamedQuery.of("""
SELECT (SELECT count(*) FROM (
            SELECT FROM mnestic.entry
             WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s AND kind = 'message'
             LIMIT CAST(%(limit)s AS bigint)) AS live)
     + (SELECT count(*) FROM (
            SELECT FROM mnestic.archived_entry
             WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s LIMIT CAST(%(limit)s AS bigint)) AS archived) AS messages
""")
_SESSIONS = NamedQuery.of("""
SELECT name FROM (
    (SELECT DISTINCT session_id AS name FROM mnestic.entry
      WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s AND session_id > %(after)s
      ORDER BY session_id LIMIT CAST(%(limit)s AS integer))
     UNION
    (SELECT DISTINCT session_id FROM mnestic.archived_entry
      WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s AND session_id > %(after)s
      ORDER BY session_id LIMIT CAST(%(limit)s AS integer))
     UNION
    (SELECT DISTINCT session_id FROM mnestic.summary
      WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s AND level = 'session' AND session_id > %(after)s
      ORDER BY session_id LIMIT CAST(%(limit)s AS integer))) AS known
 ORDER BY name LIMIT CAST(%(limit)s AS integer)
""")
_CHANGED_SESSIONS, _CHANGED_PERIODS = read_query("changed_sessions"), read_query("changed_periods")
_MESSAGES = read_query("summary_messages")
_BELOW = NamedQuery.of("""
SELECT starts_at AS at, session_id AS key, text, session_id || ':' || digest AS mark
  FROM mnestic.summary
 WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s AND level = %(below)s
   AND starts_at >= CAST(%(first)s AS timestamptz) AND starts_at < CAST(%(last)s AS timestamptz)
   AND (starts_at, session_id COLLATE "C") > (CAST(%(after_at)s AS timestamptz), %(after_key)s)
 ORDER BY starts_at, session_id COLLATE "C" LIMIT CAST(%(limit)s AS integer)
""")
# The life is one, whenever it begins.
_REMOVE = NamedQuery.of("""
DELETE FROM mnestic.summary
 WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s AND level = %(level)s
   AND (level = 'life' OR starts_at = CAST(%(starts_at)s AS timestamptz) AND session_id = %(session_id)s)
""")
_REMOVE_ABOVE = NamedQuery.of("""
DELETE FROM mnestic.summary
 WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s AND level = ANY(CAST(%(above)s AS text[]))
   AND starts_at <= CAST(%(starts_at)s AS timestamptz) AND ends_at > CAST(%(starts_at)s AS timestamptz)
""")
_ADD = NamedQuery.of("""
INSERT INTO mnestic.summary (tenant_id, agent_id, level, starts_at, session_id, ends_at, text, tokens, messages, digest, updated_at)
VALUES (%(tenant_id)s, %(agent_id)s, %(level)s, CAST(%(starts_at)s AS timestamptz), %(session_id)s,
        CAST(%(ends_at)s AS timestamptz), %(text)s, CAST(%(tokens)s AS integer), CAST(%(messages)s AS bigint), %(digest)s,
        CAST(%(at)s AS timestamptz))
""")
_COUNT_BUILT = NamedQuery.of("""
SELECT count(*) AS built FROM mnestic.summary
 WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s AND updated_at = CAST(%(at)s AS timestamptz)
""")
_REMOVE_ALL = NamedQuery.of("""
WITH removed AS (
    DELETE FROM mnestic.summary WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s RETURNING 1
)
SELECT count(*) AS removed FROM removed
""")
_LIST = NamedQuery.of("""
SELECT level, starts_at, ends_at, session_id, text, tokens, messages, updated_at
  FROM (SELECT *, array_position(CAST(%(levels)s AS text[]), level) AS place FROM mnestic.summary
         WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s AND level = ANY(CAST(%(levels)s AS text[]))) AS s
 WHERE CAST(%(after_place)s AS integer) IS NULL
    OR place > CAST(%(after_place)s AS integer)
    OR place = CAST(%(after_place)s AS integer)
       AND (starts_at, session_id) < (CAST(%(after_at)s AS timestamptz), CAST(%(after_session)s AS text))
 ORDER BY place, starts_at DESC, session_id DESC LIMIT CAST(%(limit)s AS integer)
""")
_FIND = read_query("find_summaries")


class PostgresPeriodSummaryStore:
    """Implements `mnestic.memory.knowledge.world.period_summaries.PeriodSummaryStore`."""

    def __init__(self, unit: UnitOfWork) -> None:
        self._unit = unit

    async def count_messages(self, *, at_most: int) -> int:
        """See the port."""
        ((row,),) = await self._run(_COUNT_MESSAGES, limit=at_most)
        return min(int(row.messages), at_most)

    async def list_sessions(self, after: str, *, limit: int) -> tuple[str, ...]:
        """See the port."""
        (rows,) = await self._run(_SESSIONS, after=after, limit=check_limit(limit))
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
            (rows,) = await self._run(_MESSAGES, sessions=[node.session_id], as_of=None, **values)
        else:
            (rows,) = await self._run(_BELOW, below=_below(node.level), **values)
        return tuple(SummaryPart(row.at, row.key, row.text, row.mark) for row in rows)

    async def put(self, node: SummaryNode, text: str, *, tokens: int, at: datetime) -> bool:
        """See the port."""
        await self._run(ADD_CORPUS)
        await self._run(LOCK_CORPUS)  # who changes a message or a fact holds it too
        if node.level == "session":
            changed = await self._changed_sessions([node.session_id], **_bounds(node))
        else:
            changed = await self._changed_periods(node.level, **_bounds(node))
        if node not in changed:
            return False
        values = {**node._asdict(), "text": text, "tokens": tokens, "at": at}
        await self._run(_REMOVE, **values)
        if node.messages:
            await self._run(_ADD, **values)
        else:
            above = LEVELS[LEVELS.index(node.level) + 1 :]
            await self._run(_REMOVE_ABOVE, **values, above=[*above])
        self._unit.wrote("summary.put", name_of(node.level, node.starts_at, node.session_id))
        return True

    async def count_built(self, at: datetime) -> int:
        """See the port."""
        ((row,),) = await self._run(_COUNT_BUILT, at=at)
        return int(row.built)

    async def remove_all(self) -> int:
        """See the port."""
        ((row,),) = await self._run(_REMOVE_ALL)
        if row.removed:
            self._unit.wrote("summary.remove", f"{row.removed} summaries")
        return int(row.removed)

    async def list_summaries(
        self, level: SummaryLevel | None = None, *, limit: int = 100, cursor: str | None = None
    ) -> tuple[tuple[PeriodSummary, ...], str | None]:
        """See the port."""
        levels = [*reversed(LEVELS)] if level is None else [level]
        (rows,) = await self._run(
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
        (rows,) = await self._run(_FIND, **values)
        self._unit.read("summary.find", search.level)
        return tuple(map(_summary, rows))

    async def _changed_sessions(
        self, sessions: Sequence[str], **bounds: Any
    ) -> tuple[SummaryNode, ...]:
        (rows,) = await self._run(_CHANGED_SESSIONS, sessions=[*sessions], as_of=None, **bounds)
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
        (rows,) = await self._run(_CHANGED_PERIODS, level=level, below=_below(level), **bounds)
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

    async def _run(self, query: NamedQuery, **values: Any) -> Sequence[Sequence[Any]]:
        return await self._unit.rows_of(query.bind({**self._unit.owner, **values}))


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
