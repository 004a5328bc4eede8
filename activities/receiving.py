"""Receiving messages that are to be learned from.

It stands alone because every way in comes through it, the client's, a job's and an inbox's: a message
that is kept is an entry at once, whatever is learned from it later.
"""

from collections.abc import Sequence

from mnestic.memory.entries import EntryType
from mnestic.memory.extraction import TurnKind
from mnestic.memory.learning import entry_of
from mnestic.memory.ports import Transaction
from mnestic.memory.resources import Resource


async def receive(
    transaction: Transaction,
    messages: Sequence[Resource],
    *,
    owner: str,
    entry_type: EntryType = "interaction",
    kind: TurnKind = "message",
) -> int:
    """Keeps messages with their entries; returns how many were new.

    One that was received before changes nothing, whatever has become of its entry.

    Args:
        transaction: Both are written in it, and that they are to be learned from.
        messages: In any order.
        owner: Tenant and agent, for the ids of entries.
        entry_type: What the entries are.
        kind: Whether people or tools said so.

    Raises:
        InvalidInputError: a message cannot be stored.
    """
    # In one order for everybody, so that nobody waits for somebody who waits.
    ordered = sorted(messages, key=lambda said: (said.at, said.session_id, said.source_id))
    await transaction.resources.append(ordered)
    lessons = await transaction.learning.begin(ordered, entry_type=entry_type, kind=kind)
    if lessons:
        now = await transaction.now()
        await transaction.entries.add([entry_of(one, owner=owner, now=now) for one in lessons])
    return len(lessons)
