"""Where the database and Temporal are, and the connections to them.

One of the two composition roots: it and `worker.py` alone name concrete stores.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from decimal import Decimal
from typing import TYPE_CHECKING
from urllib.parse import quote

from pydantic import BaseModel, ConfigDict, SecretStr
from temporalio.client import Client
from temporalio.plugin import SimplePlugin
from temporalio.runtime import Runtime

from mnestic.activities.auto_retrieving import AutoRetriever, SourceLimits
from mnestic.activities.clients.local import MODEL as LOCAL_MODEL
from mnestic.activities.clients.rules.extractor import LocalExtractor
from mnestic.activities.clients.token_matching import TokenMatchReranker
from mnestic.activities.clients.token_vectors import TokenVectorEmbedder
from mnestic.activities.clients.tokens import count_tokens
from mnestic.activities.learning_calls import LearningLimits
from mnestic.activities.query_models import QueryModels
from mnestic.memory.caches import CACHE_BYTES
from mnestic.memory.errors import (
    ConfigurationError,
    DatabaseUnavailableError,
    MnesticError,
    TemporalUnavailableError,
)
from mnestic.memory.ports import Embedder, Extractor, Reranker, TokenCounter
from mnestic.memory.retrieval import Rerank
from mnestic.memory.retrieval_ports import NoteSource
from mnestic.memory.usage import Budget, ModelPrice, ModelPrices
from mnestic.starter.embedded.connection import connect, load_profile
from mnestic.starter.embedded.state import read_last_state, read_state
from mnestic.starter.payload_keys import PayloadKeys, payload_keys
from mnestic.starter.plugins import make_plugin
from mnestic.starter.settings import Settings
from mnestic.stores.notes.folder import FolderVault
from mnestic.stores.notes.rest_api import RestVault
from mnestic.stores.postgres.memory import PostgresMemory

if TYPE_CHECKING:  # half a second, which only who asks a model pays
    from openai import AsyncOpenAI

LOCAL = "local"  # in place of a model's name
_FREE = ModelPrice(input=Decimal(0), output=Decimal(0))


class Endpoints(BaseModel):
    """The addresses in force: settings first, then the runtime that is up on the data directory."""

    model_config = ConfigDict(frozen=True)

    database_url: SecretStr
    database_admin_url: SecretStr
    cache_bytes: int = CACHE_BYTES
    temporal_address: str
    temporal_namespace: str = "default"
    temporal_ui: str | None = None
    embedded_temporal: bool
    tenant_id: str | None = None  # of workflows whose ids name none
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
        ConfigurationError: neither the settings nor a running runtime tell them, or Temporal's own
            settings or the keys of payloads cannot be read.
        UnavailableError: the runtime is not ready yet, or no more.
    """
    state = read_state(settings.data_dir)
    database, admin = find_database(settings)
    temporal = settings.temporal_address or (state.temporal_address if state else None)
    if temporal is None:
        raise _unknown("TEMPORAL_ADDRESS", settings)
    embedded = settings.temporal_address is None
    return Endpoints(
        database_url=database,
        database_admin_url=admin,
        cache_bytes=settings.cache_bytes,
        temporal_address=temporal,
        temporal_namespace="default" if embedded else load_profile().get("namespace", "default"),
        temporal_ui=settings.temporal_ui_url or (state.temporal_ui if state and embedded else None),
        embedded_temporal=embedded,
        tenant_id=settings.tenant_id,
        payload_keys=payload_keys(settings),
    )


def find_database(settings: Settings) -> tuple[SecretStr, SecretStr]:
    """The addresses of the database for the application and for the schema's owner.

    Raises:
        ConfigurationError: neither the settings nor a running runtime tell them.
        UnavailableError: the runtime is not ready yet, or no more.
    """
    state = read_state(settings.data_dir)
    url, admin_url = settings.database_url, settings.database_admin_url
    if url is None and state is not None and state.database_url is not None:
        url = SecretStr(state.database_url)
        admin_url = admin_url or SecretStr(state.database_admin_url or state.database_url)
    if url is None:
        raise _unknown("MNESTIC_DATABASE_URL", settings)
    return url, admin_url or url


def _unknown(setting: str, settings: Settings) -> MnesticError:
    last = read_last_state(settings.data_dir)
    if last is not None and last.alive:
        why = f"its runtime (pid {last.pid}) is starting or stopping; try again in a moment"
        down = TemporalUnavailableError if "TEMPORAL" in setting else DatabaseUnavailableError
        return down(where=str(settings.data_dir), why=why)
    why = f"is not set, and no runtime is up on {settings.data_dir}; run `mnestic up`, or set it"
    return ConfigurationError(setting=setting, why=why)


@asynccontextmanager
async def open_openai(settings: Settings) -> AsyncIterator["AsyncOpenAI | None"]:
    """The client of the OpenAI-compatible server that the settings name, or None.

    Raises:
        ConfigurationError: the key cannot be sent, or the address is none.
    """
    if settings.openai_api_key is None and settings.openai_base_url is None:
        yield None
        return
    from mnestic.activities.clients.openai_compatible import (  # noqa: PLC0415 - half a second
        openai_client,
    )

    key = settings.openai_api_key.get_secret_value() if settings.openai_api_key else "none"
    async with openai_client(api_key=key, base_url=settings.openai_base_url) as client:
        yield client


def extractor_of(settings: Settings, client: "AsyncOpenAI | None") -> Extractor:
    """The extractor that the settings choose: a model where there is one, or else the local rules.

    Raises:
        ConfigurationError: a model is named, and no server.
    """
    model = settings.extraction_model or (settings.chat_model if client else LOCAL)
    if model == LOCAL:
        return LocalExtractor()
    if client is None:
        raise _no_server("MNESTIC_EXTRACTION_MODEL")
    from mnestic.activities.clients.openai_extractor import (  # noqa: PLC0415 - half a second
        OpenAIExtractor,
    )

    return OpenAIExtractor(client, model=model, timeout=_timeout(settings))


def embedder_of(settings: Settings, client: "AsyncOpenAI | None") -> Embedder:
    """The embedder that the settings choose: the local one, unless they name a model.

    Raises:
        ConfigurationError: a model is named, and no server.
    """
    model = settings.embedding_model or LOCAL
    if model == LOCAL:
        return TokenVectorEmbedder()
    if client is None:
        raise _no_server("MNESTIC_EMBEDDING_MODEL")
    from mnestic.activities.clients.openai_embedder import (  # noqa: PLC0415 - half a second
        OpenAIEmbedder,
    )

    return OpenAIEmbedder(
        client,
        model=model,
        dimensions=settings.embedding_dimensions,
        max_tokens=settings.embedding_max_tokens,
        timeout=_timeout(settings),
    )


def prices_of(prices: ModelPrices) -> ModelPrices:
    """The prices that are known: those that are set, and the local provider's, which is 0."""
    return ModelPrices({**prices.root, LOCAL_MODEL: _FREE})


def notes_of(settings: Settings) -> NoteSource | None:
    """The vault of notes that the settings name, or None.

    Raises:
        ConfigurationError: they name two, or one that cannot be.
    """
    if settings.obsidian_url is None:
        return None if settings.obsidian_vault is None else FolderVault(settings.obsidian_vault)
    if settings.obsidian_vault is not None:
        why = "is set, and MNESTIC_OBSIDIAN_VAULT too; there is one vault, so set one of both"
        raise ConfigurationError(setting="MNESTIC_OBSIDIAN_URL", why=why)
    return RestVault(
        settings.obsidian_url,
        api_key=settings.obsidian_api_key,
        fingerprint=settings.obsidian_fingerprint,
        ca_file=settings.obsidian_ca_file,
        timeout=timedelta(seconds=settings.obsidian_timeout_s),
    )


def auto_retriever(settings: Settings, models: QueryModels) -> AutoRetriever:
    """What finds memories and notes for a message, within the limits that the settings give.

    The vault is the settings' tenant's, also where a worker serves others beside it.

    Raises:
        ConfigurationError: they name two vaults, or one that cannot be.
    """
    limits = SourceLimits(
        memories=timedelta(seconds=settings.retrieval_timeout_s),
        notes=timedelta(seconds=settings.obsidian_timeout_s),
    )
    return AutoRetriever(
        models=models,
        count_tokens=count_tokens,
        notes=notes_of(settings),
        notes_tenant_id=settings.tenant_id,
        limits=limits,
    )


@asynccontextmanager
async def open_reranker(settings: Settings) -> AsyncIterator[Reranker | None]:
    """The reranker of the server that the settings name, or None.

    Raises:
        ConfigurationError: it has no model, its key cannot be sent, or its address is none.
    """
    if settings.rerank_url is None:
        yield None
        return
    if settings.rerank_model is None:
        why = "names no model, and MNESTIC_RERANK_URL is set"
        raise ConfigurationError(setting="MNESTIC_RERANK_MODEL", why=why)
    from mnestic.activities.clients.openai_compatible import (  # noqa: PLC0415 - half a second
        openai_client,
    )
    from mnestic.activities.clients.remote_reranker import RemoteReranker  # noqa: PLC0415 - likewise

    key = settings.rerank_api_key.get_secret_value() if settings.rerank_api_key else "none"
    base = settings.rerank_url.rstrip("/").removesuffix("/rerank")
    async with openai_client(
        api_key=key,
        base_url=base,
        called=("MNESTIC_RERANK_API_KEY", "MNESTIC_RERANK_URL"),
    ) as client:
        yield RemoteReranker(
            client,
            model=settings.rerank_model,
            max_tokens=settings.rerank_max_tokens,
            timeout=timedelta(seconds=settings.rerank_timeout_s),
        )


@asynccontextmanager
async def open_query_models(
    settings: Settings, embedder: Embedder, reranker: Reranker | None = None
) -> AsyncIterator[QueryModels]:
    """The models that questions ask, held to what the settings give them and learning together.

    Their memory is to be closed after them: at the end they write down what was paid.
    """
    rerankers: dict[Rerank, Reranker] = {"local": TokenMatchReranker()}
    if reranker is not None:
        rerankers["remote"] = reranker
    models = QueryModels(
        embedder,
        rerankers=rerankers,
        reranking=timedelta(seconds=settings.rerank_timeout_s),
        limits=LearningLimits(concurrency=settings.retrieval_concurrency, daily=_daily(settings)),
        prices=prices_of(settings.model_prices),
    )
    try:
        yield models
    finally:
        await models.close()


def local_models(
    embedder: Embedder | None = None,
    *,
    limits: LearningLimits | None = None,
    prices: ModelPrices | None = None,
) -> QueryModels:
    """The models that need no server, but for an embedder that is given."""
    return QueryModels(
        embedder or TokenVectorEmbedder(),
        rerankers={"local": TokenMatchReranker()},
        limits=limits,
        prices=prices,
    )


def token_counter() -> TokenCounter:
    """What counts tokens."""
    return count_tokens


async def find_models(settings: Settings, *, limit: timedelta) -> tuple[str, ...]:
    """Models that the settings name and their server knows; none for the local provider.

    Raises:
        ConfigurationError: a model has no server, or no price where one is needed.
        ModelMisconfiguredError: the key or the address is wrong, or the server does not know one.
        ModelUnavailableError: the server does not answer.
    """
    async with open_openai(settings) as client:
        chosen = extractor_of(settings, client).model, embedder_of(settings, client).model
        learning_limits(settings, *chosen)
        if client is None:
            return ()
        from mnestic.activities.clients.openai_compatible import (  # noqa: PLC0415 - half a second
            check_models,
        )

        models = tuple(dict.fromkeys(name for name in (settings.chat_model, *chosen) if name))
        await check_models(client, models, limit=limit)
        return models


def learning_limits(settings: Settings, *models: str | None) -> LearningLimits:
    """What the calls of these models for learning are held to.

    Raises:
        ConfigurationError: they are held to USD, and one has no price.
    """
    usd = settings.learning_usd_per_day
    for model in models:
        if usd is not None and model is not None and settings.model_prices.find(model) is None:
            why = f"has no price for {model}, and MNESTIC_LEARNING_USD_PER_DAY is set"
            raise ConfigurationError(setting="MNESTIC_MODEL_PRICES", why=why)
    return LearningLimits(concurrency=settings.learning_concurrency, daily=_daily(settings))


def _daily(settings: Settings) -> Budget | None:
    """What a tenant's day may take."""
    tokens, usd = settings.learning_tokens_per_day, settings.learning_usd_per_day
    return None if tokens is None and usd is None else Budget(tokens=tokens, usd=usd)


def _timeout(settings: Settings) -> timedelta:
    return timedelta(seconds=settings.model_timeout_s)


def _no_server(setting: str) -> ConfigurationError:
    return ConfigurationError(setting=setting, why="needs OPENAI_API_KEY or OPENAI_BASE_URL")


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


def open_memory(endpoints: Endpoints) -> PostgresMemory:
    """The memory in Postgres; the caller closes it."""
    return open_database(endpoints.database_url, cache_bytes=endpoints.cache_bytes)


def open_database(url: SecretStr, *, cache_bytes: int = CACHE_BYTES) -> PostgresMemory:
    """The memory in the database at an address; the caller closes it."""
    return PostgresMemory(url.get_secret_value(), cache_bytes=cache_bytes)
