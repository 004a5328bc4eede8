"""`MemoryConnection`: a connection to the memory of agents, without Temporal.

It imports no Temporal: a process that only adds to memory and queries it needs Postgres alone. Temporal is connected
when a call needs it, such as `forget`.
"""

from collections.abc import Awaitable, Callable, Mapping
from contextlib import AsyncExitStack
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Self, TypedDict, TypeVar

from pydantic import BaseModel

from mnestic.activities.callers import Caller
from mnestic.activities.retrieval.auto_retrieval import AutoRetriever
from mnestic.activities.retrieval.query_models import QueryModels
from mnestic.memory.agents import AgentSummary
from mnestic.memory.knowledge.extraction import ExtractionPreview
from mnestic.memory.models.costs import Costs
from mnestic.memory.ports import Memory
from mnestic.memory.retrieval.caches import CacheCounts
from mnestic.memory.scope import EVERY_AGENT, check_id
from mnestic.starter.access.api_keys import ApiKeyClient
from mnestic.starter.access.audit import AuditClient
from mnestic.starter.access.idempotency import (
    ReservedRequest,
    act_once,
    reserve_request_id,
    write_once,
)
from mnestic.starter.checked_texts import ChecksTexts
from mnestic.starter.client.client_scope import client_caller
from mnestic.starter.client.importance import ImportanceClient
from mnestic.starter.client.memory_client import MemoryClient
from mnestic.starter.client.predicates import PredicateClient
from mnestic.starter.knowledge.extraction_starts import ExtractionStarts
from mnestic.starter.lazy_temporal import LazyTemporal
from mnestic.starter.memory_wiring import (
    auto_retriever,
    find_database,
    local_models,
    open_database,
    open_models,
    prices_of,
    writing_embedder,
)
from mnestic.starter.models.costs import costs_of
from mnestic.starter.settings import Settings, load_settings
from mnestic.starter.suppression_secret import SuppressionSecret

if TYPE_CHECKING:
    from mnestic.starter.client.contract_memory import ContractMemory
    from mnestic.starter.contract.contracts import ContractsClient
    from mnestic.starter.maintenance.backup_client import BackupClient

Result = TypeVar("Result", bound=BaseModel)


class ConnectionArguments(TypedDict, total=False):
    """What `MemoryConnection` may be given beside memory and settings."""

    models: QueryModels | None
    auto: AutoRetriever | None
    is_shared: bool


class MemoryConnection(ChecksTexts):
    """A connection to memory; use it as an async context manager."""

    def __init__(
        self,
        memory: Memory,
        *,
        settings: Settings,
        models: QueryModels | None = None,
        lazy_temporal: LazyTemporal | None = None,
        auto: AutoRetriever | None = None,
        is_shared: bool = False,
    ) -> None:
        """Wraps connections that are open already.

        Args:
            memory: The memory of all agents.
            settings: They name the tenant.
            models: The models for queries; local ones by default.
            lazy_temporal: The connection that starts workflows; made from the settings by default.
            auto: Finds memories and notes for a message; made from the settings by default.
            is_shared: Whether others use the connections too, so that `close` leaves them open.

        Raises:
            InvalidInputError: the tenant of the settings is no id.
        """
        check_id(settings.tenant_id, what="tenant")
        self.settings = settings
        self._memory = memory
        self._models = models or local_models()
        self._auto = auto or auto_retriever(settings, self._models)
        self._lazy_temporal = lazy_temporal or LazyTemporal(settings)
        self._extraction: ExtractionStarts | None = None  # a worker polls for new messages
        self._closing = AsyncExitStack()
        if not is_shared:
            self._closing.push_async_callback(memory.close)

    @classmethod
    async def connect(cls, settings: Settings | None = None) -> Self:
        """Connects to the database of the settings, or of the runtime that is up.

        Raises:
            InvalidInputError: the tenant is no id.
            UnavailableError: no setting names a database, and no runtime is up.
            DatabaseUnavailableError: Postgres does not answer.
            SchemaVersionError: the database is of another version.
        """
        settings = settings or load_settings()
        check_id(settings.tenant_id, what="tenant")
        url, _ = find_database(settings)
        async with AsyncExitStack() as opened:
            memory = open_database(
                url,
                cache_bytes=settings.cache_bytes,
                embedder=writing_embedder(settings),
                suppression_secret=SuppressionSecret(settings),
            )
            opened.push_async_callback(memory.close)
            await memory.check()
            models = await open_models(settings, opened)
            connection = cls(memory, settings=settings, models=models)
            connection._closing = opened.pop_all()
        return connection

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *failure: object) -> None:
        await self.close()

    async def close(self) -> None:
        """Starts extraction of the last additions, and closes the connections to Postgres.

        The connection to Temporal closes with the process.
        """
        if self._extraction is not None:
            await self._extraction.close()
        await self._closing.aclose()

    def memory(
        self, agent_id: str, *, actor: str = "client", reader: str | None = None
    ) -> MemoryClient:
        """The memory of one agent, for an actor that the audit log names.

        With a `reader`, as that reader may read it; then it cannot be written.

        Raises:
            InvalidInputError: the agent or the reader is no id.
        """
        caller = self._client_caller(agent_id, actor=actor, reader=reader)
        return self._memory_of(caller, extraction=self._extraction)

    async def write_once(
        self,
        agent_id: str,
        key: str,
        *,
        request: Mapping[str, Any],
        result_type: type[Result],
        work: Callable[[MemoryClient], Awaitable[Result]],
        actor: str = "client",
    ) -> Result:
        """Does a write once: the same key with the same request gets the first result.

        Args:
            agent_id: The agent.
            key: The idempotency key, unique among the agent's.
            request: What is wanted, as JSON.
            result_type: What the work gives.
            work: Writes with the client that it is given; all of its calls are one transaction.
            actor: Who writes, for the audit log.

        Raises:
            InvalidInputError: the agent is no id.
            IdempotencyConflictError: the key was used for another request.
        """
        caller = self._client_caller(agent_id, actor=actor)

        async def working(joined: Memory) -> Result:
            return await work(self._memory_of(replace(caller, memory=joined), extraction=None))

        result = await write_once(
            caller, key=key, request=request, result_type=result_type, work=working
        )
        if self._extraction is not None:
            self._extraction.start_in_background(agent_id)
        return result

    async def reserve_request_id(
        self,
        key: str,
        *,
        request: Mapping[str, Any],
        agent_id: str = EVERY_AGENT,
        actor: str = "client",
    ) -> ReservedRequest:
        """The id of a request that starts or steers something in Temporal, for which an id makes it happen once.

        Args:
            key: The idempotency key, unique among the agent's.
            request: What is wanted, as JSON.
            agent_id: The agent whose request it is; by default it is the tenant's.
            actor: Who makes it, for the audit log.

        Raises:
            IdempotencyConflictError: the key was used for another request.
        """
        caller = self._caller(agent_id, actor=actor)
        return await reserve_request_id(caller, key=key, request=request)

    async def extract(
        self,
        agent_id: str,
        content: str,
        *,
        speaker: str = "user",
        at: datetime | None = None,
    ) -> ExtractionPreview:
        """What would be extracted from a message, by the configured model or the local extractor; nothing is stored.

        Args:
            agent_id: The agent to which a model's call is charged.
            content: The message.
            speaker: Who said it, to whom “I” refers.
            at: When it was said; now by default.

        Raises:
            InvalidInputError: the message says nothing or is too long, or the speaker is no name.
            ConfigurationError: there is no extractor, or a model has no server or no price.
            BudgetExceededError: the tenant's day has nothing left.
            ModelUnavailableError: the model does not answer.
            ModelRefusedError: the model or its server refused, or the answer is of no use.
        """
        from mnestic.starter.knowledge.extraction_preview import (  # noqa: PLC0415 - it imports clients of models
            preview_extraction,
        )

        return await preview_extraction(
            self.settings,
            content,
            speaker=speaker,
            at=at or datetime.now(UTC),
            agent_id=agent_id,
        )

    async def act_once(
        self,
        key: str,
        *,
        request: Mapping[str, Any],
        result_type: type[Result],
        act: Callable[[str], Awaitable[Result]],
        agent_id: str = EVERY_AGENT,
        actor: str = "client",
    ) -> Result:
        """Acts on something outside of the database once: the same key with the same request gets the first result.

        Args:
            key: The idempotency key, unique among the agent's.
            request: What is wanted, as JSON.
            result_type: What the act gives.
            act: Acts, with the id of the request. After a crash it may be called again, with the same id.
            agent_id: The agent whose request it is; by default it is the tenant's.
            actor: Who makes it, for the audit log.

        Raises:
            IdempotencyConflictError: the key was used for another request.
        """
        caller = self._caller(agent_id, actor=actor)
        return await act_once(caller, key=key, request=request, result_type=result_type, act=act)

    def _caller(self, agent_id: str, *, actor: str) -> Caller:
        tenant_id = self.settings.tenant_id
        return Caller(memory=self._memory, tenant_id=tenant_id, agent_id=agent_id, actor=actor)

    def _client_caller(self, agent_id: str, *, actor: str, reader: str | None = None) -> Caller:
        """That of one agent, not of them all."""
        return client_caller(
            self._memory,
            tenant_id=self.settings.tenant_id,
            agent_id=agent_id,
            actor=actor,
            reader=reader,
        )

    def _memory_of(self, caller: Caller, *, extraction: ExtractionStarts | None) -> MemoryClient:
        return MemoryClient(
            caller,
            models=self._models,
            auto=self._auto,
            lazy_temporal=self._lazy_temporal,
            extraction=extraction,
        )

    async def list_agents(
        self, *, agent_id: str | None = None, limit: int = 100, cursor: str | None = None
    ) -> tuple[tuple[AgentSummary, ...], str | None]:
        """The agents of the tenant that have memory, by name, and the cursor of the next page.

        Args:
            agent_id: Only this one; the list is empty if it has no memory.
            limit: The maximum number of results.
            cursor: The cursor of the previous page.

        Raises:
            InvalidInputError: the agent is no id, or the cursor is of another list.
        """
        if agent_id is not None:
            check_id(agent_id, what="agent")
        return await self._memory.list_agents(
            tenant_id=self.settings.tenant_id, agent_id=agent_id, limit=limit, cursor=cursor
        )

    def cache_counts(self) -> CacheCounts:
        """The sizes and hit rates of this process's caches, for the tenant."""
        return self._memory.cache_counts(self.settings.tenant_id)

    def predicates(self) -> PredicateClient:
        """The predicates of the tenant, which all its agents share."""
        return PredicateClient(self._memory, tenant_id=self.settings.tenant_id)

    def api_keys(self, *, actor: str = "client") -> ApiKeyClient:
        """The API keys of the tenant, for an actor that the audit log names."""
        return ApiKeyClient(self._memory, tenant_id=self.settings.tenant_id, actor=actor)

    def audit(self, *, actor: str = "client") -> AuditClient:
        """The audit log of the tenant, for an actor that the audit log names."""
        return AuditClient(self._memory, tenant_id=self.settings.tenant_id, actor=actor)

    def importance(self) -> ImportanceClient:
        """The importance policy of the tenant, which all its agents share."""
        return ImportanceClient(self._memory, tenant_id=self.settings.tenant_id)

    async def contract(
        self, agent_id: str, *, session_id: str | None = None, actor: str = "client"
    ) -> "ContractMemory":
        """The memory of an agent by its contract: `persist`, `retrieve`, `query` and the segments of a session.

        Raises:
            InvalidInputError: the agent is no id.
            NotFoundError: no contract is in force for the agent.
        """
        return await self.memory(agent_id, actor=actor).contract(session_id)

    def contracts(self, *, actor: str = "client") -> "ContractsClient":
        """The contracts of the tenant, for an actor that the audit log names."""
        from mnestic.starter.contract.contracts import (  # noqa: PLC0415 - who only searches needs no contract
            ContractsClient,
        )

        return ContractsClient(
            self._memory,
            tenant_id=self.settings.tenant_id,
            actor=actor,
            admin_url=find_database(self.settings)[1],
        )

    def backups(self) -> "BackupClient":
        """The backups of the tenant in the folder `MNESTIC_BACKUP_DIRECTORY`; they need the owner of the tables.

        Raises:
            ConfigurationError: there is no such setting.
        """
        from mnestic.starter.maintenance.backup_client import (  # noqa: PLC0415 - who only searches needs no backup
            open_backups,
        )

        return open_backups(self.settings)

    async def costs(
        self,
        *,
        since: datetime | None = None,
        until: datetime | None = None,
        agent_id: str | None = None,
    ) -> Costs:
        """What models cost the tenant, by purpose, and what of it was retrieved before messages.

        Args:
            since: From this time; 30 days ago by default. Aware.
            until: Before this time; now by default. Aware.
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
