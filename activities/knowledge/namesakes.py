"""Namesakes among messages: reads who else is known by the names that they describe.

Few messages describe a name.
"""

from collections.abc import Sequence

from mnestic.memory.knowledge.claims import name_key
from mnestic.memory.knowledge.ingestion import IncomingMessage
from mnestic.memory.knowledge.subjects import NamingMessage, separate_namesakes
from mnestic.memory.ports import Transaction


async def with_namesakes_apart(
    transaction: Transaction, batch: Sequence[IncomingMessage]
) -> list[IncomingMessage]:
    """The messages, with claims about the one whom they describe where others have the same name."""
    messages = [
        NamingMessage(
            name_key(pending.resource.speaker) if pending.kind == "message" else "",
            pending.extracted,
        )
        for pending in batch
    ]
    names = {name_key(one.name) for message in messages for one in message.described}
    if not names:
        return [*batch]
    known = await transaction.entries.list_bearers(names)
    separated = separate_namesakes(messages, known=known.described, speakers=known.speakers)
    return [
        pending.model_copy(update={"extracted": claims})
        for pending, claims in zip(batch, separated, strict=True)
    ]
