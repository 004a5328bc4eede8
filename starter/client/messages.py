"""`memory.messages` and `memory.parked`: raw messages, how far they are, and those whose extraction failed."""

from collections.abc import Sequence
from contextlib import suppress

from mnestic.activities.knowledge.inbox_messages import retry_parked, retry_signal
from mnestic.activities.knowledge.receiving import cut_messages
from mnestic.memory.errors import InvalidInputError
from mnestic.memory.knowledge.inbox import find_refused
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


class ParkedClient(ClientPart):
    """The parked messages of one agent."""

    async def list(
        self, *, limit: int = 100, cursor: str | None = None
    ) -> tuple[tuple[IncomingMessage, ...], str | None]:
        """Messages whose extraction failed, with the reasons, and the next page's cursor.

        Raises:
            InvalidInputError: it is asked for a reader, since a signal that was refused may not say whose it is.
        """
        self._scope.caller.check_own("parked messages are")
        async with self._scope.transaction(write=False) as transaction:
            return await transaction.ingest_states.list_by_state(
                "parked", limit=limit, cursor=cursor
            )

    async def retry(self, messages: Sequence[IncomingMessage]) -> int:
        """Returns parked messages to extraction, by the next `IngestMessages`; returns how many.

        A signal that an inbox refused is parsed again, and stays parked if it still cannot be stored.
        """
        signals = [(message, find_refused(message.resource)) for message in messages]
        async with self._scope.transaction(write=True) as transaction:
            plain = [message for message, signal in signals if signal is None]
            retried = await retry_parked(transaction, plain, owner=self._scope.caller.owner)
        for message, signal in signals:
            if signal is None:
                continue
            with suppress(InvalidInputError):
                async with self._scope.transaction(write=True) as transaction:
                    retried += await retry_signal(
                        transaction, message, signal, owner=self._scope.caller.owner
                    )
        return retried

    async def drop(self, messages: Sequence[IncomingMessage]) -> int:
        """Drops parked messages; the raw messages stay."""
        async with self._scope.transaction(write=True) as transaction:
            return await transaction.ingest_states.drop([one.place for one in messages])
