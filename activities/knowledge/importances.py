"""Measuring the importance of entries anew after a tenant has changed its policy, of all its agents.

It stands alone because it goes through whole memories, a page in a transaction.
"""

from typing import get_args

from mnestic.activities.knowledge.settlement import BeginTransaction
from mnestic.memory.knowledge.enrichment import with_importance
from mnestic.memory.knowledge.entries import Entry, EntryKind, EntryQuery, EntryStatus
from mnestic.memory.ports import Memory, Transaction

_PAGE = 500  # entries of a transaction
_LEAST_CHANGE = 1e-6  # importances are stored as 4-byte floats
_EVERYTHING = EntryQuery(kinds=get_args(EntryKind), statuses=get_args(EntryStatus), expired=True)


async def measure_importances(memory: Memory, begin: BeginTransaction, *, tenant_id: str) -> int:
    """Gives all entries of a tenant the importance that they have by its policy of now; returns how many changed.

    If it is stopped halfway, the same call does the rest.
    """
    changed, cursor = 0, None
    while True:
        agents, cursor = await memory.list_agents(
            tenant_id=tenant_id, agent_id=None, limit=100, cursor=cursor
        )
        for agent in agents:
            changed += await _measure_agent(begin, agent.agent_id)
        if cursor is None:
            return changed


async def _measure_agent(begin: BeginTransaction, agent_id: str) -> int:
    changed, cursor = 0, None
    while True:
        async with begin(agent_id, write=True) as transaction:
            entries, cursor = await transaction.entries.list_entries(
                _EVERYTHING, limit=_PAGE, cursor=cursor
            )
            changed += await _measure(transaction, entries)
        if cursor is None:
            return changed


async def _measure(transaction: Transaction, entries: tuple[Entry, ...]) -> int:
    basis = await transaction.settings.importance_basis()
    children = await transaction.entries.count_children([entry.id for entry in entries])
    measured = [with_importance(one, basis=basis, children=children[one.id]) for one in entries]
    other = {
        after.id: after.importance
        for before, after in zip(entries, measured, strict=True)
        if abs(after.importance - before.importance) > _LEAST_CHANGE
    }
    await transaction.entries.set_importance(other)
    return len(other)
