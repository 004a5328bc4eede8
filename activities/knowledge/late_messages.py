"""Late messages: what was extracted without them, and comes after them in their session, is extracted again.

The order in which messages arrive matters to it alone. All of it happens under the lock of the agent's ingestion, in
the transaction that stores the late message's claims. So whoever extracted another message without it has stored that
by then, and is found, or finds the late one itself before it stores.
"""

from collections.abc import Sequence

from mnestic.memory.knowledge.ingestion import (
    CONTEXT_MESSAGES,
    IncomingMessage,
    contexts_of,
    numbers_of,
)
from mnestic.memory.ports import Extractor, Transaction


async def store_extracted(
    transaction: Transaction, read: Sequence[IncomingMessage], *, extractor: Extractor
) -> list[IncomingMessage]:
    """Stores what was extracted from messages, and has later ones that were read without them extracted again.

    A message is not stored if others have arrived right before it since it was read; it is taken again.

    Args:
        transaction: It stores nothing else about messages.
        read: The messages with their claims and contexts.
        extractor: It has read them.

    Returns:
        Those that were stored.
    """
    await transaction.ingest_states.lock()
    around = await transaction.ingest_states.list_around(
        read, before=CONTEXT_MESSAGES if extractor.reads_earlier else 0, after=CONTEXT_MESSAGES
    )
    contexts = contexts_of(read, around)
    stored = [
        one
        for one in read
        if not extractor.reads_earlier or one.context == numbers_of(contexts[one.place])
    ]
    await transaction.ingest_states.store_extracted(stored, extractor=extractor.name)
    await _repeat_later(transaction, stored, around, extractor=extractor)
    return stored


async def park_unread(
    transaction: Transaction, pending: IncomingMessage, *, reason: str, extractor: Extractor
) -> None:
    """Parks a message that cannot be extracted; later ones are extracted again all the same, since its words are there."""
    await transaction.ingest_states.lock()
    around = await transaction.ingest_states.list_around([pending], after=CONTEXT_MESSAGES)
    await transaction.ingest_states.park(pending, reason=reason)
    await _repeat_later(transaction, [pending], around, extractor=extractor)


async def _repeat_later(
    transaction: Transaction,
    messages: Sequence[IncomingMessage],
    around: Sequence[IncomingMessage],
    *,
    extractor: Extractor,
) -> None:
    """Has messages extracted again, or learned from again, that were extracted without these, which come before them."""
    late = set(numbers_of(messages))
    contexts = contexts_of(around, messages)
    unread = [
        one for one in around if late & {*numbers_of(contexts[one.place])} - {*(one.context or ())}
    ]
    again = [one for one in unread if extractor.reads_earlier and one.extractor == extractor.name]
    await transaction.ingest_states.repeat(again, state="received")
