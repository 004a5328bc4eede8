"""The figures of a run: their names, targets and layout.

The names in the JSON are in one place.
"""

import platform
import statistics
from collections.abc import Iterator, Sequence
from importlib.metadata import version
from typing import Any

import psutil
from pydantic import BaseModel, ConfigDict

from benchmarks.cpu_time import CpuTime

SHARE_OF_FLOOR = 0.5


class Spread(BaseModel):
    """The median and the 95th percentile of some samples."""

    model_config = ConfigDict(frozen=True)

    p50: float
    p95: float


class ByCache(BaseModel):
    """Whether the worker has the job in its cache (warm), or has to replay its history (cold)."""

    model_config = ConfigDict(frozen=True)

    warm: Spread
    cold: Spread


class Machine(BaseModel):
    """Where it was measured."""

    model_config = ConfigDict(frozen=True)

    cores: int
    memory_gib: int
    system: str
    python: str
    postgres: str
    temporal: str
    versions: dict[str, str]


class Figures(BaseModel):
    """All figures. A figure that was not measured is None, and left out of the JSON.

    Sizes of snapshots are in KiB, memory of workers in MiB. The floor of a job is a bare workflow with an
    update and an activity, for an event with a signal; of a snapshot, one row of as many bytes written, or read, by itself.
    """

    model_config = ConfigDict(frozen=True)

    resume_to_activity_ms: ByCache | None = None
    floor_ms: ByCache | None = None
    event_to_activity_ms: Spread | None = None
    floor_event_ms: Spread | None = None
    snapshot_ms: dict[str, Spread] | None = None
    floor_snapshot_ms: dict[str, Spread] | None = None
    restore_ms: dict[str, Spread] | None = None
    restore_drifted_ms: dict[str, Spread] | None = None
    floor_restore_ms: dict[str, Spread] | None = None
    jobs_per_s: float | None = None
    floor_jobs_per_s: float | None = None
    share_of_floor: float | None = None
    job_cpu_ms: CpuTime | None = None
    floor_job_cpu_ms: CpuTime | None = None
    events_per_wait: float | None = None
    bytes_per_wait: float | None = None
    worker_rss_mb: dict[str, float] | None = None
    floor_worker_rss_mb: dict[str, float] | None = None
    worker_idle_rss_mb: float | None = None
    machine: Machine


def spread(samples: Sequence[float]) -> Spread:
    """The spread of two samples or more."""
    cuts = statistics.quantiles(samples, n=20, method="inclusive")
    return Spread(p50=round(statistics.median(samples), 2), p95=round(cuts[-1], 2))


def this_machine(*, postgres: str, temporal: str) -> Machine:
    """This machine and the versions that count."""
    return Machine(
        cores=psutil.cpu_count() or 0,
        memory_gib=round(psutil.virtual_memory().total / 2**30),
        system=_system(),
        python=platform.python_version(),
        postgres=postgres,
        temporal=temporal,
        versions={name: version(name) for name in ("mnestic", "temporalio", "psycopg", "pydantic")},
    )


def rows(figures: Figures) -> Iterator[tuple[str, str, str, str]]:
    """The figures as a table: what, how much, the target, the floor."""
    yield from _resume_rows(figures)
    by_event, signalled = figures.event_to_activity_ms, figures.floor_event_ms
    if by_event is not None and signalled is not None:
        yield "event to activity, ms", _cell(by_event), "p95 < 2 floors", _cell(signalled)
    for name, found, beside, target in (
        ("snapshot", figures.snapshot_ms, figures.floor_snapshot_ms, "p95 < 15"),
        ("restore", figures.restore_ms, figures.floor_restore_ms, "p95 < 15"),
        ("restore with drift", figures.restore_drifted_ms, figures.floor_restore_ms, ""),
    ):
        for size, taken in (found or {}).items():
            aim = target if size == "256" else ""
            yield f"{name}, {size} KiB, ms", _cell(taken), aim, _cell((beside or {})[size])
    yield from _job_rows(figures)
    for parked, rss in (figures.worker_rss_mb or {}).items():
        beside_it = (figures.floor_worker_rss_mb or {})[parked]
        yield f"worker with {parked} parked jobs, MiB", f"{rss}", "", f"{beside_it}"


def _resume_rows(figures: Figures) -> Iterator[tuple[str, str, str, str]]:
    product, floor = figures.resume_to_activity_ms, figures.floor_ms
    if product is not None and floor is not None:
        for cache, target in (("warm", "p95 < 40"), ("cold", "p95 < 150")):
            cells = _cell(getattr(product, cache)), target, _cell(getattr(floor, cache))
            yield (f"resume to activity, {cache}, ms", *cells)


def _job_rows(figures: Figures) -> Iterator[tuple[str, str, str, str]]:
    if figures.jobs_per_s is not None:
        cells = f"{figures.jobs_per_s}, {figures.share_of_floor} of the floor"
        yield "jobs per second", cells, f">= {SHARE_OF_FLOOR} of it", f"{figures.floor_jobs_per_s}"
    if figures.job_cpu_ms is not None and figures.floor_job_cpu_ms is not None:
        beside = dict(figures.floor_job_cpu_ms)
        for name, used in figures.job_cpu_ms:
            yield f"processor time of a job, {name}, ms", f"{used}", "", f"{beside[name]}"
    if figures.events_per_wait is not None and figures.bytes_per_wait is not None:
        yield "events per wait", f"{figures.events_per_wait}", "<= 16", ""
        yield "bytes per wait", f"{figures.bytes_per_wait}", "<= 8192", ""
    if figures.worker_idle_rss_mb is not None:
        yield "worker without jobs, MiB", f"{figures.worker_idle_rss_mb}", "", ""


def _cell(taken: Any) -> str:
    return f"{taken.p50:.1f} (p95 {taken.p95:.1f})"


def _system() -> str:
    try:
        return platform.freedesktop_os_release()["PRETTY_NAME"]
    except (OSError, KeyError):  # not a Linux
        return platform.platform()
