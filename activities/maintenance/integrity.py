"""The integrity of a tenant's memory as an activity of `Maintenance`: what cannot be found or verified any more, and the remedy."""

from temporalio import activity

from mnestic.activities.failures import failures
from mnestic.activities.heartbeats import heartbeats
from mnestic.activities.maintenance.steps import MaintenanceStep, StepResult
from mnestic.memory.maintenance.integrity import find_damage
from mnestic.memory.ports import Memory, Transaction
from mnestic.memory.scope import EVERY_AGENT

_WAITS = 500  # whose snapshots one statement verifies


class IntegrityActivities:
    """The check of what is stored."""

    def __init__(self, memory: Memory) -> None:
        self._memory = memory

    @activity.defn(name="mnestic.check_integrity")
    async def check(self, params: MaintenanceStep) -> StepResult:
        """Searches for a sample of entries, and verifies the snapshots of all open waits.

        Idempotent: it reads alone.
        """
        with failures():
            async with (
                heartbeats(),
                self._memory.transaction(
                    tenant_id=params.tenant_id,
                    agent_id=EVERY_AGENT,
                    actor=params.actor,
                    write=False,
                ) as transaction,
            ):
                broken = await _list_broken(transaction)
                sample = await transaction.embeddings.sample_index()
        counts, problems = find_damage(sample, jobs=broken)
        return StepResult(counts=counts, problems=problems)


async def _list_broken(transaction: Transaction) -> list[str]:
    """The jobs of open waits whose snapshots cannot be verified."""
    broken, after = list[str](), ""
    while waits := await transaction.snapshots.verify_open(after=after, limit=_WAITS):
        broken += [one.job_id for one in waits if not one.is_whole]
        after = waits[-1].wait_id
    return broken
