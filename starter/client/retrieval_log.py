"""`memory.retrieval_log`: what was put before an agent's messages."""

from mnestic.memory.retrieval.retrieval_log import StoredLogEntry
from mnestic.starter.client.client_scope import ClientPart


class RetrievalLogClient(ClientPart):
    """What `auto_retrieve` put before messages."""

    async def list(
        self, *, limit: int = 100, cursor: str | None = None
    ) -> tuple[tuple[StoredLogEntry, ...], str | None]:
        """What was put before messages, the latest first, and the cursor of the next page."""
        async with self._scope.transaction(write=False) as transaction:
            return await transaction.retrieval_log.list_entries(limit=limit, cursor=cursor)
