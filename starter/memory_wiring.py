"""Wires memory for clients: its database, and the models for queries.

One of the composition roots, which name concrete stores and models. Who only asks memory imports neither Temporal
(`wiring.py`) nor the rules of extraction (`extraction_wiring.py`).
"""

import os
import re
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import timedelta
from decimal import Decimal
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import SecretStr

from mnestic.activities.clients.local import MODEL as LOCAL_MODEL
from mnestic.activities.clients.token_matching import TokenMatchReranker
from mnestic.activities.clients.token_vectors import TokenVectorEmbedder
from mnestic.activities.clients.tokens import count_tokens
from mnestic.activities.models.calls import ModelCallLimits
from mnestic.activities.models.embedders import Embedders
from mnestic.activities.retrieval.auto_retrieval import AutoRetriever, SourceLimits
from mnestic.activities.retrieval.query_models import QueryModels
from mnestic.activities.retrieval.reranking import RERANKING_LIMIT
from mnestic.memory.errors import (
    ConfigurationError,
    DatabaseUnavailableError,
    TemporalUnavailableError,
    UnavailableError,
)
from mnestic.memory.models.usage import Budget, ModelPrice, ModelPrices
from mnestic.memory.ports import Embedder, Summariser, TokenCounter
from mnestic.memory.retrieval.caches import CACHE_BYTES
from mnestic.memory.retrieval.ports import NoteSource, Reranker
from mnestic.memory.retrieval.queries import Rerank
from mnestic.starter.contract.record_backends import OpenBackends
from mnestic.starter.embedded.state import read_last_state, read_state
from mnestic.starter.settings import Settings
from mnestic.starter.suppression_secret import SuppressionSecret
from mnestic.stores.postgres.memory import PostgresMemory

if TYPE_CHECKING:  # half a second of imports, which only calls of a model should cost
    from openai import AsyncOpenAI

LOCAL = "local"  # in place of a model's name
_NAME = re.compile(r"(.+)-([1-9]\d{0,3})")  # of vectors: the model and their width
_RERANKED_TOKENS = 512  # to which a text is cut for a reranking server
_SEARCH_CALLS = 16  # of models for searches, at a time in a process
_FREE = ModelPrice(input=Decimal(0), output=Decimal(0))


def find_database(settings: Settings) -> tuple[SecretStr, SecretStr]:
    """The addresses of the database for the application and for the schema's owner.

    Raises:
        UnavailableError: the settings do not say them, and no runtime is up, or it is not ready yet.
    """
    state = read_state(settings.data_dir)
    url, admin_url = settings.database_url, settings.database_admin_url
    if url is None and state is not None and state.database_url is not None:
        url = SecretStr(state.database_url)
        admin_url = admin_url or SecretStr(state.database_admin_url or state.database_url)
    if url is None:
        raise unknown_address("MNESTIC_DATABASE_URL", settings)
    return url, admin_url or url


def open_database(
    url: SecretStr,
    *,
    cache_bytes: int = CACHE_BYTES,
    embedder: Embedder | None = None,
    suppression_secret: SuppressionSecret | None = None,
) -> PostgresMemory:
    """The memory in the database at an address; the caller closes it. `embedder`: see `writing_embedder`."""
    return PostgresMemory(
        url.get_secret_value(),
        cache_bytes=cache_bytes,
        embedder=embedder,
        suppression_secrets=suppression_secret,
        backends=OpenBackends(os.environ),
    )


def unknown_address(setting: str, settings: Settings) -> UnavailableError:
    """The error if neither a setting nor a running runtime has an address."""
    last = read_last_state(settings.data_dir)
    if last is not None and last.alive:
        why = f"its runtime (pid {last.pid}) is starting or stopping; try again in a moment"
        down = TemporalUnavailableError if "TEMPORAL" in setting else DatabaseUnavailableError
        return down(where=str(settings.data_dir), why=why)
    why = f"no runtime is up on {settings.data_dir}, and {setting} is not set"
    return UnavailableError(f"{why}; run `mnestic up`, or set it")


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


def writing_embedder(settings: Settings) -> Embedder | None:
    """The embedder of entries as they are written: the local one, as an entry never waits for a server."""
    return TokenVectorEmbedder() if (settings.embedding_model or LOCAL) == LOCAL else None


def embedders_of(settings: Settings, client: "AsyncOpenAI | None") -> Embedders:
    """The embedder that the settings choose, and those of vectors that were made before: the local one, and models of the server.

    Raises:
        ConfigurationError: a model is named, and no server.
    """
    local = TokenVectorEmbedder()

    @cache
    def find(name: str) -> Embedder | None:
        made_by = _NAME.fullmatch(name)
        if name == local.name:
            return local
        if client is None or made_by is None:
            return None
        return _remote_embedder(settings, client, model=made_by[1], dimensions=int(made_by[2]))

    return Embedders(embedder_of(settings, client), find_other=find)


def embedder_of(settings: Settings, client: "AsyncOpenAI | None") -> Embedder:
    """The embedder that the settings choose: the local one, unless they name a model.

    Raises:
        ConfigurationError: a model is named, and no server.
    """
    model = settings.embedding_model or LOCAL
    if model == LOCAL:
        return TokenVectorEmbedder()
    if client is None:
        raise no_server("MNESTIC_EMBEDDING_MODEL")
    return _remote_embedder(settings, client, model=model, dimensions=settings.embedding_dimensions)


def _remote_embedder(
    settings: Settings, client: "AsyncOpenAI", *, model: str, dimensions: int
) -> Embedder:
    from mnestic.activities.clients.openai_embedder import (  # noqa: PLC0415 - half a second
        OpenAIEmbedder,
    )

    return OpenAIEmbedder(
        client,
        model=model,
        dimensions=dimensions,
        max_tokens=settings.embedding_max_tokens,
        timeout=model_timeout(settings),
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
        return None if settings.obsidian_vault is None else _folder(settings.obsidian_vault)
    if settings.obsidian_vault is not None:
        why = "is set, and MNESTIC_OBSIDIAN_VAULT too; there is one vault, so set one of both"
        raise ConfigurationError(setting="MNESTIC_OBSIDIAN_URL", why=why)
    from mnestic.stores.notes.rest_api import RestVault  # noqa: PLC0415 - it imports an HTTP client

    return RestVault(
        settings.obsidian_url,
        api_key=settings.obsidian_api_key,
        fingerprint=settings.obsidian_fingerprint,
        ca_file=settings.obsidian_ca_file,
    )


def _folder(vault: Path) -> NoteSource:
    from mnestic.stores.notes.folder import FolderVault  # noqa: PLC0415 - it imports YAML

    return FolderVault(vault)


def auto_retriever(settings: Settings, models: QueryModels) -> AutoRetriever:
    """Finds memories and notes for a message, within the limits of the settings.

    The vault is the settings' tenant's, also where a worker serves others beside it.

    Raises:
        ConfigurationError: they name two vaults, or one that cannot be.
    """
    limits = SourceLimits(memories=timedelta(seconds=settings.retrieval_timeout_s))
    return AutoRetriever(
        models=models,
        count_tokens=count_tokens,
        notes=notes_of(settings),
        notes_tenant_id=settings.tenant_id,
        limits=limits,
        import_stores=_import_stores,
    )


def _import_stores() -> None:
    from mnestic.stores.postgres import table_stores  # noqa: F401, PLC0415 - who only searches needs no table


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
            timeout=RERANKING_LIMIT,
            max_tokens=_RERANKED_TOKENS,
        )


@asynccontextmanager
async def open_query_models(
    settings: Settings, embedders: Embedders, reranker: Reranker | None = None
) -> AsyncIterator[QueryModels]:
    """The models for queries, within the budget that they share with extraction.

    Their memory is to be closed after them: at the end they write down what was paid.
    """
    rerankers: dict[Rerank, Reranker] = {"local": TokenMatchReranker()}
    if reranker is not None:
        rerankers["remote"] = reranker
    models = QueryModels(
        embedders,
        rerankers=rerankers,
        limits=ModelCallLimits(concurrency=_SEARCH_CALLS, daily=daily_budget(settings)),
        prices=prices_of(settings.model_prices),
    )
    try:
        yield models
    finally:
        await models.close()


async def open_models(settings: Settings, opened: AsyncExitStack) -> QueryModels:
    """The models for queries, by the settings; they are closed with the stack.

    Raises:
        ConfigurationError: a model has no server, or its key cannot be sent.
    """
    openai = None
    if settings.embedding_model is not None:
        openai = await opened.enter_async_context(open_openai(settings))
    reranker = await opened.enter_async_context(open_reranker(settings))
    return await opened.enter_async_context(
        open_query_models(settings, embedders_of(settings, openai), reranker)
    )


def local_models(
    embedders: Embedders | None = None,
    *,
    limits: ModelCallLimits | None = None,
    prices: ModelPrices | None = None,
) -> QueryModels:
    """The models that need no server, but for embedders that are given."""
    return QueryModels(
        embedders or local_embedders(),
        rerankers={"local": TokenMatchReranker()},
        limits=limits,
        prices=prices,
    )


def local_embedders() -> Embedders:
    """The local embedder alone."""
    return Embedders(TokenVectorEmbedder())


def token_counter() -> TokenCounter:
    """A counter of tokens."""
    return count_tokens


def local_summariser() -> Summariser:
    """Chooses key sentences, without asking anybody."""
    from mnestic.activities.clients.local import LocalSummariser  # noqa: PLC0415 - it is seldom needed

    return LocalSummariser()


def daily_budget(settings: Settings) -> Budget | None:
    """The daily budget of a tenant."""
    tokens, usd = settings.extraction_tokens_per_day, settings.extraction_usd_per_day
    return None if tokens is None and usd is None else Budget(tokens=tokens, usd=usd)


def model_timeout(settings: Settings) -> timedelta:
    """How long a call of a model may take."""
    return timedelta(seconds=settings.model_timeout_s)


def no_server(setting: str) -> ConfigurationError:
    """The error where a model is named, and no server."""
    return ConfigurationError(setting=setting, why="needs OPENAI_API_KEY or OPENAI_BASE_URL")
