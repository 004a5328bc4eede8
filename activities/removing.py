"""Removing entries, so that no other entry names one that is gone.

It stands alone because a person removes one, and a forgetting many.
"""

from collections.abc import Collection
from datetime import datetime

from mnestic.memory.entries import Entry
from mnestic.memory.importance import importance
from mnestic.memory.ports import Transaction


async def remove_entries(transaction: Transaction, entry_ids: Collection[str]) -> int:
    """Removes entries from every index, and from those that name them; returns how many there were."""
    naming = await transaction.entries.select_naming(entry_ids)
    held = await transaction.entries.select(sorted({*entry_ids, *naming}), lock=True)
    gone = set(entry_ids)
    left = [entry for entry in held.values() if entry.id not in gone]
    now = await transaction.now()
    await transaction.entries.change([_without(entry, gone, now=now) for entry in left])
    return await transaction.entries.remove(sorted(gone & held.keys()))


def _without(entry: Entry, gone: Collection[str], *, now: datetime) -> Entry:
    related = tuple(name for name in entry.related if name not in gone)
    parent = None if entry.parent in gone else entry.parent
    left = entry.model_copy(update={"related": related, "parent": parent})
    return left.model_copy(update={"importance": importance(left, now=now)})
