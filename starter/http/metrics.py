"""What the API process has counted, as Prometheus series: of each tenant apart, since a key shows its own tenant alone.

The gate and the routes count, and `GET /metrics` reads. A label is a name of ours (a route, a mode, a kind): never an
agent, a text or a path as it was sent.
"""

import time
from collections.abc import Awaitable, Callable, Iterable, Iterator

from prometheus_client import CollectorRegistry, Counter, Histogram, generate_latest
from prometheus_client.metrics_core import CounterMetricFamily, GaugeMetricFamily, Metric

from mnestic.memory.maintenance.samples import SERIES, Sample
from mnestic.memory.retrieval.caches import CacheCounts
from mnestic.memory.retrieval.queries import Retrieval
from mnestic.starter.client.keyword_arguments import SearchArguments
from mnestic.starter.client.memory_client import MemoryClient

SAMPLES_LAST_S = 30.0  # several scrapers cost Postgres no more than one
_SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
_METHODS = frozenset({"GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"})


class TenantMetrics:
    """The requests and retrievals of one tenant, in this process."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self._requests = Histogram(
            "mnestic_http_request_seconds",
            "Duration of a request",
            ("method", "route", "status"),
            buckets=_SECONDS,
            registry=self.registry,
        )
        self._retrievals = Histogram(
            "mnestic_retrieval_seconds",
            "Duration of a retrieval",
            ("mode",),
            buckets=_SECONDS,
            registry=self.registry,
        )
        self._empty = Counter(
            "mnestic_retrievals_empty",
            "Retrievals that found nothing relevant",
            ("mode",),
            registry=self.registry,
        )
        self._results = Counter(
            "mnestic_retrieval_results",
            "Results of retrievals, by what their entry is of",
            ("kind",),
            registry=self.registry,
        )
        self._skipped = Counter(
            "mnestic_retrieval_sources_skipped",
            "Retrievals to which a source did not answer",
            ("source",),
            registry=self.registry,
        )

    def observe_request(self, method: str, route: str, *, status: int, seconds: float) -> None:
        """Counts a request."""
        known = method if method in _METHODS else "other"
        self._requests.labels(known, route, str(status)).observe(seconds)

    async def retrieve(
        self, memory: MemoryClient, text: str, arguments: SearchArguments
    ) -> Retrieval:
        """Searches an agent's memory, and counts that: for HTTP, for pages and for MCP alike."""
        began = time.monotonic()
        retrieval = await memory.retrieve(text, **arguments)
        mode = arguments.get("mode", "hybrid")
        self._observe_retrieval(mode, retrieval, seconds=time.monotonic() - began)
        return retrieval

    def _observe_retrieval(self, mode: str, retrieval: Retrieval, *, seconds: float) -> None:
        self._retrievals.labels(mode).observe(seconds)
        if not retrieval.results:
            self._empty.labels(mode).inc()
        for one in retrieval.results:
            self._results.labels(one.entry.kind).inc()
        for source in retrieval.skipped:
            self._skipped.labels(source).inc()


class MetricsOfTenants:
    """The metrics of all tenants whose keys this process has seen.

    If it is one of several, its own series have a label for it: each request for them is answered by another process.
    """

    def __init__(self, *, process: int | None = None) -> None:
        self._labels = {} if process is None else {"process": str(process)}
        self._tenants: dict[str, TenantMetrics] = {}
        self._samples: dict[str, tuple[float, tuple[Sample, ...]]] = {}
        self._without_key: dict[int, int] = {}

    def of(self, tenant_id: str) -> TenantMetrics:
        """The metrics of one tenant."""
        return self._tenants.setdefault(tenant_id, TenantMetrics())

    def count_without_key(self, status: int) -> None:
        """Counts a request of nobody's: one without a valid key, or of a path that needs none."""
        self._without_key[status] = self._without_key.get(status, 0) + 1

    async def samples(
        self, tenant_id: str, read: Callable[[], Awaitable[tuple[Sample, ...]]]
    ) -> tuple[Sample, ...]:
        """What the stores say of a tenant, read at most every `SAMPLES_LAST_S` seconds."""
        now = time.monotonic()
        read_at, samples = self._samples.get(tenant_id, (-SAMPLES_LAST_S, ()))
        if now - read_at >= SAMPLES_LAST_S:
            samples = await read()
            self._samples[tenant_id] = (now, samples)
        return samples

    def text(self, tenant_id: str, samples: Iterable[Sample], caches: CacheCounts) -> bytes:
        """All series that a tenant may see, in Prometheus' text format; those of the process are of all tenants."""
        own = (*self.of(tenant_id).registry.collect(), *_caches(caches), self._keyless())
        for family in own:
            family.samples = [
                one._replace(labels={**one.labels, **self._labels}) for one in family.samples
            ]
        read = CollectorRegistry()
        read.register(_Families((*_gauges(samples), *own)))
        return generate_latest(read)

    def _keyless(self) -> Metric:
        family = CounterMetricFamily(
            "mnestic_http_requests_without_key",
            "Requests without a valid API key, public paths among them, of the process",
            labels=("status",),
        )
        for status, count in self._without_key.items():
            family.add_metric((str(status),), count)
        return family


class _Families:
    """Series that were computed already, as a registry wants them."""

    def __init__(self, families: tuple[Metric, ...]) -> None:
        self._families = families

    def collect(self) -> Iterable[Metric]:
        """The series."""
        return self._families


def _gauges(samples: Iterable[Sample]) -> Iterator[Metric]:
    families = {
        name: GaugeMetricFamily(f"mnestic_{name}", text, labels=labels)
        for name, (text, labels) in SERIES.items()
    }
    for one in samples:
        _, labels = SERIES[one.name]
        families[one.name].add_metric([one.labels[label] for label in labels], one.value)
    yield from families.values()


def _caches(counts: CacheCounts) -> Iterator[Metric]:
    lookups = CounterMetricFamily(
        "mnestic_cache_lookups", "Lookups in a cache of the process", labels=("cache", "result")
    )
    size = GaugeMetricFamily(
        "mnestic_cache_bytes", "Bytes that a cache of the process holds", labels=("cache",)
    )
    for name, count in (("answers", counts.answers), ("vectors", counts.vectors)):
        lookups.add_metric((name, "hit"), count.hits)
        lookups.add_metric((name, "miss"), count.misses)
        size.add_metric((name,), count.bytes)
    yield lookups
    yield size
