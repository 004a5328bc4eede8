"""A connection to Temporal and to memory.

It stands apart from `MnesticClient`, which is built on it and starts and resumes jobs.
"""

from contextlib import AsyncExitStack
from typing import Self

from temporalio.client import Client

from mnestic.activities.retrieval.query_models import QueryModels
from mnestic.memory.ports import Memory
from mnestic.memory.scope import check_id
from mnestic.starter.client.inbox import InboxClient
from mnestic.starter.client.memory_connection import MemoryConnection, open_models
from mnestic.starter.jobs.steering import JobSteering
from mnestic.starter.knowledge.extraction_starts import ExtractionStarts
from mnestic.starter.lazy_temporal import LazyTemporal
from mnestic.starter.memory_wiring import writing_embedder
from mnestic.starter.settings import Settings, load_settings
from mnestic.starter.temporal_connection import TemporalConnection
from mnestic.starter.wiring import Endpoints, connect_temporal, find_endpoints, open_memory


class Connection(JobSteering, MemoryConnection):
    """A connection; use it as an async context manager."""

    def __init__(
        self,
        temporal: Client,
        memory: Memory,
        *,
        settings: Settings,
        endpoints: Endpoints,
        models: QueryModels | None = None,
    ) -> None:
        """Prepares the client, of what is connected already.

        Raises:
            InvalidInputError: the tenant of the settings is no id.
        """
        JobSteering.__init__(self, temporal, settings=settings, endpoints=endpoints)
        temporal_connection = TemporalConnection(
            temporal=temporal, address=endpoints.temporal_address, task_queue=settings.task_queue
        )
        lazy_temporal = LazyTemporal(settings, connected=temporal_connection)
        MemoryConnection.__init__(
            self, memory, settings=settings, models=models, lazy_temporal=lazy_temporal
        )
        self._extraction = ExtractionStarts(lazy_temporal, tenant_id=settings.tenant_id)

    @classmethod
    async def connect(cls, settings: Settings | None = None) -> Self:
        """Connects to what the settings, or the runtime that is up, say.

        Raises:
            InvalidInputError: the tenant is no id.
            ConfigurationError: nothing says where to connect.
            DatabaseUnavailableError: Postgres does not answer.
            TemporalUnavailableError: Temporal does not answer.
            SchemaVersionError: the database is of another version.
        """
        settings = settings or load_settings()
        check_id(settings.tenant_id, what="tenant")
        endpoints = find_endpoints(settings)
        async with AsyncExitStack() as opened:
            memory = open_memory(endpoints, embedder=writing_embedder(settings))
            opened.push_async_callback(memory.close)
            await memory.check()
            temporal = await connect_temporal(endpoints)
            models = await open_models(settings, opened)
            client = cls(temporal, memory, settings=settings, endpoints=endpoints, models=models)
            client._closing = opened.pop_all()
        return client

    async def close(self) -> None:
        """Has extraction started of what was added last, and closes the connections to Postgres."""
        if self._extraction is not None:
            await self._extraction.close()
        await super().close()

    def inbox(self, agent_id: str) -> InboxClient:
        """The inbox of one agent, which is told what it is to learn from."""
        address = self.endpoints.temporal_address
        return InboxClient(
            self.temporal, self._memory, agent_id=agent_id, settings=self.settings, address=address
        )
