"""`Tenants`: the clients of all tenants over one set of connections, each reached by an API key.

Every server needs the same: which tenant a request is of follows from its key and from nothing else.
"""

import asyncio
import hmac
import logging
import time
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from dataclasses import dataclass, field
from typing import Self

from mnestic.memory.access.api_keys import Action, ApiKey, read_key
from mnestic.memory.access.audit import key_actor
from mnestic.memory.access.errors import ForbiddenError
from mnestic.memory.errors import MnesticError, NotFoundError
from mnestic.memory.jobs.agent_job import JobDescription
from mnestic.memory.ports import Transaction
from mnestic.memory.scope import EVERY_AGENT
from mnestic.starter.access.api_keys import ApiKeyClient
from mnestic.starter.client.mnestic_client import MnesticClient
from mnestic.starter.memory_wiring import auto_retriever
from mnestic.starter.settings import Settings, load_settings
from mnestic.starter.wiring import OpenConnections, open_connections

_BY_OTHERS: frozenset[Action] = frozenset({"jobs", "admin"})  # Temporal and its workers


@dataclass(frozen=True, kw_only=True)
class Access:
    """A key that was verified, and the client of its tenant."""

    key: ApiKey
    client: MnesticClient
    text: str = field(repr=False)

    def seal(self, value: str) -> str:
        """What stands for a value where it must not be guessed: the key's secret, which is not stored, goes into it."""
        return hmac.digest(self.text.encode(), value.encode(), "sha256").hex()

    @property
    def actor(self) -> str:
        """The actor of what is done with the key, for the audit log."""
        return key_actor(self.key.id)

    def allows(self, action: Action, *, agent_id: str | None) -> bool:
        """Whether the key allows an action, on an agent's memory or, without one, on all of the tenant."""
        return _denial(self.key, action, agent_id) is None


log = logging.getLogger(__name__)
_STORAGE_LIMIT_S = 3.0  # less than a probe waits


@dataclass(frozen=True, kw_only=True)
class StorageCheck:
    """What a check of the database has found, and until when that counts."""

    until: float = 0.0  # seconds of the monotonic clock
    why: str | None = None  # it is of no use


class Tenants:
    """The clients of tenants; use it as an async context manager, which closes the connections."""

    def __init__(self, connections: OpenConnections, *, settings: Settings) -> None:
        """Wraps connections that are open already, and that somebody else closes."""
        self._connections, self._settings = connections, settings
        self._auto = auto_retriever(settings, connections.models)
        self._clients: dict[str, MnesticClient] = {}
        self._closing = AsyncExitStack()
        self._checking, self._storage = asyncio.Lock(), StorageCheck()

    @classmethod
    async def connect(cls, settings: Settings | None = None) -> Self:
        """Connects to Postgres and Temporal; it raises what `open_connections` does."""
        settings = settings or load_settings()
        async with AsyncExitStack() as opened:
            tenants = cls(await open_connections(settings, opened), settings=settings)
            tenants._closing = opened.pop_all()
        return tenants

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *failure: object) -> None:
        async with self._closing:
            for client in self._clients.values():
                await client.close()

    def client(self, tenant_id: str) -> MnesticClient:
        """The client of a tenant.

        Raises:
            InvalidInputError: the tenant is no id.
        """
        if tenant_id not in self._clients:
            self._clients[tenant_id] = MnesticClient(
                self._connections.temporal,
                self._connections.memory,
                settings=self._settings.model_copy(update={"tenant_id": tenant_id}),
                endpoints=self._connections.endpoints,
                models=self._connections.models,
                auto=self._auto,  # the vault of notes stays that of the settings' tenant
                is_shared=True,
            )
        return self._clients[tenant_id]

    async def is_storage_ready(self) -> bool:
        """Whether the database answers, and is of this version; asked once a second however many callers there are."""
        async with self._checking:
            if self._storage.until < time.monotonic():
                why = None
                try:
                    async with asyncio.timeout(_STORAGE_LIMIT_S):
                        await self._connections.memory.check()
                except (MnesticError, TimeoutError) as error:
                    why = str(error) or "no answer in time"
                    log.warning("storage does not answer", extra={"why": why})
                self._storage = StorageCheck(until=time.monotonic() + 1, why=why)
        return self._storage.why is None

    async def authenticate(self, text: str) -> Access:
        """The access that the text of a key gives.

        Raises:
            UnauthenticatedError: there is no such key, or it is expired or revoked.
        """
        tenant_id = read_key(text).tenant_id
        key = await ApiKeyClient(self._connections.memory, tenant_id=tenant_id).verify(text)
        return Access(key=key, client=self.client(tenant_id), text=text)

    async def require(
        self, access: Access, action: Action, *, agent_id: str | None, target: str
    ) -> None:
        """Checks that a key allows an action, on an agent's memory or, without one, on all of the tenant.

        The audit log notes what is denied, and what is allowed if it is work of others, whose rows do not name the key.

        Raises:
            ForbiddenError: the key does not allow it.
        """
        why = _denial(access.key, action, agent_id)
        if why is not None:
            await self._deny(
                access, action, agent_id=agent_id or EVERY_AGENT, target=target, why=why
            )
            raise ForbiddenError(what=target, why=why)
        if action in _BY_OTHERS:
            await self._allow(access, agent_id=agent_id or EVERY_AGENT, target=target)

    async def require_job(self, access: Access, job_id: str, *, target: str) -> JobDescription:
        """The job of an id, if the key allows jobs and the job is of an agent that it is for.

        Raises:
            ForbiddenError: the key does not allow jobs.
            NotFoundError: there is no such job, or it is of another agent; nothing says which.
        """
        if "jobs" not in access.key.scope.actions:
            await self.require(access, "jobs", agent_id=None, target=target)
        job = await access.client.describe_job(job_id)
        why = _denial(access.key, "jobs", job.agent_id)
        if why is not None:
            await self._deny(access, "jobs", agent_id=job.agent_id, target=target, why=why)
            raise NotFoundError(what="job", name=job_id)
        await self._allow(access, agent_id=job.agent_id, target=f"{target}: {job_id}")
        return job

    async def _allow(self, access: Access, *, agent_id: str, target: str) -> None:
        tenant_id = access.client.settings.tenant_id
        async with self._transaction(tenant_id, agent_id, key_id=access.key.id) as transaction:
            transaction.audit.allow(target)

    async def _deny(
        self, access: Access, action: Action, *, agent_id: str, target: str, why: str
    ) -> None:
        tenant_id = access.client.settings.tenant_id
        async with self._transaction(tenant_id, agent_id, key_id=access.key.id) as transaction:
            transaction.audit.deny(action, target, reason=why)

    def _transaction(
        self, tenant_id: str, agent_id: str, *, key_id: str
    ) -> AbstractAsyncContextManager[Transaction]:
        return self._connections.memory.transaction(
            tenant_id=tenant_id, agent_id=agent_id, actor=key_actor(key_id), write=False
        )


def _denial(key: ApiKey, action: Action, agent_id: str | None) -> str | None:
    """Why a key does not allow an action, or None if it does."""
    if action not in key.scope.actions:
        return f"the API key does not allow the action {action}"
    if agent_id is None and not key.scope.covers_all:
        return "the API key is not for all agents of the tenant"
    if agent_id is not None and not key.scope.covers(agent_id):
        return f"the API key is not for the agent {agent_id}"
    return None
