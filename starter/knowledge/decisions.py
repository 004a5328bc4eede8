"""When a person's decision about a fact was made, among what was said of it.

It stands apart because claims are taken in the order in which they were said, and a message may be dated
ahead: what a person decides knowing of it comes after it.
"""

from datetime import datetime, timedelta

from mnestic.memory.ports import Transaction

_TICK = timedelta(microseconds=1)


async def decision_time(transaction: Transaction, subject: str, predicate: str) -> datetime:
    """Now, or after the last that was said of a subject and a predicate, if that is dated ahead."""
    _, said_at = await decision_time_now(transaction, subject, predicate)
    return said_at


async def decision_time_now(
    transaction: Transaction, subject: str, predicate: str
) -> tuple[datetime, datetime]:
    """The time now, and as `decision_time`.

    It is not when the transaction began: others may have decided since then, and what follows theirs is so after it.
    """
    said = await transaction.facts.list_claims_about(subject, predicate)
    now = await transaction.clock()
    return now, max([now, *(claim.said_at + _TICK for claim in said)])
