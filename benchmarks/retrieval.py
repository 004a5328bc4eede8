"""Measures retrieval: `python benchmarks/retrieval.py --json`; progress is told on standard error.

Everything runs on an embedded runtime of its own, in a directory that is removed afterwards; with `--data`
in one that stays, so that the next run need not build the crowd again.
"""

import argparse
import asyncio
import contextlib
import os
import statistics
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any, LiteralString

import numpy as np
import psycopg
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict

from benchmarks.asking import questions
from benchmarks.crowd import crowd
from benchmarks.figures import Spread, spread
from benchmarks.jobs import machine_of
from benchmarks.lanes import Lane, Lanes
from benchmarks.messages import messages
from mnestic.activities.clients.token_vectors import NAME, TokenVectorEmbedder
from mnestic.memory.retrieval import RetrievalQuery
from mnestic.memory.search import Search, Vocabulary
from mnestic.starter.cli.output import print_json, print_progress, print_table
from mnestic.starter.client import MnesticClient
from mnestic.starter.embedded.runtime import EmbeddedRuntime
from mnestic.starter.ingesting import start_ingest
from mnestic.starter.memory_client import MemoryClient
from mnestic.starter.settings import Settings
from mnestic.stores.postgres.schema import migrate
from mnestic.stores.postgres.vector_indexes import index_vectors

TENANT = "crowd"
_BASE = "base"  # whose memory is made as users make it
_CHANNEL = "benchmark"  # of all messages
_SEED, _ASKING_SEED = 11, 12
_AT_ONCE = 500  # messages kept in one transaction
_WARM_UPS = 2000  # questions that no figure tells of, at most
_WARM_UP = 100  # of them, until it is looked at again how many rows are kept
_STILL = 0.01  # of the rows that are kept: where fewer have come, all have been read
_TOP = 10
_RECALLED = 1000  # questions that recall is of: of 300 it differs by a hundredth from draw to draw
_DRAWN = 10  # times as many questions as there are different ones
_ENTRIES = "SELECT count(*) FROM mnestic.entry"
_INDEX_BYTES = """
SELECT sum(pg_indexes_size('mnestic.' || name))::bigint FROM unnest(
    ARRAY['entry', 'entry_term', 'posting', 'lexeme', 'corpus', 'embedding', 'embedding_model']
) AS name
"""
_VECTORS = """
SELECT entry_number, vector::real[] FROM mnestic.embedding
 WHERE tenant_id = %s AND agent_id = %s AND model = %s ORDER BY entry_number
"""

_Vectors = tuple[NDArray[np.int64], NDArray[np.float32]]


class Tail(Spread):
    """The median, the 95th and the 99th percentile of some samples."""

    p99: float


class Floor(BaseModel):
    """What a question to Postgres takes that asks nothing, and a search of all vectors in memory."""

    model_config = ConfigDict(frozen=True)

    select_1: Tail
    numpy: dict[str, Tail]


class RetrievalFigures(BaseModel):
    """All figures, by the entries of the agent that is asked. What was not measured is left out.

    `auto_retrieve_ms` is that of the largest memory, `vector_recall10` of the one with which it is least.
    """

    model_config = ConfigDict(frozen=True)

    retrieve_ms: dict[str, Tail]
    auto_retrieve_ms: Tail
    floor_ms: Floor
    vector_recall10: float
    index_mb_per_10k: float
    cache_hit_rate: float


@dataclass(frozen=True, kw_only=True)
class Extent:
    """How much is measured: an agent with all `entries`, others with a share of them, and a crowd."""

    entries: int = 100_000
    shares: tuple[int, ...] = (100, 10, 1)
    others: int = 8
    samples: int = 300


QUICK = Extent(entries=4000, others=2, samples=30)


async def measure(extent: Extent, data_dir: Path) -> RetrievalFigures:
    """Builds the crowd, then asks each of the agents."""
    async with EmbeddedRuntime(
        Settings(data_dir=data_dir), report=print_progress, migrate=migrate, start_worker=False
    ) as runtime:
        lanes = Lanes(runtime.state, data_dir)
        print_progress(str(await machine_of(lanes)))
        async with await psycopg.AsyncConnection.connect(
            str(runtime.state.database_admin_url), autocommit=True
        ) as owner:
            if not await _number(owner, _ENTRIES):
                await _build(lanes, owner, extent)
            began = time.monotonic()
            indexed = await asyncio.to_thread(
                index_vectors, str(runtime.state.database_admin_url), TENANT
            )
            print_progress(
                f"{len(indexed.built)} indexes of vectors built ({time.monotonic() - began:.0f} s)"
            )
            entries = await _number(owner, _ENTRIES)
            index_mb = await _number(owner, _INDEX_BYTES) / entries * 10_000 / 1e6
            retrieved, brute, recall = {}, {}, []
            async with lanes.client(TENANT) as client:
                for share in extent.shares:
                    size = str(extent.entries // share)
                    memory = client.memory(_agent(share))
                    drawn = await _questions(owner, _agent(share), 2 * extent.samples + _WARM_UPS)
                    asked, others = drawn[: extent.samples], drawn[-extent.samples :]
                    first = await _warm_up(client, drawn[extent.samples :], memory.retrieve)
                    print_progress(f"{size} entries, first {len(first)} questions: {tail(first)}")
                    retrieved[size] = tail(await _timed(asked, memory.retrieve))
                    vectors = await _vectors(owner, _agent(share))
                    brute[size], share_found = await _beside_brute_force(
                        memory, vectors, drawn[:_RECALLED]
                    )
                    recall.append(share_found)
                    print_progress(f"{size} entries: {retrieved[size]}, recall {share_found}")
                auto = tail(await _timed(others, partial(_auto_retrieve, memory)))
                print_progress(f"{size} entries, before a message: {auto}")
                hit_rate = await _hit_rate(client, memory, asked)
                print_progress(f"{size} entries, asked again and again: {hit_rate:.3f} kept")
            floor = Floor(
                select_1=tail(await _timed(["SELECT 1"] * extent.samples, owner.execute)),
                numpy=brute,
            )
        return RetrievalFigures(
            retrieve_ms=retrieved,
            auto_retrieve_ms=auto,
            floor_ms=floor,
            vector_recall10=min(recall),
            index_mb_per_10k=round(index_mb, 1),
            cache_hit_rate=hit_rate,
        )


def tail(samples: Sequence[float]) -> Tail:
    """The percentiles of two samples or more."""
    cuts = statistics.quantiles(samples, n=100, method="inclusive")
    return Tail(**spread(samples).model_dump(), p99=round(cuts[-1], 2))


async def _build(lanes: Lanes, owner: psycopg.AsyncConnection, extent: Extent) -> None:
    """One agent learns, others get what it knows."""
    began = time.monotonic()
    async with lanes.open(TENANT) as lane:
        await _learn(lane, extent.entries)
    print_progress(f"{extent.entries} entries learned ({time.monotonic() - began:.0f} s)")
    began = time.monotonic()
    shares = {_agent(share): share for share in extent.shares}
    shares |= {f"other-{number}": 1 for number in range(extent.others)}
    await crowd(owner, tenant=TENANT, agent=_BASE, shares=shares)
    number = await _number(owner, _ENTRIES)
    print_progress(
        f"{number} entries of {len(shares) + 1} agents ({time.monotonic() - began:.0f} s)"
    )


async def _learn(lane: Lane, number: int) -> None:
    memory = lane.client.memory(_BASE)
    batch = []
    handle = None
    for said in messages(number, seed=_SEED):
        batch.append(said)
        if len(batch) == _AT_ONCE:
            await memory.learn(batch)
            handle = await start_ingest(lane.client, agent_id=_BASE)
            batch = []
    await memory.learn(batch)
    handle = await start_ingest(lane.client, agent_id=_BASE)
    await handle.result()


async def _number(owner: psycopg.AsyncConnection, query: LiteralString) -> int:
    row = await (await owner.execute(query)).fetchone()
    assert row is not None
    return int(row[0])


async def _questions(owner: psycopg.AsyncConnection, agent: str, number: int) -> list[str]:
    """Questions to an agent, none of them twice."""
    found = await owner.execute(
        "SELECT speaker, content FROM mnestic.entry WHERE tenant_id = %s AND agent_id = %s "
        "ORDER BY md5(id) LIMIT %s",
        [TENANT, agent, number],
    )
    return questions(await found.fetchall(), number=number, seed=_ASKING_SEED)


async def _timed(asked: Sequence[Any], ask: Callable[[Any], Awaitable[Any]]) -> list[float]:
    """What each question takes, in milliseconds, one after the other."""
    taken = []
    for one in asked:
        began = time.perf_counter()
        await ask(one)
        taken.append((time.perf_counter() - began) * 1000)
    return taken


async def _warm_up(
    client: MnesticClient, asked: Sequence[str], ask: Callable[[Any], Awaitable[Any]]
) -> list[float]:
    """What questions take until the process has read all that it keeps, in milliseconds."""
    taken: list[float] = []
    held, before = 0, -1
    lacked, missed = 0, -1
    while len(taken) < _WARM_UPS and (held - before > _STILL * held or lacked > missed):
        taken += await _timed(asked[len(taken) : len(taken) + _WARM_UP], ask)
        counts = client.cache_counts()
        held, before = counts.entries.held, held
        lacked, missed = counts.words.misses, lacked
    return taken


async def _vectors(owner: psycopg.AsyncConnection, agent: str) -> _Vectors:
    """The vectors of an agent, by the numbers of their entries."""
    rows = await (await owner.execute(_VECTORS, [TENANT, agent, NAME])).fetchall()
    return np.array([number for number, _ in rows]), np.array([one for _, one in rows], np.float32)


async def _hit_rate(client: MnesticClient, memory: MemoryClient, asked: Sequence[str]) -> float:
    """The share of answers that are kept already, where few questions are asked often (Zipf's law, s = 1)."""
    chance = np.random.default_rng(_SEED)
    often = 1 / np.arange(1, len(asked) + 1)
    drawn = chance.choice(len(asked), size=_DRAWN * len(asked), p=often / often.sum())
    before = client.cache_counts().answers
    for place in drawn:
        await memory.retrieve(asked[place], limit=_TOP - 1)  # not yet asked so
    after = client.cache_counts().answers
    hits, misses = after.hits - before.hits, after.misses - before.misses
    return round(float(hits / (hits + misses)), 4)


async def _auto_retrieve(memory: MemoryClient, message: str) -> None:
    """What is put before a message, written down as users have it."""
    await memory.auto_retrieve(message, _CHANNEL)


async def _beside_brute_force(
    memory: MemoryClient, vectors: _Vectors, asked: Sequence[str]
) -> tuple[Tail, float]:
    """What a search of all vectors takes in memory, and the share of its first that the store finds."""
    embedder, (numbers, matrix) = TokenVectorEmbedder(), vectors
    taken, shares = [], []
    for question, told in zip(asked, (await embedder.embed(asked)).vectors, strict=True):
        vector = np.frombuffer(told, "<f4").astype(np.float16).astype(np.float32)
        began = time.perf_counter()
        cosines = _nearest(matrix, vector)
        taken.append((time.perf_counter() - began) * 1000)
        async with memory._transaction(write=False) as transaction:  # noqa: SLF001 - the store alone
            near = await transaction.search.find_near(
                _by_meaning(question, embedder.name, told, vectors=len(numbers))
            )
        # Of entries with the same cosine any may be among the first.
        least = cosines.min() - 1e-3
        held = matrix[np.searchsorted(numbers, list(near))] @ vector
        shares.append(np.count_nonzero(held >= least) / min(_TOP, len(numbers)))
    return tail(taken), round(float(np.mean(shares)), 4)


def _by_meaning(question: str, model: str, vector: bytes, *, vectors: int) -> Search:
    """A search that asks vectors alone, for the first of them."""
    return Search(
        query=RetrievalQuery(text=question, mode="semantic"),
        vocabulary=Vocabulary(),
        called=Vocabulary(),
        names=frozenset(),
        believed=frozenset(),
        tags=frozenset(),
        predicates={},
        respects=frozenset(),
        period=None,
        pool=_TOP,
        now=datetime.now(UTC),
        knowledge=0,
        model=model,
        vector=vector,
        vectors=vectors,
    )


def _nearest(matrix: NDArray[np.float32], vector: NDArray[np.float32]) -> NDArray[np.float32]:
    """The largest cosines, by looking at all."""
    cosines = matrix @ vector
    top = np.argpartition(-cosines, min(_TOP, len(cosines) - 1))[:_TOP]
    return np.asarray(cosines[top])


def _agent(share: int) -> str:
    return f"one-of-{share}"


def _rows(figures: RetrievalFigures) -> Iterator[tuple[str, str, str, str]]:
    """The figures as a table: what, how much, the target, the floor."""
    targets = {"10000": "p95 < 15", "100000": "p95 < 50"}
    for size, taken in figures.retrieve_ms.items():
        floor = figures.floor_ms.numpy[size]
        beside = f"{figures.floor_ms.select_1.p50:.2f}; all vectors {floor.p50:.2f}"
        yield f"retrieve of {size}, ms", _told(taken), targets.get(size, ""), beside
    yield "before a message, ms", _told(figures.auto_retrieve_ms), "p95 < 60", ""
    yield "recall of the true top 10 by vector", f"{figures.vector_recall10}", ">= 0.98", "1"
    yield "indexes of 10,000 entries, MB", f"{figures.index_mb_per_10k}", "< 50", ""
    yield "answers that are kept, Zipf", f"{figures.cache_hit_rate}", "> 0.8", ""


def _told(taken: Tail) -> str:
    return f"{taken.p50:.1f} (p95 {taken.p95:.1f}, p99 {taken.p99:.1f})"


def main() -> None:
    """Reads the options, measures, and tells the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--quick", action="store_true", help="few entries, to see that it runs")
    parser.add_argument("--data", type=Path, help="directory of the servers, which stays")
    options = parser.parse_args()
    data = options.data and options.data.resolve()
    for name in [name for name in os.environ if name.startswith(("MNESTIC_", "TEMPORAL_"))]:
        del os.environ[name]  # the figures are of the embedded runtime and its defaults
    with (
        tempfile.TemporaryDirectory(prefix="mnestic-benchmark-") as folder,
        contextlib.chdir(folder),  # away from any .env
    ):
        extent = QUICK if options.quick else Extent()
        figures = asyncio.run(measure(extent, data or Path(folder)))
    if options.json:
        print_json(figures.model_dump(mode="json", exclude_none=True))
        return
    print_table(
        ("figure", "here", "target", "floor"), _rows(figures), empty="Nothing was measured."
    )


if __name__ == "__main__":
    main()
