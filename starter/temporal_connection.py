"""Temporal as a client of memory needs it: connected, with the task queue on which workflows are started."""

from dataclasses import dataclass
from typing import Any

from temporalio.client import Client, WorkflowHandle

from mnestic.activities.knowledge import ingest_starts as ingests
from mnestic.memory.knowledge.ingestion import Ingested
from mnestic.memory.names import ingest_workflow_id
from mnestic.starter.rpc import rpc_errors
from mnestic.starter.settings import Settings
from mnestic.starter.wiring import connect_temporal, find_endpoints


@dataclass(frozen=True, kw_only=True)
class TemporalConnection:
    """Where workflows are started: the client, its address for people, and the workers' task queue."""

    temporal: Client
    address: str
    task_queue: str

    async def start_ingest(self, *, tenant_id: str, agent_id: str) -> WorkflowHandle[Any, Ingested]:
        """Starts extraction from an agent's messages; a running extraction continues with the new ones.

        Raises:
            TemporalUnavailableError: Temporal does not answer.
        """
        with rpc_errors(self.address, job_id=ingest_workflow_id(tenant_id, agent_id)):
            return await ingests.start_ingest(
                self.temporal, tenant_id=tenant_id, agent_id=agent_id, task_queue=self.task_queue
            )


async def connect_temporal_for_starts(settings: Settings) -> TemporalConnection:
    """Connects to the Temporal server of the settings, or of the runtime that is up.

    Raises:
        ConfigurationError: nothing says where it is, or its own settings cannot be read.
        TemporalUnavailableError: it does not answer.
    """
    endpoints = find_endpoints(settings)
    return TemporalConnection(
        temporal=await connect_temporal(endpoints),
        address=endpoints.temporal_address,
        task_queue=settings.task_queue,
    )
