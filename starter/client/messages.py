"""`memory.messages`: raw messages of an agent, and how far they are ingested."""

from collections.abc import Sequence

from mnestic.activities.knowledge.receiving import cut_messages
from mnestic.memory.knowledge.ingestion import IncomingMessage, IngestCounts
from mnestic.memory.knowledge.resources import Resource
from mnestic.starter.client.client_scope import ClientPart


class MessageClient(ClientPart):
    """The raw messages of one agent. `memory.ingest` stores messages and has facts extracted from them."""

    async def append(self, messages: Sequence[Resource]) -> int:
        """Stores raw messages without extraction; returns how many were new.

        They lose blocks of memories, and what speaks of a forgotten topic that is kept out.
        """
        incoming = [IncomingMessage(resource=message) for message in messages]
        async with self._scope.transaction(write=True) as transaction:
            left = await cut_messages(transaction, incoming)
            return await transaction.resources.append([one.resource for one in left])

    async def count(self) -> IngestCounts:
        """How many messages are in each state of ingestion."""
        async with self._scope.transaction(write=False) as transaction:
            return await transaction.ingest_states.count()
