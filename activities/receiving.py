"""Receiving messages that are to be learned from.

It stands alone because every way in comes through it, the client's, a job's and an inbox's: a message
that is kept is an entry at once, whatever is learned from it later.
"""

from collections.abc import Sequence
from itertools import groupby

from mnestic.memory.entries import EntryType
from mnestic.memory.extraction import TurnKind
from mnestic.memory.learning import Incoming, Lesson, entry_of
from mnestic.memory.ports import Transaction
from mnestic.memory.resources import Resource, check_message


async def receive(
    transaction: Transaction,
    messages: Sequence[Resource | Incoming],
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
        entry_type: What the entries of plain messages are.
        kind: Whether people or tools said the plain ones.

    Raises:
        InvalidInputError: a message cannot be stored; names it.
    """
    incoming = [
        one
        if isinstance(one, Incoming)
        else Incoming(resource=one, entry_type=entry_type, kind=kind)
        for one in messages
    ]
    for came in incoming:
        check_message(came.resource)
    # In one order for everybody, so that nobody waits for somebody who waits.
    ordered = sorted(incoming, key=lambda came: (came.resource.at, came.place))
    await transaction.resources.append([came.resource for came in ordered])
    lessons: list[Lesson] = []
    for _, group in groupby(sorted(ordered, key=_manner), key=_manner):
        alike = list(group)
        lessons += await transaction.learning.begin(
            [came.resource for came in alike],
            entry_type=alike[0].entry_type,
            kind=alike[0].kind,
            job_id=alike[0].job_id,
            workflow_run=alike[0].workflow_run,
        )
    if lessons:
        now = await transaction.now()
        first = {came.place: came for came in reversed(ordered)}
        kept = [first[one.place].as_kept(one) for one in lessons]
        await transaction.entries.add([entry_of(came, owner=owner, now=now) for came in kept])
    return len(lessons)


def _manner(came: Incoming) -> tuple[str, ...]:
    return (came.kind, came.entry_type, came.job_id or "", came.workflow_run or "")
