"""A connection to Temporal and to memory, and what it opens: one agent's memory, its inbox, the tenant's costs.

It stands apart from `MnesticClient`, which is built on it and starts and resumes jobs.
"""

from contextlib import AsyncExitStack
from datetime import datetime
from typing import Self

from temporalio.client import Client

from mnestic.activities.query_models import QueryModels
from mnestic.memory.caches import CacheCounts
from mnestic.memory.costs import Costs
from mnestic.memory.ports import Memory
from mnestic.memory.scope import check_id
from mnestic.starter.costs import costs_of
from mnestic.starter.forgetting_client import Reach
from mnestic.starter.inbox_client import InboxClient
from mnestic.starter.job_steering import JobSteering
from mnestic.starter.memory_client import MemoryClient
from mnestic.starter.predicate_client import PredicateClient
from mnestic.starter.settings import Settings, load_settings
from mnestic.starter.wiring import (
    Endpoints,
    auto_retriever,
    connect_temporal,
    embedder_of,
    find_endpoints,
    local_models,
    open_memory,
    open_openai,
    open_query_models,
    open_reranker,
    prices_of,
)


class Connection(JobSteering):
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
        check_id(settings.tenant_id, what="tenant")
        super().__init__(temporal, settings=settings, endpoints=endpoints)
        self._memory = memory
        self._models = models or local_models()
        self._auto = auto_retriever(settings, self._models)
        self._closing = AsyncExitStack()
        self._closing.push_async_callback(memory.close)

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
            memory = open_memory(endpoints)
            opened.push_async_callback(memory.close)
            await memory.check()
            temporal = await connect_temporal(endpoints)
            openai = None
            if settings.embedding_model is not None:
                openai = await opened.enter_async_context(open_openai(settings))
            reranker = await opened.enter_async_context(open_reranker(settings))
            models = await opened.enter_async_context(
                open_query_models(settings, embedder_of(settings, openai), reranker)
            )
            client = cls(temporal, memory, settings=settings, endpoints=endpoints, models=models)
            client._closing = opened.pop_all()
        return client

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *failure: object) -> None:
        await self.close()

    async def close(self) -> None:
        """Closes the connections to Postgres; Temporal's closes with the process."""
        await self._closing.aclose()

    def memory(self, agent_id: str) -> MemoryClient:
        """The memory of one agent.

        Raises:
            InvalidInputError: the agent is no id.
        """
        return MemoryClient(
            self._memory,
            tenant_id=self.settings.tenant_id,
            agent_id=agent_id,
            models=self._models,
            auto=self._auto,
            reach=Reach(
                temporal=self.temporal,
                address=self.endpoints.temporal_address,
                task_queue=self.settings.task_queue,
            ),
        )

    def cache_counts(self) -> CacheCounts:
        """What this process keeps of entries and answers, and how often that was of use."""
        return self._memory.cache_counts()

    def predicates(self) -> PredicateClient:
        """What holds for predicates in the tenant, of all its agents."""
        return PredicateClient(self._memory, tenant_id=self.settings.tenant_id)

    async def costs(
        self,
        *,
        since: datetime | None = None,
        until: datetime | None = None,
        agent_id: str | None = None,
    ) -> Costs:
        """What models cost the tenant, by purpose, and what of it was put before messages.

        Args:
            since: From this moment, of the last 30 days without it. Aware.
            until: Up to this moment, until now without it. Aware.
            agent_id: Only of this agent.

        Raises:
            InvalidInputError: it ends before it begins.
        """
        return await costs_of(
            self._memory,
            tenant_id=self.settings.tenant_id,
            prices=prices_of(self.settings.model_prices),
            since=since,
            until=until,
            agent_id=agent_id,
        )

    def inbox(self, agent_id: str) -> InboxClient:
        """The inbox of one agent, which is told what it is to learn from."""
        address = self.endpoints.temporal_address
        return InboxClient(
            self.temporal, self._memory, agent_id=agent_id, settings=self.settings, address=address
        )
