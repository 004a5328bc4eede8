"""Corrections across messages: reads what the same person said just before a message that corrects.

It stands apart from ingestion because few messages need it, and a message's own claims are stored before it.
"""

from collections.abc import Sequence
from datetime import timedelta

from mnestic.memory.knowledge.claims import Claim
from mnestic.memory.knowledge.corrections import correcting_claims, may_correct
from mnestic.memory.knowledge.facts import Fact
from mnestic.memory.knowledge.ingestion import PendingMessage
from mnestic.memory.ports import Transaction

_EARLIER = 8  # messages of the session that are looked at
_OWN = 2  # messages of the same person that a correction may mean
_RECENT = timedelta(hours=1)


async def find_corrections(
    transaction: Transaction, batch: Sequence[PendingMessage], *, workflow_run: str | None
) -> dict[tuple[str, str], list[Claim]]:
    """What messages correct of the same person's last messages, beside their own claims; by session and source id.

    Args:
        transaction: The claims of the messages are stored in it already.
        batch: The messages.
        workflow_run: Stands in the claims.
    """
    found: dict[tuple[str, str], list[Claim]] = {}
    for pending in batch:
        if pending.kind != "message" or not may_correct(pending.resource.content):
            continue
        said, is_next = await _recent_facts(transaction, pending)
        extracted = correcting_claims(
            pending.resource.content, pending.extracted, said=said, is_next=is_next
        )
        if extracted:
            correcting = pending.model_copy(update={"extracted": extracted})
            found[pending.place] = correcting.claims(workflow_run=workflow_run)
    return found


async def _recent_facts(
    transaction: Transaction, pending: PendingMessage
) -> tuple[list[tuple[Fact, ...]], bool]:
    """The active facts behind the person's last messages, the latest first, and whether nobody spoke since."""
    message = pending.resource
    earlier = await transaction.resources.list_before(message, limit=_EARLIER)
    recent = [one for one in earlier if message.at - one.at <= _RECENT]
    own = [one for one in reversed(recent) if one.speaker == message.speaker][:_OWN]
    said = [
        tuple(
            fact for fact in await transaction.facts.list_from(one.place) if fact.status == "active"
        )
        for one in own
    ]
    return said, bool(own) and own[0].place == earlier[-1].place
