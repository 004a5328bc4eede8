"""`memory.parked`: messages that could not be learned from, which wait for a person."""

from collections.abc import Sequence
from contextlib import suppress

from mnestic.activities.knowledge.inbox_messages import retry_parked, retry_signal
from mnestic.memory.errors import InvalidInputError
from mnestic.memory.knowledge.inbox import find_refused
from mnestic.memory.knowledge.ingestion import PendingMessage
from mnestic.starter.client.client_scope import ClientPart


class ParkedClient(ClientPart):
    """The parked messages of one agent."""

    async def list(
        self, *, limit: int = 100, cursor: str | None = None
    ) -> tuple[tuple[PendingMessage, ...], str | None]:
        """Messages that could not be learned from, with the reasons, and the next page's cursor."""
        async with self._scope.transaction(write=False) as transaction:
            return await transaction.ingest_states.list_by_state(
                "parked", limit=limit, cursor=cursor
            )

    async def retry(self, lessons: Sequence[PendingMessage]) -> int:
        """Lets parked messages be learned from again, by the next `IngestMessages`; returns how many.

        A signal that an inbox refused is read again, and stays parked if it cannot be kept now either.
        """
        signals = [(lesson, find_refused(lesson.resource)) for lesson in lessons]
        async with self._scope.transaction(write=True) as transaction:
            said = [lesson for lesson, signal in signals if signal is None]
            retried = await retry_parked(transaction, said, owner=self._scope.caller.owner)
        for lesson, signal in signals:
            if signal is None:
                continue
            with suppress(InvalidInputError):
                async with self._scope.transaction(write=True) as transaction:
                    retried += await retry_signal(
                        transaction, lesson, signal, owner=self._scope.caller.owner
                    )
        return retried

    async def drop(self, lessons: Sequence[PendingMessage]) -> int:
        """Gives parked messages up; the raw messages stay."""
        async with self._scope.transaction(write=True) as transaction:
            return await transaction.ingest_states.drop(lessons)
