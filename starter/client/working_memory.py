"""`memory.working_memory`: the messages, variables and scratchpad of a session."""

from mnestic.memory.jobs.working_memory import WorkingMemory
from mnestic.starter.client.client_scope import ClientPart


class WorkingMemoryClient(ClientPart):
    """The working memory of one agent, by session. Jobs write it."""

    async def get(self, session_id: str) -> WorkingMemory:
        """A session's working memory."""
        async with self._scope.transaction(write=False) as transaction:
            return await transaction.working.load(session_id)
