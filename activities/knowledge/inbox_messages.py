"""What signals say becomes messages, and messages that were parked are tried again.

A client of memory does the same without Temporal.
"""

from collections.abc import Sequence

from mnestic.activities.knowledge.receiving import receive, remove_excluded
from mnestic.memory.errors import InvalidInputError
from mnestic.memory.knowledge.claims import Claim, name_key
from mnestic.memory.knowledge.inbox import Signal, read_signal
from mnestic.memory.knowledge.ingestion import IncomingMessage, entry_id_at
from mnestic.memory.knowledge.resources import Resource
from mnestic.memory.ports import Transaction


async def store_signals(transaction: Transaction, signals: Sequence[Signal], *, owner: str) -> int:
    """Keeps what signals say; returns how many messages were new.

    Raises:
        InvalidInputError: one of them cannot be stored.
    """
    read = [read_signal(signal) for signal in signals]
    # Topics are locked before entries, as by everybody.
    claimed = [(each.claim, each.messages[0].resource) for each in read if each.claim is not None]
    await _check_readers(transaction, [resource for _, resource in claimed])
    for claim, resource in sorted(claimed, key=_topic_of):
        with await transaction.within_readers_of(resource):
            await transaction.facts.claim(await remove_excluded(transaction, [claim]))
    messages = [message for each in read for message in each.messages]
    return await receive(transaction, messages, owner=owner)


async def _check_readers(transaction: Transaction, resources: Sequence[Resource]) -> None:
    """Refuses what is for other readers than the message of its id that is kept: what it states would be for these."""
    named = [one for one in resources if one.readers is not None]
    kept = await transaction.resources.select_readers([one.place for one in named]) if named else {}
    for one in named:
        if kept.setdefault(one.place, one.readers) != one.readers:
            why = "is kept for other readers; send it with another source id"
            raise InvalidInputError(what=f"message {one.session_id}/{one.source_id}", why=why)


def _topic_of(claimed: tuple[Claim, Resource]) -> tuple[str, str]:
    """In one order for everybody, so that nobody waits for somebody who waits."""
    claim, _ = claimed
    return name_key(claim.subject), claim.predicate


async def retry_parked(
    transaction: Transaction, messages: Sequence[IncomingMessage], *, owner: str
) -> int:
    """Lets parked messages be learned from and embedded again; returns how many."""
    retried = await transaction.ingest_states.retry(messages)
    places = (entry_id_at(message.place, owner=owner) for message in messages)
    await transaction.entries.embed_again(list(places))
    return retried


async def retry_signal(
    transaction: Transaction, message: IncomingMessage, signal: Signal, *, owner: str
) -> int:
    """Keeps a signal that was refused before; returns 1 if that is not done yet, else 0.

    Raises:
        InvalidInputError: this version refuses it as well; it stays parked when the transaction ends so.
    """
    read_signal(signal)
    if not await transaction.ingest_states.drop([message.place]):
        return 0
    await store_signals(transaction, [signal], owner=owner)
    return 1
