"""VACUUM of the database as an activity of `Maintenance`: tables are vacuumed, and bloated indexes rebuilt."""

from collections.abc import Awaitable, Callable

from temporalio import activity

from mnestic.activities.failures import failures
from mnestic.activities.heartbeats import heartbeats
from mnestic.activities.maintenance.steps import MaintenanceStep, StepResult
from mnestic.memory.errors import MnesticError, UnavailableError
from mnestic.memory.maintenance.policies import VacuumPolicy, policy_of
from mnestic.memory.maintenance.ports import Vacuumed
from mnestic.memory.ports import Memory
from mnestic.memory.scope import EVERY_AGENT

VacuumDatabase = Callable[[VacuumPolicy, bool], Awaitable[Vacuumed]]
"""Vacuums the database by a policy; with True nothing is changed."""


class VacuumActivities:
    """VACUUM of the database."""

    def __init__(self, memory: Memory, *, vacuum: VacuumDatabase) -> None:
        self._memory, self._vacuum = memory, vacuum

    @activity.defn(name="mnestic.vacuum")
    async def vacuum(self, params: MaintenanceStep) -> StepResult:
        """Vacuums the tables, and rebuilds bloated indexes; a dry run says which.

        Idempotent: what was vacuumed within a day is left alone, whichever tenant's run did it. Where this worker may not do
        it, that is the problem of the result.
        """
        with failures():
            async with heartbeats():
                try:
                    done = await self._vacuum(await self._policy(params), params.dry_run)
                except UnavailableError:
                    raise  # the next attempt may succeed
                except MnesticError as error:
                    return StepResult(problems=(f"vacuum: {error}",))
        return StepResult(counts=_counts(done), problems=done.problems)

    async def _policy(self, params: MaintenanceStep) -> VacuumPolicy:
        async with self._memory.transaction(
            tenant_id=params.tenant_id, agent_id=EVERY_AGENT, actor=params.actor, write=False
        ) as transaction:
            return policy_of(await transaction.settings.read()).monthly.vacuum


def _counts(done: Vacuumed) -> dict[str, int]:
    counts = {
        "tables_vacuumed": len(done.tables),
        "indexes_rebuilt": len(done.rebuilt),
        "leftover_indexes_dropped": len(done.dropped),
    }
    freed = {f"bytes freed of {one.name}": max(0, one.before - one.after) for one in done.rebuilt}
    return {name: number for name, number in (counts | freed).items() if number}
