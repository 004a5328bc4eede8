"""The worker process: takes jobs and activities from a task queue, and how it is wired.

One of the composition roots: it and `starter/…wiring.py` alone name concrete stores and models.
"""

import asyncio
import gc
import logging
import signal
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from datetime import timedelta
from typing import TYPE_CHECKING, Any, NoReturn, TypedDict

from temporalio.client import Client
from temporalio.common import VersioningBehavior, WorkerDeploymentVersion
from temporalio.plugin import SimplePlugin
from temporalio.runtime import PrometheusConfig, Runtime, TelemetryConfig
from temporalio.worker import (
    ResourceBasedSlotConfig,
    Worker,
    WorkerDeploymentConfig,
    WorkerTuner,
)

from mnestic.activities.clients.local import LocalChatModel, LocalSummariser
from mnestic.activities.clients.tokens import count_tokens
from mnestic.activities.forgetting.steps import ForgettingActivities
from mnestic.activities.jobs.collections import Collections
from mnestic.activities.jobs.contracts import ContractActivities
from mnestic.activities.jobs.conversations import ConversationActivities
from mnestic.activities.jobs.endings import EndingActivities
from mnestic.activities.jobs.forks import ForkActivities
from mnestic.activities.jobs.memories import MemoryActivities
from mnestic.activities.jobs.record_flushes import RecordFlushActivities
from mnestic.activities.jobs.retrievals import RetrievalActivities
from mnestic.activities.jobs.segments import SegmentWriter
from mnestic.activities.jobs.signal_times import SignalTimeActivities
from mnestic.activities.jobs.thoughts import ThinkActivities
from mnestic.activities.jobs.tools import ToolActivities
from mnestic.activities.jobs.waits import WaitActivities
from mnestic.activities.knowledge.histories import HistoryActivities
from mnestic.activities.knowledge.inboxes import InboxActivities
from mnestic.activities.knowledge.ingestion import IngestActivities
from mnestic.activities.knowledge.job_knowledge import KnowledgeActivities
from mnestic.activities.models.calls import ModelCallLimits
from mnestic.activities.models.embedders import Embedders
from mnestic.activities.retrieval.auto_retrieval import AutoRetriever
from mnestic.memory.errors import ConfigurationError, MnesticError
from mnestic.memory.models.usage import ModelPrices
from mnestic.memory.ports import ChatModel, Extractor, Memory, Summariser
from mnestic.starter.cli.output import exit_code, exit_process, fail
from mnestic.starter.extraction_wiring import (
    extraction_limits,
    extractor_of,
    local_extractor,
    log_missing_extractor,
)
from mnestic.starter.logs import configure_logs, log_uncaught_errors
from mnestic.starter.maintenance.backup_settings import read_backup_options
from mnestic.starter.maintenance_wiring import (
    SHUTDOWN,
    create_schedules,
    maintenance_activities,
    make_maintenance_worker,
    yield_to_jobs,
)
from mnestic.starter.memory_wiring import (
    auto_retriever,
    embedders_of,
    find_database,
    local_embedders,
    local_models,
    open_database,
    open_openai,
    open_query_models,
    open_reranker,
    prices_of,
    writing_embedder,
)
from mnestic.starter.payloads.keys import payload_keys
from mnestic.starter.plugins import make_plugin
from mnestic.starter.polls.extraction_poll import extraction_poll
from mnestic.starter.polls.record_poll import record_poll
from mnestic.starter.polls.wait_poll import wait_poll
from mnestic.starter.settings import Settings, load_settings
from mnestic.starter.suppression_secret import SuppressionSecret
from mnestic.starter.unknown_variables import describe_unknown_variables
from mnestic.starter.wiring import connect_temporal, find_endpoints
from mnestic.stores.postgres.jobs.recalls import ScopeRetriever
from mnestic.workflows.plugin import MnesticPlugin

if TYPE_CHECKING:
    from openai import AsyncOpenAI

# How long a job of a worker that was killed waits for it before another worker takes the job.
_MEMORY_TARGET, _CPU_TARGET = 0.8, 0.9  # shares above which a worker takes no more tasks
_STICKY = timedelta(seconds=5)
_BEAT = timedelta(seconds=1)  # heartbeats are sent no more often
log = logging.getLogger("mnestic.worker")


def activities_of(
    memory: Memory,
    *,
    model: ChatModel,
    summariser: Summariser,
    extractor: Extractor | None = None,
    embedders: Embedders | None = None,
    limits: ModelCallLimits | None = None,
    auto: AutoRetriever | None = None,
    prices: ModelPrices | None = None,
) -> list[Callable[..., Any]]:
    """All activities of this package, given what they need; the local provider's price is 0."""
    known = prices_of(prices or ModelPrices({}))
    embedders = embedders or local_embedders()
    auto = auto or AutoRetriever(
        models=local_models(embedders, limits=limits, prices=known), count_tokens=count_tokens
    )
    retriever = ScopeRetriever()
    segments = SegmentWriter(
        memory,
        count_tokens=count_tokens,
        extractive=LocalSummariser(),
        summariser=summariser,
        prices=known,
    )
    memories = MemoryActivities(
        memory, retriever, summariser, auto=auto, prices=known, segments=segments
    )
    thoughts = ThinkActivities(
        memory,
        model,
        count_tokens=count_tokens,
        retriever=retriever,
        auto=auto,
        prices=known,
        segments=segments,
    )
    waits = WaitActivities(memory, retriever)
    collections = Collections(auto.models, count_tokens=count_tokens)
    contracts = ContractActivities(memory, retriever, segments, collections=collections)
    learning = IngestActivities(
        memory,
        extractor=extractor or local_extractor(),
        embedders=embedders,
        limits=limits,
        prices=known,
    )
    knowledge = KnowledgeActivities(memory)
    histories = HistoryActivities(memory)
    forgetting = ForgettingActivities(memory)
    return [
        memories.remember,
        memories.recall,
        waits.open_wait,
        waits.extend_wait,
        waits.restore,
        SignalTimeActivities().find_signal_time,
        ForkActivities(memory).fork,
        thoughts.think,
        ToolActivities(memory).store_result,
        ToolActivities(memory).load_result,
        EndingActivities(memory, summariser, prices=known, segments=segments).end_job,
        contracts.pin_contract,
        contracts.operate,
        RecordFlushActivities(memory).flush,
        ConversationActivities(memory, segments=segments).read_session,
        RetrievalActivities(memory, auto).auto_retrieve,
        histories.append,
        histories.read,
        histories.pop,
        histories.clear,
        InboxActivities(memory).keep,
        knowledge.list_facts,
        knowledge.ingest_exchange,
        learning.extract,
        learning.learn,
        learning.embed,
        forgetting.purge,
        forgetting.purge_tables,
        forgetting.finish,
        forgetting.renew_statistics,
    ]


class Models(TypedDict):
    """The models of a worker, as `activities_of` takes them."""

    model: ChatModel
    summariser: Summariser
    extractor: Extractor
    embedders: Embedders
    limits: ModelCallLimits
    auto: AutoRetriever
    prices: ModelPrices


@asynccontextmanager
async def open_models(settings: Settings) -> AsyncIterator[Models]:
    """The models that the settings choose: OpenAI-compatible ones, or else the local provider.

    Raises:
        ConfigurationError: a model has no server, or no price where one is needed.
    """
    async with open_openai(settings) as client, open_reranker(settings) as reranker:
        model, summariser = _chat_models(settings, client)
        extractor, embedders = extractor_of(settings, client), embedders_of(settings, client)
        limits = extraction_limits(settings, extractor.model, embedders.chosen.model)
        async with open_query_models(settings, embedders, reranker) as models:
            yield Models(
                model=model,
                summariser=summariser,
                extractor=extractor,
                embedders=embedders,
                limits=limits,
                auto=auto_retriever(settings, models),
                prices=settings.model_prices,
            )


def _chat_models(settings: Settings, client: "AsyncOpenAI | None") -> tuple[ChatModel, Summariser]:
    if client is None:
        return LocalChatModel(), LocalSummariser()
    from mnestic.activities.clients.openai_compatible import (  # noqa: PLC0415 - half a second
        OpenAIChatModel,
        OpenAISummariser,
    )

    timeout = timedelta(seconds=settings.model_timeout_s)
    return (
        OpenAIChatModel(client, model=settings.chat_model, timeout=timeout),
        OpenAISummariser(client, model=settings.chat_model, timeout=timeout),
    )


@asynccontextmanager
async def worker_plugin(settings: Settings | None = None) -> AsyncIterator[MnesticPlugin]:
    """All that a worker of your own needs to run jobs, and workflows that use `AgentMemory`.

    Connect a Temporal client with it, and make any `Worker` of that client, inside the block.

    Raises:
        MnesticError: a setting is wrong, or Postgres does not answer.
    """
    settings = settings or load_settings()
    keys = payload_keys(settings)
    async with _open_memory(settings) as (memory, models):
        activities = activities_of(memory, **models)
        yield make_plugin(keys, activities=activities, tenant_id=settings.tenant_id)


@asynccontextmanager
async def _open_memory(settings: Settings) -> AsyncIterator[tuple[Memory, Models]]:
    url, _ = find_database(settings)
    memory = open_database(
        url,
        cache_bytes=settings.cache_bytes,
        embedder=writing_embedder(settings),
        suppression_secret=SuppressionSecret(settings),
    )
    try:
        await memory.check()
        async with open_models(settings) as models:
            await models["auto"].load()
            log_missing_extractor(models["extractor"])
            yield memory, models
    finally:
        counts = memory.cache_counts()
        if counts.is_of_use:
            log.info("caches of retrieval", extra={"caches": counts.model_dump()})
        await memory.close()


def make_worker(
    client: Client, settings: Settings, *, activities: list[Callable[..., Any]], **options: Any
) -> Worker:
    """A worker on the settings' task queue; options are those of Temporal's `Worker`.

    Temporal hands out slots of activities, local ones too, at one every 50 ms unless it is told not to:
    no more than 20 waits a second would open.
    """
    ready_at_once = ResourceBasedSlotConfig(minimum_slots=20, ramp_throttle=timedelta(0))
    tuner = WorkerTuner.create_resource_based(
        target_memory_usage=_MEMORY_TARGET,
        target_cpu_usage=_CPU_TARGET,
        workflow_config=ready_at_once,
        activity_config=ready_at_once,
        local_activity_config=ready_at_once,
    )
    return Worker(
        client,
        task_queue=settings.task_queue,
        activities=activities,
        tuner=tuner,
        graceful_shutdown_timeout=SHUTDOWN,
        sticky_queue_schedule_to_start_timeout=_STICKY,
        max_heartbeat_throttle_interval=_BEAT,
        deployment_config=_deployment(settings),
        **options,
    )


def _deployment(settings: Settings) -> WorkerDeploymentConfig | None:
    """The worker's build, to which jobs are pinned; without one the worker is not versioned.

    It is said here and not at the workflows: a worker without builds refuses workflows that have it.
    """
    if settings.build_id is None:
        return None
    return WorkerDeploymentConfig(
        version=WorkerDeploymentVersion(settings.deployment, settings.build_id),
        use_worker_versioning=True,
        default_versioning_behavior=VersioningBehavior.PINNED,
    )


async def run_worker(settings: Settings) -> None:
    """Runs a worker of jobs, of maintenance, or of both, until SIGINT or SIGTERM, then lets its activities end.

    Raises:
        MnesticError: a setting is wrong, or Postgres or Temporal does not answer.
    """
    stop = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    endpoints = find_endpoints(settings)
    serves = settings.worker_serves
    fields = {
        "task_queue": settings.task_queue,
        "build_id": settings.build_id,
        "serves": serves,
    }
    async with AsyncExitStack() as stack:
        memory, models = await stack.enter_async_context(_open_memory(settings))
        client = await connect_temporal(
            endpoints, plugins=_tracing(settings, stack), runtime=_runtime(settings)
        )
        workers: list[AbstractAsyncContextManager[Any]] = []
        if serves != "maintenance":
            activities = activities_of(memory, **models)
            workers.append(make_worker(client, settings, activities=activities))
            workers += (
                poll(
                    memory,
                    client,
                    tenants=settings.worker_tenants or (),
                    task_queue=settings.task_queue,
                )
                for poll in (extraction_poll, record_poll)
            )
            workers.append(wait_poll(memory, client, tenants=settings.worker_tenants or ()))
        if serves != "jobs":
            workers.append(_maintenance_worker(client, settings, memory, models=models))
            await create_schedules(memory, client, settings)
        if serves == "maintenance":
            yield_to_jobs()
        freeze_heap()
        for worker in workers:
            await stack.enter_async_context(worker)
        log.info("worker ready", extra=fields)
        await stop.wait()
        log.info("worker stopping", extra=fields)
    log.info("worker stopped", extra=fields)


def _maintenance_worker(
    client: Client, settings: Settings, memory: Memory, *, models: Models
) -> Worker:
    _, admin_url = find_database(settings)
    activities = maintenance_activities(
        memory,
        admin_url=admin_url.get_secret_value(),
        backup_directory=settings.backup_directory,
        backup_options=read_backup_options(settings),
        summariser=models["summariser"],
        embedders=models["embedders"],
        limits=models["limits"],
        prices=models["prices"],
    )
    return make_maintenance_worker(
        client, settings, activities=activities, deployment_config=_deployment(settings)
    )


def freeze_heap() -> None:
    """Takes what was loaded so far out of garbage collection.

    Reading a large snapshot makes many objects, and so a full collection, which looked through all
    that was imported: a restore of 1 MiB took 157 ms with it and 48 ms without (p50 of 30, 2 cores).
    """
    gc.collect()
    gc.freeze()


def _runtime(settings: Settings) -> Runtime | None:
    """Temporal's own metrics, served for Prometheus when an address is set.

    Raises:
        ConfigurationError: the address is none, or is taken.
    """
    if settings.prometheus_address is None:
        return None
    metrics = PrometheusConfig(bind_address=settings.prometheus_address)
    try:
        return Runtime(telemetry=TelemetryConfig(metrics=metrics))
    except ValueError as error:
        why = f"metrics cannot be served at {settings.prometheus_address}: {error}"
        raise ConfigurationError(setting="MNESTIC_PROMETHEUS_ADDRESS", why=why) from None


def _tracing(settings: Settings, stack: AsyncExitStack) -> tuple[SimplePlugin, ...]:
    """Traces of workflows and activities, sent over OTLP when an endpoint is set."""
    if settings.otlp_endpoint is None:
        return ()
    from mnestic.starter.tracing import tracing_plugin  # noqa: PLC0415 - its imports take time

    plugin, shutdown = tracing_plugin()
    stack.callback(shutdown)
    return (plugin,)


def main() -> NoReturn:
    """Runs a worker with the settings of the environment; what keeps it from that is one line."""
    try:
        settings = load_settings()
        configure_logs(settings)
        log_uncaught_errors()
        for line in describe_unknown_variables():
            log.warning("an unknown variable is set", extra={"why": line})
        asyncio.run(run_worker(settings))
    except MnesticError as error:
        exit_process(fail(str(error), code=exit_code(error)))
    exit_process(0)


if __name__ == "__main__":
    main()
