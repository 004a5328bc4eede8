"""Measures maintenance: `python benchmarks/maintenance.py --json`; progress goes to standard error.

Everything runs on an embedded runtime of its own, in a directory that is removed afterwards.
"""

import argparse
import asyncio
import itertools
import math
import time
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import psycopg
from pydantic import BaseModel, ConfigDict

from benchmarks.cpu_time import cpu_time
from benchmarks.default_settings import default_settings
from benchmarks.figures import Machine, Spread, spread
from benchmarks.jobs.jobs import machine_of
from benchmarks.lanes import Lane, Lanes
from benchmarks.large_agents import multiply
from benchmarks.messages import messages
from mnestic.memory.knowledge.resources import Resource
from mnestic.memory.maintenance.policies import MAINTENANCE_KINDS, MaintenanceKind
from mnestic.starter.cli.output import print_json, print_progress, print_table
from mnestic.starter.client.ingestion import start_ingest
from mnestic.starter.embedded.runtime import EmbeddedRuntime
from mnestic.starter.settings import Settings
from mnestic.stores.postgres.schema import migrate

AGENT = "ada"
BASE = 2_000  # messages that are ingested; larger memories are copies of them
SIZES = (10_000, 100_000, 1_000_000)
QUICK_BASE, QUICK_SAMPLES = 500, 5
_SEED = 11
_AT_ONCE = 500  # messages stored in one transaction
_GROUP = 400  # messages after which other people speak
_REPEATED = 20  # one message in so many says again what the one before says
_PERIOD = timedelta(days=364)  # of all messages, up to yesterday
_KEPT_SHARE = 0.8  # of entries, after the cleanup
_WARM_UP = 5
_KINDS_MEANWHILE: tuple[MaintenanceKind, ...] = ("nightly", "weekly", "cleanup")
_WINDOW = 50  # resumes in a row with maintenance, and without it, at most
_APART_S = 0.2  # between two of them, so that they meet all statements of a run
_COLUMNS = (
    *("maintenance", "first run, s (CPU: worker + Postgres)", "exponent, s / CPU <= 1.15"),
    *("once more, s (CPU)", "worker, MiB < 400"),
)


class KindFigures(BaseModel):
    """What one run of a kind takes: seconds, processor time of the worker and of Postgres, and the worker's peak of resident memory.

    The worker is a new process, whose own memory counts too.
    """

    model_config = ConfigDict(frozen=True)

    seconds: float
    worker_cpu_s: float
    postgres_cpu_s: float
    worker_peak_rss_mib: float
    counts: dict[str, int]

    @property
    def cpu_s(self) -> float:
        """The processor time of both."""
        return self.worker_cpu_s + self.postgres_cpu_s


class MaintenanceFigures(BaseModel):
    """All figures: by number of entries and kind; the exponents of growth are those from each size to the next."""

    model_config = ConfigDict(frozen=True)

    first: dict[str, dict[str, KindFigures]]
    again: dict[str, dict[str, KindFigures]]
    exponents: dict[str, dict[str, float]]
    cpu_exponents: dict[str, dict[str, float]]
    resume_ms: Spread | None = None
    resume_during_maintenance_ms: Spread | None = None
    resume_ratio_p95: float | None = None
    machine: Machine


class Maintained:
    """A runtime with memories of different sizes, each a tenant's with one agent."""

    def __init__(self, lanes: Lanes, *, base: int) -> None:
        self._lanes, self._base, self._run = lanes, base, f"{time.time_ns():x}"
        self._admin_url = str(lanes.state.database_admin_url)

    async def learn(self) -> None:
        """Ingests the messages that all memories are made of, if they are not there."""
        began = time.monotonic()
        async with self._lanes.open(self._base_tenant) as lane:
            memory = lane.client.memory(AGENT)
            if (await memory.messages.count()).learned == self._base:
                return
            source = _year_of_messages(self._base)
            while batch := list(itertools.islice(source, _AT_ONCE)):
                await memory.ingest(batch)
            await (await start_ingest(lane.client, agent_id=AGENT)).result()
        print_progress(f"{self._base} messages learned ({time.monotonic() - began:.0f} s)")

    @property
    def _base_tenant(self) -> str:
        return f"base-{self._base}"

    def tenant(self, size: int) -> str:
        """The tenant whose agent has so many entries; a run of the benchmark has its own."""
        return f"entries-{size}-{self._run}"

    async def build(self, size: int) -> None:
        """Makes the memory of a size."""
        await self._copy(size, to=self.tenant(size))

    async def _copy(self, size: int, *, to: str) -> None:
        """Makes a memory of a size that of a tenant, which has a cleanup."""
        began = time.monotonic()
        url = self._admin_url
        async with await psycopg.AsyncConnection.connect(url, autocommit=True) as owner:
            copies = size // self._base
            await multiply(owner, agent=AGENT, of=self._base_tenant, to=to, copies=copies)
        async with self._lanes.client(to) as client:
            await client.maintenance.set_policy("cleanup.enabled", value=True)
            most = int(size * _KEPT_SHARE)
            await client.maintenance.set_policy("cleanup.max_entries", value=most)
        print_progress(f"{size} entries copied ({time.monotonic() - began:.0f} s)")

    async def measure(self, size: int, kind: MaintenanceKind) -> KindFigures:
        """Measures one run, which may remove as much as the policy of its kind says."""
        async with self._lanes.open(self.tenant(size), maintains=True) as lane:
            return await _measured(self._lanes, lane, kind)

    async def measure_resumes(self, size: int, *, samples: int) -> dict[str, Any]:
        """Resumes jobs while a memory is maintained in a process of its own, then as many without that, in windows.

        The runs change memory as they do in production, so each window has a copy of its own, which is maintained first.
        """
        during: list[float] = []
        without: list[float] = []
        for number in itertools.count():
            if not (most := min(_WINDOW, samples - len(during))):
                break
            tenant_id = f"{self.tenant(size)}-{number}"
            await self._copy(size, to=tenant_id)
            async with self._lanes.open(tenant_id, maintains=True) as lane:
                maintained, idle = await _window(lane, most=most)
            during += maintained
            without += idle
            print_progress(f"{len(during)} of {samples} resumes during maintenance")
        found, floor = spread(during), spread(without)
        ratio = round(found.p95 / floor.p95, 2)
        print_progress(f"resumes without maintenance: {floor}, during it: {found}: {ratio}")
        return {
            "resume_ms": floor,
            "resume_during_maintenance_ms": found,
            "resume_ratio_p95": ratio,
        }


async def _window(lane: Lane, *, most: int) -> tuple[list[float], list[float]]:
    """Resumes jobs for as long as a memory is maintained, but no more than some, and as many afterwards."""
    jobs = iter(await lane.park(_WARM_UP + 2 * most))
    for job_id in itertools.islice(jobs, _WARM_UP):
        await _resume_to_activity(lane, job_id)
    during: list[float] = []
    async with asyncio.TaskGroup() as group:
        maintaining = group.create_task(_maintain(lane))
        while not maintaining.done() and len(during) < most:
            during.append(await _resume_to_activity(lane, next(jobs)))
            await asyncio.sleep(_APART_S)
    without = []
    for job_id in itertools.islice(jobs, len(during)):
        without.append(await _resume_to_activity(lane, job_id))
        await asyncio.sleep(_APART_S)
    return during, without


async def _maintain(lane: Lane) -> None:
    """Does what each kind of maintenance has to do for the memory, one kind after the other."""
    for kind in _KINDS_MEANWHILE:
        run = await lane.client.maintenance.start(kind, agent_id=AGENT, allow_removals=True)
        report = await run.result()
        if report.problems:
            raise RuntimeError(f"{kind}: {report.problems[0]}")


async def _resume_to_activity(lane: Lane, job_id: str) -> float:
    """Milliseconds; the clock is the machine's, so that two processes can share it."""
    sent = time.time_ns()
    return (await lane.finish(job_id) - sent) / 1e6


async def _measured(lanes: Lanes, lane: Lane, kind: MaintenanceKind) -> KindFigures:
    maintenance = lane.client.maintenance
    is_whole = kind == "backup"
    assert lane.maintenance_pid is not None, "the lane has no worker of maintenance"
    before = cpu_time(lanes.state, worker_pid=lane.maintenance_pid)
    began = time.perf_counter()
    run = await maintenance.start(
        kind, agent_id=None if is_whole else AGENT, allow_removals=not is_whole
    )
    report = await run.result()
    seconds = time.perf_counter() - began
    after = cpu_time(lanes.state, worker_pid=lane.maintenance_pid)
    if report.problems:
        raise RuntimeError(f"{kind}: {report.problems[0]}")
    return KindFigures(
        seconds=round(seconds, 2),
        worker_cpu_s=round((after.worker - before.worker) / 1000, 2),
        postgres_cpu_s=round((after.postgres - before.postgres) / 1000, 2),
        worker_peak_rss_mib=_peak_rss_mib(lane.maintenance_pid),
        counts=report.counts,
    )


async def measure(
    sizes: Sequence[int],
    *,
    base: int,
    kinds: Sequence[MaintenanceKind],
    samples: int,
    data_dir: Path,
) -> MaintenanceFigures:
    """Measures each kind at each size, the first run and one more; then resumes while the largest memory but one is maintained."""
    first: dict[str, dict[str, KindFigures]] = {}
    again: dict[str, dict[str, KindFigures]] = {}
    resumes: dict[str, Any] = {}
    async with EmbeddedRuntime(
        Settings(data_dir=data_dir), report=print_progress, migrate=migrate, start_worker=False
    ) as runtime:
        lanes = Lanes(runtime.state, data_dir)
        maintained = Maintained(lanes, base=base)
        await maintained.learn()
        for size in sizes:
            await maintained.build(size)
            if samples and size == sizes[min(1, len(sizes) - 1)]:
                resumes = await maintained.measure_resumes(size, samples=samples)
            for runs, kind in itertools.product((first, again), kinds):
                found = await maintained.measure(size, kind)
                runs.setdefault(str(size), {})[kind] = found
                print_progress(f"{size} entries, {kind}: {found}")
        return MaintenanceFigures(
            first=first,
            again=again,
            exponents=_exponents(first, "seconds"),
            cpu_exponents=_exponents(first, "cpu_s"),
            **resumes,
            machine=await machine_of(lanes),
        )


def _year_of_messages(number: int) -> Iterator[Resource]:
    """Messages of a year, of more and more people, who repeat themselves now and then."""
    began = datetime.now(UTC) - timedelta(days=1) - _PERIOD
    said = None
    for index, message in enumerate(messages(number, seed=_SEED)):
        at = began + index * _PERIOD / number
        speaker = f"{message.speaker} {index // _GROUP}"
        said_by = {"speaker": speaker, "content": message.content}
        said = said if said and index % _REPEATED == 0 else said_by
        yield message.model_copy(update={**said, "at": at})


def _peak_rss_mib(pid: int) -> float:
    """The most memory that a process had at once, as Linux counts it."""
    for line in Path(f"/proc/{pid}/status").read_text(encoding="ascii").splitlines():
        if line.startswith("VmHWM:"):
            return round(int(line.split()[1]) / 1024, 1)
    raise RuntimeError(f"the system does not say how much memory process {pid} had")


def _exponents(
    figures: Mapping[str, Mapping[str, KindFigures]], name: str
) -> dict[str, dict[str, float]]:
    """By kind, the power of the size with which a figure grows from each size to the next."""
    found: dict[str, dict[str, float]] = {}
    for (small, before), (large, after) in itertools.pairwise(figures.items()):
        for kind in before:
            growth = getattr(after[kind], name) / getattr(before[kind], name)
            exponent = math.log(growth) / math.log(int(large) / int(small))
            found.setdefault(kind, {})[large] = round(exponent, 2)
    return found


def _rows(figures: MaintenanceFigures) -> Iterator[tuple[str, ...]]:
    """The figures as a table: what, the first run, the exponent, one more run, memory."""
    for size, kinds in figures.first.items():
        for kind, found in kinds.items():
            more = figures.again[size][kind]
            exponents = (figures.exponents, figures.cpu_exponents)
            yield (
                f"{kind}, {int(size):,} entries",
                f"{found.seconds} ({found.worker_cpu_s} + {found.postgres_cpu_s})",
                " / ".join(str(one.get(kind, {}).get(size, "")) for one in exponents),
                f"{more.seconds} ({more.worker_cpu_s} + {more.postgres_cpu_s})",
                f"{max(found.worker_peak_rss_mib, more.worker_peak_rss_mib):.0f}",
            )


def main() -> None:
    """Reads the options, measures, and prints the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--quick", action="store_true", help="few entries, to see that it runs")
    parser.add_argument(
        "--sizes", type=_sizes, help="of memories, such as 10000,100000,1000000, the default"
    )
    parser.add_argument(
        "--kinds",
        type=_kinds,
        default=MAINTENANCE_KINDS,
        help="such as nightly,weekly; default: all",
    )
    parser.add_argument(
        "--resumes", type=int, default=200, metavar="N", help="resumes of each lane; 0: none"
    )
    parser.add_argument("--data", type=Path, help="directory of the servers, which stays")
    options = parser.parse_args()
    base = QUICK_BASE if options.quick else BASE
    sizes = options.sizes or ((base, 2 * base) if options.quick else SIZES)
    if any(size % base for size in sizes):
        parser.error(f"--sizes: give multiples of {base}")
    data = options.data and options.data.resolve()
    samples = min(options.resumes, QUICK_SAMPLES) if options.quick else options.resumes
    with default_settings() as folder:
        work = measure(
            sizes, base=base, kinds=options.kinds, samples=samples, data_dir=data or folder
        )
        figures = asyncio.run(work)
    if options.json:
        print_json(figures.model_dump(mode="json", exclude_none=True))
        return
    print_table(_COLUMNS, _rows(figures), empty="Nothing was measured.")
    print_progress(f"Resumes: {figures.resume_ratio_p95} times as long, {figures.machine}")


def _sizes(text: str) -> tuple[int, ...]:
    return tuple(sorted(map(int, text.split(","))))


def _kinds(text: str) -> tuple[str, ...]:
    kinds = tuple(text.split(","))
    if not set(kinds) <= set(MAINTENANCE_KINDS):
        raise argparse.ArgumentTypeError(f"choose of {','.join(MAINTENANCE_KINDS)}")
    return kinds


if __name__ == "__main__":
    main()
