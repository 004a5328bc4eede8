"""Where the database and Temporal are, and the connections to both.

`memory_wiring.py` imports no Temporal.
"""

from contextlib import AsyncExitStack
from dataclasses import dataclass
from urllib.parse import quote

from pydantic import BaseModel, ConfigDict, SecretStr
from temporalio.client import Client
from temporalio.plugin import SimplePlugin
from temporalio.runtime import Runtime

from mnestic.activities.retrieval.query_models import QueryModels
from mnestic.memory.ports import Embedder, Memory
from mnestic.memory.retrieval.caches import CACHE_BYTES
from mnestic.starter.embedded.connection import connect, load_profile
from mnestic.starter.embedded.state import read_state
from mnestic.starter.memory_wiring import (
    find_database,
    open_database,
    open_models,
    unknown_address,
    writing_embedder,
)
from mnestic.starter.payloads.keys import PayloadKeys, payload_keys
from mnestic.starter.plugins import make_plugin
from mnestic.starter.settings import Settings
from mnestic.starter.suppression_secret import SuppressionSecret
from mnestic.stores.postgres.memory import PostgresMemory


class Endpoints(BaseModel):
    """The addresses in force: settings first, then the runtime that is up on the data directory."""

    model_config = ConfigDict(frozen=True, arbitrary_types_allowed=True)

    database_url: SecretStr
    database_admin_url: SecretStr
    cache_bytes: int = CACHE_BYTES
    suppression_secret: SuppressionSecret | None = None
    temporal_address: str
    temporal_namespace: str = "default"
    temporal_ui: str | None = None
    embedded_temporal: bool
    tenant_id: str | None = None  # of workflows whose ids have no tenant
    payload_keys: PayloadKeys = PayloadKeys()

    def link_to(self, workflow_id: str, *, run_id: str | None = None) -> str | None:
        """The page of a workflow in the Temporal UI, if the UI's address is known.

        With a run it is the page User Metadata, which shows a job's card.
        """
        if self.temporal_ui is None:
            return None
        name = quote(workflow_id, safe="")
        card = "" if run_id is None else f"/{run_id}/user-metadata"
        return f"{self.temporal_ui}/namespaces/{self.temporal_namespace}/workflows/{name}{card}"


def find_endpoints(settings: Settings) -> Endpoints:
    """The addresses to use.

    Raises:
        ConfigurationError: Temporal's own settings or the keys of payloads cannot be read.
        UnavailableError: the settings do not say them, and no runtime is up, or it is not ready yet.
    """
    state = read_state(settings.data_dir)
    database, admin = find_database(settings)
    temporal = settings.temporal_address or (state.temporal_address if state else None)
    if temporal is None:
        raise unknown_address("TEMPORAL_ADDRESS", settings)
    embedded = settings.temporal_address is None
    return Endpoints(
        database_url=database,
        database_admin_url=admin,
        cache_bytes=settings.cache_bytes,
        suppression_secret=SuppressionSecret(settings),
        temporal_address=temporal,
        temporal_namespace="default" if embedded else load_profile().get("namespace", "default"),
        temporal_ui=settings.temporal_ui_url or (state.temporal_ui if state and embedded else None),
        embedded_temporal=embedded,
        tenant_id=settings.tenant_id,
        payload_keys=payload_keys(settings),
    )


async def connect_temporal(
    endpoints: Endpoints, *, plugins: tuple[SimplePlugin, ...] = (), runtime: Runtime | None = None
) -> Client:
    """Connects to Temporal with everything that jobs need.

    Raises:
        TemporalUnavailableError: it does not answer.
        ConfigurationError: Temporal's own settings cannot be read.
    """
    return await connect(
        endpoints.temporal_address,
        embedded=endpoints.embedded_temporal,
        plugins=[make_plugin(endpoints.payload_keys, tenant_id=endpoints.tenant_id), *plugins],
        runtime=runtime,
    )


def open_memory(endpoints: Endpoints, *, embedder: Embedder | None = None) -> PostgresMemory:
    """The memory in Postgres; the caller closes it."""
    url, cache_bytes = endpoints.database_url, endpoints.cache_bytes
    return open_database(
        url,
        cache_bytes=cache_bytes,
        embedder=embedder,
        suppression_secret=endpoints.suppression_secret,
    )


@dataclass(frozen=True, kw_only=True)
class OpenConnections:
    """Open connections, and the models for queries."""

    temporal: Client
    memory: Memory
    endpoints: Endpoints
    models: QueryModels


async def open_connections(settings: Settings, opened: AsyncExitStack) -> OpenConnections:
    """Connects to Postgres and Temporal of the settings, or of the runtime that is up; the stack closes it.

    Raises:
        ConfigurationError: an address is missing or malformed.
        DatabaseUnavailableError: Postgres does not answer.
        TemporalUnavailableError: Temporal does not answer.
        SchemaVersionError: the database is of another version.
    """
    endpoints = find_endpoints(settings)
    memory = open_memory(endpoints, embedder=writing_embedder(settings))
    opened.push_async_callback(memory.close)
    await memory.check()
    return OpenConnections(
        temporal=await connect_temporal(endpoints),
        memory=memory,
        endpoints=endpoints,
        models=await open_models(settings, opened),
    )
