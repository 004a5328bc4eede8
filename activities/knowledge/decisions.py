"""A person's decision about a fact, and its time among the claims about the fact.

Claims count in the order of their times, and a message may be dated ahead: what a person decides knowing of it comes
after it.
"""

import uuid
from datetime import datetime, timedelta

from mnestic.memory.knowledge.claims import PERSON, Claim, ClaimKind, ClaimSource
from mnestic.memory.knowledge.facts import Fact
from mnestic.memory.ports import Transaction

TICK = timedelta(microseconds=1)


async def decision(transaction: Transaction, fact: Fact, kind: ClaimKind) -> Claim:
    """A person's decision about a fact, as a claim of its own."""
    _, said_at = await decision_time_now(transaction, fact.subject, fact.predicate)
    return Claim(
        id=uuid.uuid4().hex,
        kind=kind,
        subject=fact.subject,
        predicate=fact.predicate,
        object=fact.object,
        said_at=said_at,
        source=ClaimSource(extractor=PERSON),
    )


async def decision_time_now(
    transaction: Transaction, subject: str, predicate: str
) -> tuple[datetime, datetime]:
    """The current time, and the time of a decision: now, or after the last claim if that is dated ahead.

    It is not when the transaction began: others may have decided since then, and what follows theirs is so after it.
    """
    claims = await transaction.facts.list_claims_about(subject, predicate)
    now = await transaction.clock()
    return now, max([now, *(claim.said_at + TICK for claim in claims)])
