"""Compressing entries: old ones of an agent that say nearly the same."""

import asyncio
from collections import Counter
from collections.abc import Sequence
from datetime import datetime

from mnestic.memory.knowledge.entries import ArchiveMark, Entry
from mnestic.memory.maintenance.compression import FEWEST, plan_compressions
from mnestic.memory.maintenance.policies import WeeklyPolicy
from mnestic.memory.ports import Transaction

_PAIRS = 10_000  # of one run; the next run finds the others
_ENTRIES = 500  # selected at once


async def compress_entries(
    transaction: Transaction,
    *,
    now: datetime,
    at: datetime,
    policy: WeeklyPolicy,
    run: str,
    most: int,
) -> Counter[str]:
    """Archives entries for which one that quotes them takes their place; it follows from them at the end of the transaction.

    Args:
        transaction: Of the agent.
        now: The moment that decides how old entries are.
        at: When they are archived.
        policy: It says how old and how similar they have to be.
        run: What archives them, as the archive names it.
        most: So many entries at most are archived; the next run goes on.
    """
    if not policy.compress:
        return Counter()
    store = transaction.maintenance
    similar = await store.list_similar(now, policy, fewest=FEWEST, limit=_PAIRS)
    ids = sorted({entry_id for pair in similar for entry_id in pair})
    entries = await _select(transaction, ids)
    # In a thread: for many entries it takes longer than a worker may be without a heartbeat.
    plans = await asyncio.to_thread(plan_compressions, entries, similar, most=most)
    chosen = sorted(source for plan in plans for source in plan.sources)
    locked = await _select(transaction, chosen, lock=True)
    same = [
        plan
        for plan in plans
        if all(
            one in locked and locked[one].content == entries[one].content for one in plan.sources
        )
    ]
    if not same:
        return Counter()
    await store.compress(same)
    sources = sorted(source for plan in same for source in plan.sources)
    mark = ArchiveMark(archived_at=at, reason="compressed", run=run)
    archived = await transaction.archive.add(sources, mark)
    return Counter(compressed=archived, compressed_into=len(same))


async def _select(
    transaction: Transaction, ids: Sequence[str], *, lock: bool = False
) -> dict[str, Entry]:
    entries: dict[str, Entry] = {}
    for start in range(0, len(ids), _ENTRIES):
        entries |= await transaction.entries.select(ids[start : start + _ENTRIES], lock=lock)
    return entries
