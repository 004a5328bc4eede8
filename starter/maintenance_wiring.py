"""How maintenance is wired: the worker of its task queue, its activities, and the Schedules of a tenant."""

import asyncio
import logging
from collections.abc import Callable
from datetime import timedelta
from typing import Any

from temporalio.client import Client
from temporalio.service import RPCError
from temporalio.worker import Worker

from mnestic.activities.maintenance.steps import MaintenanceActivities
from mnestic.memory.maintenance.policies import policy_of
from mnestic.memory.names import maintenance_queue
from mnestic.memory.ports import Memory
from mnestic.memory.scope import EVERY_AGENT
from mnestic.starter.maintenance.schedules import MaintenanceSchedules
from mnestic.starter.settings import Settings
from mnestic.stores.postgres.retrieval.vector_indexes import index_vectors

_BEAT = timedelta(seconds=1)  # heartbeats are sent no more often
log = logging.getLogger("mnestic.maintenance")


def maintenance_activities(memory: Memory, *, admin_url: str) -> list[Callable[..., Any]]:
    """The activities of maintenance; vector indexes are built as the owner of the tables."""

    async def index(tenant_id: str) -> tuple[int, int]:
        indexed = await asyncio.to_thread(index_vectors, admin_url, tenant_id)
        return len(indexed.built), indexed.dropped

    maintenance = MaintenanceActivities(memory, index_vectors=index)
    return [maintenance.maintain, maintenance.index, maintenance.finish]


def make_maintenance_worker(
    client: Client, settings: Settings, *, activities: list[Callable[..., Any]], **options: Any
) -> Worker:
    """A worker on the task queue of maintenance; it does one thing at a time, so that jobs go first."""
    return Worker(
        client,
        task_queue=maintenance_queue(settings.task_queue),
        activities=activities,
        max_concurrent_activities=1,
        graceful_shutdown_timeout=timedelta(seconds=settings.worker_shutdown_s),
        max_heartbeat_throttle_interval=_BEAT,
        **options,
    )


async def create_schedules(memory: Memory, client: Client, settings: Settings) -> None:
    """Creates the Schedules of maintenance that the tenant lacks."""
    async with memory.transaction(
        tenant_id=settings.tenant_id, agent_id=EVERY_AGENT, actor="worker", write=False
    ) as transaction:
        policy = policy_of(await transaction.settings.read())
    schedules = MaintenanceSchedules(
        client, tenant_id=settings.tenant_id, task_queue=settings.task_queue
    )
    try:
        await schedules.create(policy)
    except RPCError as error:  # jobs go on without; the next start tries again
        log.warning("maintenance is not scheduled", extra={"why": error.message})
