"""The importance policy of a tenant: the weights by which all its agents measure how important an entry is."""

from contextlib import AbstractAsyncContextManager
from typing import Any, Unpack

from mnestic.memory.knowledge.importance import (
    IMPORTANCE_POLICY,
    ImportancePolicy,
    changed_weights,
    check_weights,
)
from mnestic.memory.ports import Memory, Transaction
from mnestic.memory.scope import EVERY_AGENT, check_id
from mnestic.starter.checked_texts import ChecksTexts
from mnestic.starter.client.keyword_arguments import ImportanceChanges

_AGENTS = 1000  # listed at once


class ImportanceClient(ChecksTexts):
    """The importance policy of a tenant."""

    def __init__(self, memory: Memory, *, tenant_id: str) -> None:
        """Prepares the client.

        Raises:
            InvalidInputError: the tenant is no id.
        """
        self._memory, self._tenant_id = memory, check_id(tenant_id, what="tenant")

    async def get(self) -> ImportancePolicy:
        """The policy in force.

        Raises:
            StoredValueError: what is stored cannot be read.
        """
        async with self._transaction(EVERY_AGENT, write=False) as transaction:
            return (await transaction.settings.importance_basis()).policy

    async def change(self, **weights: Unpack[ImportanceChanges]) -> tuple[ImportancePolicy, int]:
        """Changes weights, all or none, and measures the entries of all agents anew, in batches.

        If it is interrupted, the same call does the rest. A type in `by_type` changes alone.

        Args:
            **weights: As in `mnestic.memory.knowledge.importance.ImportancePolicy`.

        Returns:
            The policy, and how many entries have another importance now.

        Raises:
            InvalidInputError: there is no such weight, or it cannot have that value.
        """
        async with self._transaction(EVERY_AGENT, write=True) as transaction:
            await transaction.settings.lock()
            stored = (await transaction.settings.read()).get(IMPORTANCE_POLICY)
            changed = changed_weights(stored, weights)
            await transaction.settings.put(IMPORTANCE_POLICY, changed)
        return await self._measured()

    async def reset(self, *names: str) -> tuple[ImportancePolicy, int]:
        """Takes weights back to their defaults, and measures the entries anew, as `change` does.

        Args:
            *names: Which weights; all of them by default.

        Raises:
            InvalidInputError: there is no such weight.
        """
        check_weights(names)
        async with self._transaction(EVERY_AGENT, write=True) as transaction:
            await transaction.settings.lock()
            stored: dict[str, Any] = (await transaction.settings.read()).get(IMPORTANCE_POLICY, {})
            left = {name: value for name, value in stored.items() if names and name not in names}
            if left:
                await transaction.settings.put(IMPORTANCE_POLICY, left)
            else:
                await transaction.settings.reset(IMPORTANCE_POLICY)
        return await self._measured()

    async def _measured(self) -> tuple[ImportancePolicy, int]:
        policy, changed, after = await self.get(), 0, None
        while agents := await self._memory.list_agent_ids(
            tenant_id=self._tenant_id, after=after, limit=_AGENTS
        ):
            for agent_id in agents:
                async with self._transaction(agent_id, write=True) as transaction:
                    now = await transaction.now()
                    changed += await transaction.maintenance.renew_importance(now, policy)
            after = agents[-1]
        return policy, changed

    def _transaction(
        self, agent_id: str, *, write: bool
    ) -> AbstractAsyncContextManager[Transaction]:
        return self._memory.transaction(
            tenant_id=self._tenant_id, agent_id=agent_id, actor="client", write=write
        )
