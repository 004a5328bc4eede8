"""The maintenance policy of a tenant as it is stored, and its Schedules, which follow it.

A client changes the policy, and a worker repairs what a client has left half done.
"""

from collections.abc import Collection
from contextlib import AbstractAsyncContextManager
from typing import Any

from mnestic.memory.maintenance.policies import (
    MAINTENANCE_KINDS,
    SETTING,
    MaintenanceKind,
    MaintenancePolicy,
    policy_of,
)
from mnestic.memory.maintenance.policy_changes import changed_policy, kind_of_times
from mnestic.memory.ports import Memory, Transaction
from mnestic.memory.scope import EVERY_AGENT
from mnestic.starter.maintenance.schedules import MaintenanceSchedules

_PENDING = "maintenance_schedules"
"""The setting that lists the kinds whose times were set, until their Schedules have these times too."""


class ScheduledPolicy:
    """The policy of one tenant and its Schedules. Whoever changes either holds the lock on the tenant's settings."""

    def __init__(
        self, memory: Memory, schedules: MaintenanceSchedules, *, tenant_id: str, actor: str
    ) -> None:
        """Wraps both.

        Args:
            memory: Where the policy is stored.
            schedules: The tenant's Schedules.
            tenant_id: The tenant.
            actor: Who changes it, for the audit log.
        """
        self._memory, self._schedules = memory, schedules
        self._tenant_id, self._actor = tenant_id, actor

    async def read(self) -> MaintenancePolicy:
        """The policy in force.

        Raises:
            StoredValueError: one is stored that cannot be.
        """
        async with self._transaction(write=False) as transaction:
            return policy_of(await transaction.settings.read())

    async def store(self, path: str, value: Any) -> bool:
        """Stores one value, and notes in the same transaction whose Schedule has to follow.

        Returns:
            Whether Schedules have to follow, which `align` has them do.

        Raises:
            InvalidInputError: nothing has that path, or it cannot have that value; nothing has changed.
        """
        async with self._transaction(write=True) as transaction:
            await transaction.settings.lock()
            stored = await transaction.settings.read()
            changed = changed_policy(stored.get(SETTING, {}), path, value)
            await transaction.settings.put(SETTING, changed)
            pending = {kind_of_times(path), *stored.get(_PENDING, ())} - {None}
            if pending:
                in_order = [kind for kind in MAINTENANCE_KINDS if kind in pending]
                await transaction.settings.put(_PENDING, in_order)
        return bool(pending)

    async def align(self, *, create: Collection[MaintenanceKind] = ()) -> None:
        """Gives Schedules the times of the policy where these were set, or have changed with a restore.

        All others stay as the operator has them.

        Idempotent: if it fails half way, the next call does the rest.

        Args:
            create: Kinds whose Schedules are created if there are none.

        Raises:
            StoredValueError: a policy is stored that cannot be.
            RPCError: Temporal does not answer.
        """
        async with self._transaction(write=True) as transaction:
            await transaction.settings.lock()
            stored = await transaction.settings.read()
            policy = policy_of(stored)
            await self._schedules.create(policy, kinds=create)
            pending = stored.get(_PENDING, ())
            for kind in MAINTENANCE_KINDS:
                await self._schedules.apply(kind, policy.times(kind), is_set=kind in pending)
            if _PENDING in stored:
                await transaction.settings.reset(_PENDING)

    def _transaction(self, *, write: bool) -> AbstractAsyncContextManager[Transaction]:
        return self._memory.transaction(
            tenant_id=self._tenant_id, agent_id=EVERY_AGENT, actor=self._actor, write=write
        )
