"""The daily cleanup of an agent: entries that nobody needs go to the archive, and out of it for good."""

from collections import Counter
from datetime import datetime

from mnestic.activities.knowledge.removal import remove_entries
from mnestic.memory.knowledge.entries import ArchiveMark
from mnestic.memory.maintenance.policies import CleanupPolicy
from mnestic.memory.ports import Transaction

_ENTRIES = 500  # deleted by one statement


async def clean_up(
    transaction: Transaction, *, now: datetime, at: datetime, policy: CleanupPolicy, run: str
) -> Counter[str]:
    """Archives and deletes entries as the policy says; returns the counts of a report.

    Args:
        transaction: Of the agent.
        now: The moment that decides how old entries are.
        at: The time of the transaction, no earlier than `now`: what is stored is as of then, so a late run makes nothing older.
        policy: It says which entries.
        run: The maintenance run, which the archive names.
    """
    basis = await transaction.settings.importance_basis()
    changed = await transaction.maintenance.renew_importance(at, basis.policy)
    choice = await transaction.maintenance.choose_cleanup(now, policy)
    old = ArchiveMark(archived_at=at, reason="unimportant", run=run)
    archived = await transaction.archive.add(choice.unimportant, old)
    more = old.model_copy(update={"reason": "over_limit"})
    archived += await transaction.archive.add(choice.over_limit, more)
    deleted = 0
    for start in range(0, len(choice.deleted), _ENTRIES):
        deleted += await remove_entries(transaction, choice.deleted[start : start + _ENTRIES])
    return Counter(importance_changed=changed, archived=archived, deleted=deleted)
