"""How maintenance is wired: the worker of its task queue, its activities, and the Schedules of a tenant."""

import asyncio
import logging
import os
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

from temporalio.client import Client
from temporalio.service import RPCError
from temporalio.worker import Worker

from mnestic.activities.clients.local import LocalSummariser
from mnestic.activities.knowledge.embedding import EntryEmbedding
from mnestic.activities.maintenance.backups import BackupActivities
from mnestic.activities.maintenance.integrity import IntegrityActivities
from mnestic.activities.maintenance.period_summary_steps import PeriodSummaryActivities
from mnestic.activities.maintenance.reembedding import ReembedActivities
from mnestic.activities.maintenance.run_model import RunModel
from mnestic.activities.maintenance.steps import MaintenanceActivities
from mnestic.activities.maintenance.summaries import SummaryActivities
from mnestic.activities.maintenance.vacuum import VacuumActivities
from mnestic.activities.models.calls import ModelCallLimits
from mnestic.activities.models.embedders import Embedders
from mnestic.memory.errors import StoredValueError
from mnestic.memory.maintenance.policies import MAINTENANCE_KINDS, VacuumPolicy
from mnestic.memory.maintenance.ports import BackupStore, Vacuumed
from mnestic.memory.maintenance.reports import DatabaseSizes
from mnestic.memory.models.usage import ModelPrices
from mnestic.memory.names import maintenance_queue
from mnestic.memory.ports import Memory, Summariser
from mnestic.starter.maintenance.backup_client import BackupClient
from mnestic.starter.maintenance.backup_settings import BackupOptions
from mnestic.starter.maintenance.scheduled_policy import ScheduledPolicy
from mnestic.starter.maintenance.schedules import MaintenanceSchedules
from mnestic.starter.memory_wiring import find_database, local_embedders, token_counter
from mnestic.starter.settings import Settings
from mnestic.stores.postgres.jobs.record_indexes import index_records
from mnestic.stores.postgres.maintenance.database_sizes import measure_database
from mnestic.stores.postgres.maintenance.vacuum import vacuum_database
from mnestic.stores.postgres.priorities import lower_priority
from mnestic.stores.postgres.retrieval.vector_indexes import index_vectors

_NICENESS = 5
SHUTDOWN = timedelta(seconds=30)  # for which a stopping worker waits for its activities
_BEAT = timedelta(seconds=1)  # heartbeats are sent no more often
log = logging.getLogger("mnestic.maintenance")


def database_sizes(settings: Settings) -> DatabaseSizes:
    """What the tables of the database that settings name take, and how much each tenant has.

    Raises:
        UnavailableError: Postgres does not answer, or settings name no database and no runtime is up.
        ConfigurationError: the role is not the owner of the tables.
    """
    _, admin_url = find_database(settings)
    return measure_database(admin_url.get_secret_value())


def maintenance_activities(
    memory: Memory,
    *,
    admin_url: str,
    backup_directory: Path | None = None,
    backup_options: BackupOptions | None = None,
    summariser: Summariser | None = None,
    embedders: Embedders | None = None,
    limits: ModelCallLimits | None = None,
    prices: ModelPrices | None = None,
) -> list[Callable[..., Any]]:
    """The activities of maintenance; the owner of the tables builds indexes of vectors and records, and backs up.

    A summariser with a model writes summaries within the budgets; without one, no model is asked.
    Without `embedders` entries get vectors of the local one.
    """

    async def index(tenant_id: str, agent_id: str | None, dry_run: bool) -> tuple[int, int]:
        vectors = await asyncio.to_thread(
            index_vectors, admin_url, tenant_id, agent_id=agent_id, dry_run=dry_run
        )
        if agent_id is not None:
            return len(vectors.built), vectors.dropped
        records = await asyncio.to_thread(index_records, admin_url, tenant_id, dry_run=dry_run)
        return len(vectors.built) + len(records.built), vectors.dropped + records.dropped

    async def vacuum(policy: VacuumPolicy, dry_run: bool) -> Vacuumed:
        return await asyncio.to_thread(vacuum_database, admin_url, policy, dry_run=dry_run)

    def backups_of(tenant_id: str) -> BackupStore:
        return BackupClient(
            admin_url, backup_directory, tenant_id=tenant_id, options=backup_options
        )

    maintenance = MaintenanceActivities(memory, index_vectors=index, count_tokens=token_counter())
    backups = BackupActivities(memory, open_backups=backups_of)
    model = RunModel(memory, summariser, limits=limits, prices=prices)
    database = VacuumActivities(memory, vacuum=vacuum)
    summaries = SummaryActivities(memory, model, count_tokens=token_counter())
    periods = PeriodSummaryActivities(
        memory, model, quoting=LocalSummariser(), count_tokens=token_counter()
    )
    embedding = EntryEmbedding(memory, limits=limits or ModelCallLimits(), prices=prices)
    reembedding = ReembedActivities(
        memory,
        embedders=embedders or local_embedders(),
        embedding=embedding,
        index_vectors=index,
    )
    return [
        maintenance.maintain,
        maintenance.index,
        maintenance.finish,
        summaries.summarise,
        IntegrityActivities(memory).check,
        database.vacuum,
        periods.summarise,
        backups.back_up,
        reembedding.reembed,
    ]


def make_maintenance_worker(
    client: Client, settings: Settings, *, activities: list[Callable[..., Any]], **options: Any
) -> Worker:
    """A worker on the task queue of maintenance; it does one thing at a time, so that jobs go first."""
    return Worker(
        client,
        task_queue=maintenance_queue(settings.task_queue),
        activities=activities,
        max_concurrent_activities=1,
        graceful_shutdown_timeout=SHUTDOWN,
        max_heartbeat_throttle_interval=_BEAT,
        **options,
    )


def yield_to_jobs() -> None:
    """Lowers the priority of a process that does maintenance alone, so that those of jobs get the processor first.

    Sessions in Postgres follow, and threads that begin later. Temporal's threads have begun: heartbeats are not to come late.
    """
    niceness = os.getpriority(os.PRIO_PROCESS, 0) + _NICENESS
    lower_priority(os.getpid(), niceness)


async def create_schedules(memory: Memory, client: Client, settings: Settings) -> None:
    """Creates the Schedules of maintenance that the tenant lacks; that of backups once there is a folder for them.

    A Schedule that there is stays as it is, unless the policy has other times now: a restore brought them, or the Schedule
    could not follow when they were set.
    """
    schedules = MaintenanceSchedules(
        client, tenant_id=settings.tenant_id, task_queue=settings.task_queue
    )
    policy = ScheduledPolicy(memory, schedules, tenant_id=settings.tenant_id, actor="worker")
    try:
        without = set() if settings.backup_directory else {"backup"}
        kinds = [kind for kind in MAINTENANCE_KINDS if kind not in without]
        await policy.align(create=kinds)
    except (RPCError, StoredValueError) as error:  # jobs go on without; the next start tries again
        log.warning("maintenance is not scheduled", extra={"why": str(error)})
