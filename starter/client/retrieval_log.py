"""`memory.retrieval_log`: the log of automatic retrievals."""

from mnestic.memory.retrieval.retrieval_log import StoredLogEntry
from mnestic.starter.client.client_scope import ClientPart


class RetrievalLogClient(ClientPart):
    """The results of `auto_retrieve`, one row for each message."""

    async def list(
        self, *, limit: int = 100, cursor: str | None = None
    ) -> tuple[tuple[StoredLogEntry, ...], str | None]:
        """Automatic retrievals, the latest first, and the cursor of the next page."""
        async with self._scope.transaction(write=False) as transaction:
            return await transaction.retrieval_log.list_entries(limit=limit, cursor=cursor)
