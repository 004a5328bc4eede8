"""Merging duplicates: entries of an agent that say the same."""

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from typing import NamedTuple

from mnestic.memory.knowledge.entries import ArchiveMark
from mnestic.memory.maintenance.duplicates import AlikeEntries, joined, plan_merges
from mnestic.memory.ports import Transaction

_ENTRIES = 500  # compared at once


class Merged(NamedTuple):
    """How many entries a batch of the merging archived, where the next one begins, and how many the later ones would archive."""

    merged: int
    after: int | None  # None: it was the last
    left: int


async def merge_duplicates(
    transaction: Transaction,
    *,
    now: datetime,
    at: datetime,
    similarity: float,
    run: str,
    most: int,
    after: int,
) -> Merged:
    """Archives entries that another says as well.

    Args:
        transaction: Of the agent.
        now: What has expired by then is left alone.
        at: When they are archived.
        similarity: How near the vectors of those have to be whose words differ.
        run: What archives them, as the archive names it.
        most: So many entries are compared, or one group of more. What later batches would archive is counted by the first.
        after: Where the batch before ended; 0 for the first.
    """
    merged = left = compared = 0
    last: int | None = None
    groups = await transaction.maintenance.list_alike(now, after=after)
    for batch in _batches(groups, most=min(_ENTRIES, most)):
        is_full = compared >= most
        if is_full and after:
            return Merged(merged, last, left)
        merges = await _plan(transaction, batch, similarity=similarity, lock=not is_full)
        if is_full:
            left += len(merges)
            continue
        if merges:
            await transaction.maintenance.merge(merges)
            mark = ArchiveMark(archived_at=at, reason="merged", run=run)
            merged += await transaction.archive.add(sorted(merges), mark)
        compared += sum(len(group.ids) for group in batch)
        last = batch[-1].number
    return Merged(merged, last if left else None, left)


async def _plan(
    transaction: Transaction, groups: Sequence[AlikeEntries], *, similarity: float, lock: bool
) -> dict[str, str]:
    """What is merged of some groups, by id, each into which."""
    ids = sorted(entry_id for group in groups for entry_id in group.ids)
    entries = await transaction.entries.select(ids, lock=lock)
    active = {name: entry for name, entry in entries.items() if entry.status == "active"}
    plans = [
        plan_merges([active[name] for name in group.ids if name in active]) for group in groups
    ]
    likely = [merge for plan in plans for merge in plan.likely]
    near = await transaction.maintenance.compare(likely)
    confirmed = [merge for merge in likely if near.get(merge, 0) >= similarity]
    certain = (merge for plan in plans for merge in plan.certain)
    return joined(certain, confirmed)


def _batches(groups: Iterable[AlikeEntries], *, most: int) -> Iterator[list[AlikeEntries]]:
    """Groups in batches of so many entries; a larger group is a batch of its own."""
    batch: list[AlikeEntries] = []
    for group in groups:
        if batch and sum(len(one.ids) for one in batch) + len(group.ids) > most:
            yield batch
            batch = []
        batch.append(group)
    if batch:
        yield batch
