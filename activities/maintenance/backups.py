"""The backup of a tenant as an activity of `Maintenance`: created, verified, and older ones removed."""

from collections import Counter
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager

from temporalio import activity

from mnestic.activities.failures import failures
from mnestic.activities.heartbeats import heartbeats
from mnestic.activities.maintenance.steps import MaintenanceStep, StepResult
from mnestic.memory.errors import ConfigurationError
from mnestic.memory.maintenance.backups import new_backup_id
from mnestic.memory.maintenance.policies import BackupPolicy, policy_of
from mnestic.memory.maintenance.ports import BackupStore
from mnestic.memory.ports import Memory, Transaction
from mnestic.memory.scope import EVERY_AGENT

OpenBackups = Callable[[str], BackupStore]
"""Opens the backups of a tenant; raises `ConfigurationError` where the worker has no folder for them."""


class BackupActivities:
    """The backup of a tenant."""

    def __init__(self, memory: Memory, *, open_backups: OpenBackups) -> None:
        self._memory, self._open_backups = memory, open_backups

    @activity.defn(name="mnestic.back_up")
    async def back_up(self, params: MaintenanceStep) -> StepResult:
        """Backs up a tenant by its policy; a dry run counts what a backup would have.

        Idempotent: the id of the backup follows from the run, so another attempt finds a complete one. What the worker
        cannot do fails the run, which pauses the Schedule: a run without a backup must not look like one with it.
        """
        counts = Counter[str]()
        with failures():
            async with heartbeats():
                await self._back_up(params, counts)
        return StepResult(counts=dict(counts))

    async def _back_up(self, params: MaintenanceStep, counts: Counter[str]) -> None:
        backups = self._open_backups(params.tenant_id)
        policy = await self._policy(params)
        if params.dry_run:
            rows = await backups.count_rows()
            counts.update(tables=len(rows), rows=sum(rows.values()))
            return
        if not await backups.list() and await self._has_made_some(params):
            why = "holds no backup, and there were some: mount its disk, or begin anew with `mnestic backup create`"
            raise ConfigurationError(setting="MNESTIC_BACKUP_DIRECTORY", why=why)
        run = activity.info()
        backup_id = new_backup_id(run.scheduled_time, run=str(run.workflow_id))
        manifest = (await backups.create(backup_id=backup_id)).manifest
        counts.update(tables=len(manifest.tables), rows=manifest.rows, bytes=manifest.bytes)
        if policy.verify:
            await backups.verify(backup_id)
            counts.update(backups_verified=1)
        counts.update(backups_removed=await backups.prune(keep=policy.keep))

    async def _policy(self, params: MaintenanceStep) -> BackupPolicy:
        async with self._transaction(params) as transaction:
            return policy_of(await transaction.settings.read()).backup

    async def _has_made_some(self, params: MaintenanceStep) -> bool:
        """Whether a run has made a backup before."""
        async with self._transaction(params) as transaction:
            reports, _ = await transaction.maintenance_reports.list_reports("backup")
        return any(report.is_whole for report in reports)

    def _transaction(self, params: MaintenanceStep) -> AbstractAsyncContextManager[Transaction]:
        return self._memory.transaction(
            tenant_id=params.tenant_id, agent_id=EVERY_AGENT, actor=params.actor, write=False
        )
