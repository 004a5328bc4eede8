"""Episodes in Postgres, newest first."""

from typing import Any

from sqlalchemy import bindparam, select, tuple_
from sqlalchemy.dialects.postgresql import insert

from mnestic.memory.canonical import check_json
from mnestic.memory.errors import AlreadyExistsError, InvalidInputError
from mnestic.memory.jobs.episodes import Episode
from mnestic.stores.postgres.cursors import check_limit, decode_time_cursor, encode_cursor
from mnestic.stores.postgres.knowledge.derived_entries import DerivedEntries
from mnestic.stores.postgres.tables import EpisodeRow, table
from mnestic.stores.postgres.unit_of_work import UnitOfWork, is_owned

EPISODE = table(EpisodeRow)
Page = tuple[tuple[Episode, ...], str | None]

# Built once: building a statement takes as long as running a small one.
_APPEND = insert(EPISODE).on_conflict_do_nothing()
_LIST = (
    select(*EPISODE.c)
    .where(is_owned(EPISODE))
    .order_by(EPISODE.c.created_at.desc(), EPISODE.c.id.desc())
    .limit(bindparam("at_most"))
)


class PostgresEpisodeStore:
    """Implements `mnestic.memory.ports.EpisodeStore`."""

    def __init__(self, unit: UnitOfWork, derived: DerivedEntries) -> None:
        self._unit, self._derived = unit, derived

    async def append(self, episode: Episode) -> Episode:
        """See the port."""
        if episode.agent_id != self._unit.agent_id:
            raise InvalidInputError(
                what=f"episode {episode.id}", why=f"is of another agent, {episode.agent_id}"
            )
        values = {**self._unit.owner, **episode.model_dump()}
        check_json([episode.summary, episode.payload], what=f"episode {episode.id}")
        if not await self._unit.run(_APPEND, values):
            raise AlreadyExistsError(what="episode", name=episode.id)
        self._derived.touch_episodes([episode.id])
        self._unit.wrote("episode.append", episode.id)
        return episode

    async def list_by_agent(self, *, limit: int = 20, cursor: str | None = None) -> Page:
        """See the port."""
        return await self._page(None, target=self._unit.agent_id, limit=limit, cursor=cursor)

    async def list_by_session(
        self, session_id: str, *, limit: int = 20, cursor: str | None = None
    ) -> Page:
        """See the port."""
        condition = EPISODE.c.session_id == session_id
        target = f"session {session_id}"
        return await self._page(condition, target=target, limit=limit, cursor=cursor)

    async def list_by_job(self, job_id: str, *, limit: int = 20, cursor: str | None = None) -> Page:
        """See the port."""
        condition = EPISODE.c.job_id == job_id
        return await self._page(condition, target=f"job {job_id}", limit=limit, cursor=cursor)

    async def _page(self, condition: Any, *, target: str, limit: int, cursor: str | None) -> Page:
        statement = _LIST
        if condition is not None:
            statement = statement.where(condition)
        if cursor is not None:
            before = decode_time_cursor(cursor)
            statement = statement.where(tuple_(EPISODE.c.created_at, EPISODE.c.id) < before)
        values = {**self._unit.here, "at_most": check_limit(limit) + 1}
        rows = await self._unit.rows(statement, values)
        self._unit.read("episode.list", target)
        episodes = tuple(Episode.model_validate(row, from_attributes=True) for row in rows[:limit])
        if len(rows) <= limit:
            return episodes, None
        return episodes, encode_cursor(episodes[-1].created_at.isoformat(), episodes[-1].id)
