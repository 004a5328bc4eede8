"""`memory.parked`: messages whose extraction failed, which wait for a person."""

from collections.abc import Sequence
from contextlib import suppress

from mnestic.activities.knowledge.inbox_messages import retry_parked, retry_signal
from mnestic.memory.errors import InvalidInputError
from mnestic.memory.knowledge.inbox import find_refused
from mnestic.memory.knowledge.ingestion import IncomingMessage
from mnestic.starter.client.client_scope import ClientPart


class ParkedClient(ClientPart):
    """The parked messages of one agent."""

    async def list(
        self, *, limit: int = 100, cursor: str | None = None
    ) -> tuple[tuple[IncomingMessage, ...], str | None]:
        """Messages whose extraction failed, with the reasons, and the next page's cursor."""
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
            return await transaction.ingest_states.drop(messages)
