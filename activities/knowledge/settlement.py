"""Working facts out anew after a predicate has changed, of all agents of a tenant.

A person changes a predicate, and so does an export that is read back.
"""

from contextlib import AbstractAsyncContextManager
from typing import Protocol

from mnestic.memory.ports import Transaction
from mnestic.memory.scope import EVERY_AGENT


class BeginTransaction(Protocol):
    """Begins a transaction of one agent of the tenant."""

    def __call__(self, agent_id: str, *, write: bool) -> AbstractAsyncContextManager[Transaction]:
        """A transaction of the agent."""
        ...


async def settle_facts(begin: BeginTransaction, predicate: str) -> int:
    """Works out anew the facts that are from before a predicate was changed; returns how many are otherwise.

    Each batch of facts is a transaction of its own; if it is stopped halfway, the same call goes on with what is left.
    """
    settled = 0
    while True:
        async with begin(EVERY_AGENT, write=False) as transaction:
            agents = await transaction.facts.list_unsettled(predicate)
        if not agents:
            return settled
        for agent_id in agents:
            while True:
                async with begin(agent_id, write=True) as transaction:
                    changes = await transaction.facts.settle(predicate)
                settled += len(changes)
                if not changes:
                    break
