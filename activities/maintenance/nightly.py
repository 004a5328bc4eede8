"""The nightly maintenance of an agent."""

from collections import Counter
from datetime import datetime

from mnestic.activities.knowledge.removal import remove_entries
from mnestic.memory.ports import Transaction

_ENTRIES = 500  # removed by one statement


async def maintain_nightly(transaction: Transaction, *, now: datetime) -> Counter[str]:
    """Removes what has expired, and computes the importance of entries; returns the counts of a report.

    Args:
        transaction: Of the agent.
        now: The moment that decides what has expired and how old entries are.
    """
    store = transaction.maintenance
    basis = await transaction.settings.importance_basis()
    return Counter(
        records_expired=await store.remove_expired_records(now),
        entries_expired=await _remove_expired_entries(transaction, now=now),
        importance_changed=await store.renew_importance(now, basis.policy),
    )


async def _remove_expired_entries(transaction: Transaction, *, now: datetime) -> int:
    removed = 0
    while expired := await transaction.maintenance.list_expired_entries(now, limit=_ENTRIES):
        removed += await remove_entries(transaction, expired)
    return removed
