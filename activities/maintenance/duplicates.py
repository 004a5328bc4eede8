"""Merging duplicates: entries of an agent that say the same."""

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime

from mnestic.memory.knowledge.entries import ArchiveMark
from mnestic.memory.maintenance.duplicates import joined, plan_merges
from mnestic.memory.ports import Transaction

_ENTRIES = 500  # compared at once


async def merge_duplicates(
    transaction: Transaction, *, now: datetime, at: datetime, similarity: float, run: str
) -> int:
    """Archives entries that another says as well; returns how many.

    Args:
        transaction: Of the agent.
        now: What has expired by then is left alone.
        at: When they are archived.
        similarity: How near the vectors of those have to be whose words differ.
        run: What archives them, as the archive names it.
    """
    store, merged = transaction.maintenance, 0
    groups = await store.list_alike(now)
    for batch in _batches(groups):
        ids = sorted(entry_id for group in batch for entry_id in group)
        entries = await transaction.entries.select(ids, lock=True)
        plans = [
            plan_merges(
                [
                    entries[name]
                    for name in group
                    if name in entries and entries[name].status == "active"
                ]
            )
            for group in batch
        ]
        likely = [merge for plan in plans for merge in plan.likely]
        near = await store.compare(likely)
        confirmed = [merge for merge in likely if near.get(merge, 0) >= similarity]
        certain = (merge for plan in plans for merge in plan.certain)
        if merges := joined(certain, confirmed):
            await store.merge(merges)
            mark = ArchiveMark(archived_at=at, reason="merged", run=run)
            merged += await transaction.archive.add(sorted(merges), mark)
    return merged


def _batches(groups: Iterable[Sequence[str]]) -> Iterator[list[Sequence[str]]]:
    """Groups in batches of so many entries; a larger group is a batch of its own."""
    batch: list[Sequence[str]] = []
    for group in groups:
        if batch and sum(map(len, batch)) + len(group) > _ENTRIES:
            yield batch
            batch = []
        batch.append(group)
    if batch:
        yield batch
