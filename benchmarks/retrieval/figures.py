"""The figures of retrieval: what each lane measures beside its floor, their ratios, and the targets.

The names in the JSON are in one place.
"""

import statistics
from collections.abc import Iterator, Sequence

from pydantic import BaseModel, ConfigDict, computed_field

from benchmarks.figures import Machine, Spread, spread
from benchmarks.retrieval.peers import Block

LANES = (
    *("first", "steady", "mixed_1", "mixed_5", "clients_16", "agents"),
    *("before_message", "repeated"),
)
COLUMNS = ("p50 / p95 / max, ms", "entries", "Mnestic", "plain statement", "ratio", "target")
_CONNECT_TARGET_MS = 500
_FIRST_TARGET = 2.0  # times the floor, as all ratios here
_RATE_TARGET = 0.3
_GROWTH_TARGET_MIB = 64
_TARGETS = {  # of p95, by lane and entries
    (lane, entries): ratio
    for lane in ("mixed_1", "mixed_5")
    for entries, ratio in ((1000, 7.0), (10_000, 4.0), (100_000, 1.2))
}


class Latency(Spread):
    """Of questions, in milliseconds. With several clients at once, `per_s` is the rate of all of them.

    Processor times are of a question on average: of the process that asks, and of Postgres. `grown_mib` is
    the memory that the process grew by, `hit_rate` the share of answers that came from its cache.
    """

    max: float
    per_s: float
    cpu_ms: float
    postgres_cpu_ms: float
    hit_rate: float
    grown_mib: float = 0.0


class Compared(BaseModel):
    """A lane for one size of memory, in the product and by the plain statement."""

    model_config = ConfigDict(frozen=True)

    product: Latency
    floor: Latency

    @computed_field  # type: ignore[prop-decorator]
    @property
    def ratio(self) -> dict[str, float]:
        """The product's figures by the floor's: latencies, and the rate of questions."""
        names = ("p50", "p95", "per_s")
        return {
            name: round(getattr(self.product, name) / getattr(self.floor, name), 2)
            for name in names
        }


class NewProcess(BaseModel):
    """A new process: what it takes to import and connect, and its first questions, in milliseconds (medians)."""

    model_config = ConfigDict(frozen=True)

    connect: float
    questions: tuple[float, ...]
    together: float


class ComparedFirst(BaseModel):
    """New processes of the product and of the plain statement."""

    model_config = ConfigDict(frozen=True)

    product: NewProcess
    floor: NewProcess

    @computed_field  # type: ignore[prop-decorator]
    @property
    def ratio(self) -> dict[str, float]:
        """The product's first questions together by the floor's, and what connecting takes."""
        return {
            name: round(getattr(self.product, name) / getattr(self.floor, name), 2)
            for name in ("connect", "together")
        }


class RetrievalFigures(BaseModel):
    """All figures, by the number of entries of the queried agent. Figures not measured are left out."""

    model_config = ConfigDict(frozen=True)

    first: dict[int, ComparedFirst]
    lanes: dict[str, dict[int, Compared]]
    machine: Machine


def new_process(connects: Sequence[float], questions: Sequence[Sequence[float]]) -> NewProcess:
    """The medians of some processes."""
    return NewProcess(
        connect=round(statistics.median(connects), 1),
        questions=tuple(round(statistics.median(each), 1) for each in zip(*questions, strict=True)),
        together=round(statistics.median(map(sum, questions)), 1),
    )


def latency_of(blocks: Sequence[Block], *, postgres_s: float) -> Latency:
    """The figures of some blocks of questions, of two questions or more.

    Args:
        blocks: The blocks, in their order.
        postgres_s: The processor time of Postgres meanwhile, in seconds.
    """
    samples = [sample for block in blocks for sample in block.ms]
    cached = sum(block.cached for block in blocks)
    looked_up = cached + sum(block.not_cached for block in blocks)
    return Latency(
        **spread(samples).model_dump(),
        max=round(max(samples), 2),
        per_s=round(len(samples) / sum(block.elapsed_s for block in blocks), 1),
        cpu_ms=round(sum(block.cpu_s for block in blocks) * 1000 / len(samples), 2),
        postgres_cpu_ms=round(postgres_s * 1000 / len(samples), 2),
        hit_rate=round(cached / looked_up, 4) if looked_up else 0.0,
    )


def rows(figures: RetrievalFigures) -> Iterator[tuple[str, ...]]:
    """The figures as a table of `COLUMNS`."""
    for entries, first in figures.first.items():
        yield from _first_rows(entries, first)
    for lane, sizes in figures.lanes.items():
        for entries, compared in sizes.items():
            yield from _lane_rows(lane, entries, compared)


def _first_rows(entries: int, compared: ComparedFirst) -> Iterator[tuple[str, ...]]:
    product, floor = compared.product, compared.floor
    cells = f"{product.connect:.0f}", f"{floor.connect:.0f}", f"{compared.ratio['connect']:.2f}"
    yield "first, connect", f"{entries}", *cells, f"< {_CONNECT_TARGET_MS} ms"
    cells = _questions(product), _questions(floor), f"{compared.ratio['together']:.2f}"
    yield "first, questions together", f"{entries}", *cells, f"<= {_FIRST_TARGET:g}"


def _lane_rows(lane: str, entries: int, compared: Compared) -> Iterator[tuple[str, ...]]:
    product, floor, ratio = compared.product, compared.floor, compared.ratio
    target = _TARGETS.get((lane, entries))
    cells = _latency(product), _latency(floor), f"{ratio['p50']:.2f} / {ratio['p95']:.2f}"
    yield lane, f"{entries}", *cells, "" if target is None else f"p95 <= {target:g}"
    if lane == "clients_16":
        cells = f"{product.per_s}", f"{floor.per_s}", f"{ratio['per_s']:.2f}"
        yield f"{lane}, questions/s", f"{entries}", *cells, f">= {_RATE_TARGET}"
    if lane == "steady":
        cells = _cpu(product), _cpu(floor), f"{_cpu_of(product) / _cpu_of(floor):.2f}"
        yield f"{lane}, CPU of client + Postgres", f"{entries}", *cells, ""
    if lane == "agents":
        cells = f"{product.grown_mib}", f"{floor.grown_mib}", ""
        yield f"{lane}, MiB grown by", f"{entries}", *cells, f"< {_GROWTH_TARGET_MIB}"
    if lane == "repeated":
        yield f"{lane}, from the cache", f"{entries}", f"{product.hit_rate}", "", "", ""


def _questions(process: NewProcess) -> str:
    return f"{process.together:.0f} ({' + '.join(f'{sample:.0f}' for sample in process.questions)})"


def _latency(latency: Latency) -> str:
    return f"{latency.p50:.1f} / {latency.p95:.1f} / {latency.max:.0f}"


def _cpu(latency: Latency) -> str:
    return f"{latency.cpu_ms:.1f} + {latency.postgres_cpu_ms:.1f}"


def _cpu_of(latency: Latency) -> float:
    return latency.cpu_ms + latency.postgres_cpu_ms
