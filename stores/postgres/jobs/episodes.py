"""Episodes in Postgres, newest first."""

from collections.abc import Sequence

from mnestic.memory.canonical import check_json
from mnestic.memory.errors import AlreadyExistsError, InvalidInputError
from mnestic.memory.jobs.episodes import Episode
from mnestic.memory.jobs.working_memory import Message
from mnestic.stores.postgres.cursors import check_limit, decode_time_cursor, encode_cursor
from mnestic.stores.postgres.knowledge.derived_entries import DerivedEntries
from mnestic.stores.postgres.queries import as_json, read_query
from mnestic.stores.postgres.unit_of_work import UnitOfWork

Page = tuple[tuple[Episode, ...], str | None]

_APPEND, _LIST = read_query("episodes.append"), read_query("episodes.list")


class PostgresEpisodeStore:
    """Implements `mnestic.memory.jobs.ports.EpisodeStore`."""

    def __init__(self, unit: UnitOfWork, derived: DerivedEntries) -> None:
        self._unit, self._derived = unit, derived

    async def append(self, episode: Episode, *, said: Sequence[Message] = ()) -> Episode:
        """See the port."""
        if episode.agent_id != self._unit.agent_id:
            raise InvalidInputError(
                what=f"episode {episode.id}", why=f"is of another agent, {episode.agent_id}"
            )
        check_json([episode.summary, episode.payload], what=f"episode {episode.id}")
        columns = episode.model_dump() | {"payload": as_json(episode.payload)}
        readers = {one.readers for one in said if one.readers is not None}
        columns["said"] = (
            as_json([{"readers": one} for one in sorted(readers)]) if readers else None
        )
        if not await self._unit.write(_APPEND, **columns):
            raise AlreadyExistsError(what="episode", name=episode.id)
        self._derived.touch_episodes([episode.id])
        self._unit.wrote("episode.append", episode.id)
        return episode

    async def list_by_agent(self, *, limit: int = 20, cursor: str | None = None) -> Page:
        """See the port."""
        return await self._page(target=self._unit.agent_id, limit=limit, cursor=cursor)

    async def list_by_session(
        self, session_id: str, *, limit: int = 20, cursor: str | None = None
    ) -> Page:
        """See the port."""
        target = f"session {session_id}"
        return await self._page(session_id=session_id, target=target, limit=limit, cursor=cursor)

    async def list_by_job(self, job_id: str, *, limit: int = 20, cursor: str | None = None) -> Page:
        """See the port."""
        target = f"job {job_id}"
        return await self._page(job_id=job_id, target=target, limit=limit, cursor=cursor)

    async def _page(
        self,
        *,
        target: str,
        limit: int,
        cursor: str | None,
        session_id: str | None = None,
        job_id: str | None = None,
    ) -> Page:
        before, before_id = decode_time_cursor(cursor) if cursor is not None else (None, None)
        rows = await self._unit.fetch(
            _LIST,
            of_session=session_id,
            of_job=job_id,
            before=before,
            before_id=before_id,
            limit=check_limit(limit) + 1,
        )
        self._unit.read("episode.list", target)
        episodes = tuple(Episode.model_validate(row._asdict()) for row in rows[:limit])
        if len(rows) <= limit:
            return episodes, None
        return episodes, encode_cursor(episodes[-1].created_at.isoformat(), episodes[-1].id)
