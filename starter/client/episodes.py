"""`memory.episodes`: summaries of an agent's jobs that ended."""

from mnestic.memory.jobs.episodes import Episode
from mnestic.starter.client.client_scope import ClientPart


class EpisodeClient(ClientPart):
    """The episodes of one agent, which its jobs write."""

    async def list(
        self, *, session_id: str | None = None, limit: int = 20, cursor: str | None = None
    ) -> tuple[tuple[Episode, ...], str | None]:
        """Episodes of the agent or of one session, newest first."""
        async with self._scope.transaction(write=False) as transaction:
            if session_id is None:
                return await transaction.episodes.list_by_agent(limit=limit, cursor=cursor)
            return await transaction.episodes.list_by_session(
                session_id, limit=limit, cursor=cursor
            )
