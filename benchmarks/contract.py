"""Measures memory by a contract beside what one writes by hand: `python benchmarks/contract.py --json`; progress goes to standard error.

The floor of records is a plain statement on the same table, with the same indexes, on a connection that is open already. That of a
prompt's segments is counting the tokens of the same texts, that of a search for a reader the same search without one. Product and floor take turns, in an embedded runtime of their own.
"""

import argparse
import asyncio
import statistics
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

import psycopg
from pydantic import BaseModel, ConfigDict

from benchmarks.conversations import NOON, with_conversation
from benchmarks.default_settings import default_settings
from benchmarks.documents import COLLECTION, with_documents
from benchmarks.figures import Machine, Spread, spread
from benchmarks.ingest.round_trips import RoundTrips, counted
from benchmarks.jobs.jobs import machine_of
from benchmarks.lanes import Lanes
from mnestic.activities.clients.tokens import count_tokens
from mnestic.activities.jobs.prompt_histories import segment_texts
from mnestic.memory.canonical import canonical_json
from mnestic.memory.contract.document import ShortTerm
from mnestic.memory.jobs.short_term.segment_steps import SegmentEdit
from mnestic.memory.jobs.short_term.segments import SegmentEntry, Segments, tokens_of
from mnestic.memory.jobs.working_memory import WorkingMemory
from mnestic.memory.knowledge.resources import Resource
from mnestic.memory.sharing.events import ChannelEvent
from mnestic.starter.cli.output import print_json, print_progress, print_table
from mnestic.starter.client.contract_memory import ContractMemory
from mnestic.starter.client.memory_connection import MemoryConnection
from mnestic.starter.embedded.runtime import EmbeddedRuntime
from mnestic.starter.settings import Settings
from mnestic.stores.postgres.jobs.record_indexes import index_records
from mnestic.stores.postgres.schema import migrate
from mnestic.worker import freeze_heap

TENANT, AGENT, SESSION, SCHEMA = "contract", "ada", "session", "audits"
TARGETS = {
    "persist": 3.0,
    "retrieve": 3.0,
    "query": 2.0,
    "assemble": 1.5,
    "publish": 3.0,
    "lock": 6.0,
    "upsert": 6.0,
    "search": 3.0,
    "search for a reader": 1.1,
}
"""How many times as long as its floor each may take, p95; of a query p50 too, of a search for a reader p50 alone. A lock is two
writes: it is taken, and ended."""

_WARM_UP = 10
_MATCHES = 20  # records of a query
_CHANNEL = "steps"
_MESSAGES = 10_000
_THINGS = ("roof", "door", "boiler", "garden", "fence", "window", "cellar", "stove")
_SEGMENT, _BYTES_PER_TOKEN = "conversation", 40  # of a message with all its fields, at least
_RECORDS = ("persist", "retrieve", "query")
_VALUE = {"score": 71, "url": "https://example.org/prices", "findings": ["no title", "slow"]}
_CONTRACT = {
    "Memory": {
        "short_term": {
            "enabled": True,
            "max_tokens": 1_000_000,
            "eviction_policy": "fifo",
            "segments": [
                {
                    "segment_id": _SEGMENT,
                    "priority": 1,
                    "max_tokens": 1_000_000,
                    "retention": "session",
                }
            ],
        },
        "long_term": {
            "enabled": True,
            "storage_backends": [{"backend_id": "main", "type": "postgres"}],
            "schemas": [
                {
                    "schema_id": SCHEMA,
                    "backend": "main",
                    "structure": {
                        "type": "object",
                        "required": ["score"],
                        "properties": {"score": {"type": "number"}, "url": {"type": "string"}},
                    },
                    "indexes": ["score"],
                    "ttl_days": 90,
                }
            ],
        },
        "shared": {
            "enabled": True,
            "namespaces": [
                {"namespace": "sites", "access_level": "write", "agents_allowed": [AGENT]}
            ],
            "coordination": {"lock_strategy": "pessimistic"},
            "pubsub": {"enabled": True, "channels": [{"channel": _CHANNEL}]},
        },
        "vector": {"enabled": True, "collections": [{"collection_id": COLLECTION}]},
    }
}
_FILL = """
    INSERT INTO mnestic.long_term_record
           (tenant_id, agent_id, namespace, key, version, value, created_at, updated_at, expires_at)
    SELECT 'contract', 'ada', 'audits', 'site-' || n, 1, CAST(%(value)s AS jsonb) || jsonb_build_object('score', n / 20),
           now(), now(), now() + interval '90 days'
      FROM generate_series(0, %(rows)s - 1) AS n
"""
_WRITE = """
    INSERT INTO mnestic.long_term_record AS r
           (tenant_id, agent_id, namespace, key, version, value, created_at, updated_at, expires_at)
    VALUES ('contract', 'floor', 'audits', %s, 1, %s, now(), now(), now() + interval '90 days')
    ON CONFLICT (tenant_id, agent_id, namespace, key)
    DO UPDATE SET value = excluded.value, version = r.version + 1, updated_at = now(), expires_at = excluded.expires_at
"""
_READ = """
    SELECT value FROM mnestic.long_term_record
     WHERE tenant_id = 'contract' AND agent_id = 'ada' AND namespace = 'audits' AND key = %s
       AND value IS NOT NULL AND (expires_at IS NULL OR expires_at > now())
"""
_QUERY = """
    SELECT namespace, key, version, value, created_at, updated_at, expires_at, metadata
      FROM mnestic.long_term_record
     WHERE tenant_id = 'contract' AND agent_id = 'ada' AND namespace = 'audits'
       AND value IS NOT NULL AND (expires_at IS NULL OR expires_at > now())
       AND COALESCE(value #> '{score}', 'null'::jsonb) = CAST(%s AS jsonb)
     ORDER BY key LIMIT 100
"""
Step = Callable[[int], Awaitable[None]]


class Compared(BaseModel):
    """A round of one operation: milliseconds of product and floor."""

    model_config = ConfigDict(frozen=True)

    product_ms: Spread
    floor_ms: Spread

    @property
    def ratios(self) -> tuple[float, float]:
        """How many times as long as its floor the product takes: p50 and p95."""
        product, floor = self.product_ms, self.floor_ms
        return round(product.p50 / floor.p50, 2), round(product.p95 / floor.p95, 2)


class ContractFigures(BaseModel):
    """All rounds by operation, the median of their ratios, and the trips to Postgres.

    What each sends to Postgres is statements, and waits for their answers.
    """

    model_config = ConfigDict(frozen=True)

    records: int
    segment_tokens: int
    segment_entries: int
    rounds: dict[str, tuple[Compared, ...]]
    ratio_p50: dict[str, float]
    ratio_p95: dict[str, float]
    trips: dict[str, RoundTrips]
    machine: Machine


async def measure(
    *, rows: int, tokens: int, samples: int, rounds: int, data_dir: Path
) -> ContractFigures:
    """Measures records and segments, so many rounds of so many samples each, on servers of its own."""
    settings = Settings(data_dir=data_dir, tenant_id=TENANT, task_queue=TENANT)
    async with EmbeddedRuntime(
        settings, report=print_progress, migrate=migrate, start_worker=False
    ) as runtime:
        lanes = Lanes(runtime.state, data_dir)
        async with await MemoryConnection.connect(lanes.settings(TENANT)) as client:
            found = await compare(
                client,
                str(lanes.state.database_admin_url),
                rows=rows,
                tokens=tokens,
                samples=samples,
                rounds=rounds,
            )
        return ContractFigures(**found, machine=await machine_of(lanes))


async def compare(
    client: MemoryConnection, admin_url: str, *, rows: int, tokens: int, samples: int, rounds: int
) -> dict[str, Any]:
    """All figures but the machine, on servers that are there."""
    async with (
        _open_records(client, admin_url, rows=rows) as (memory, floor),
        _subscribed(memory, admin_url) as publishing,
    ):
        sides = {
            "persist": _persisting(memory, floor),
            "retrieve": _retrieving(memory, floor, rows=rows),
            "query": _querying(memory, floor, rows=rows),
            "assemble": _assembling(segments := _fill_segments(tokens)),
            "publish": publishing,
            "lock": await _locking(memory, floor),
            **await with_documents(memory, floor),
            "search for a reader": await _searching(client, messages=min(rows, _MESSAGES)),
        }
        trips = {name: await _trips(sides[name][0]) for name in _RECORDS}
        freeze_heap()  # as a worker does
        found = [await _round(sides, samples=samples, number=number) for number in range(rounds)]
    ratios = {name: [one[name].ratios for one in found] for name in TARGETS}
    return {
        "records": rows,
        "segment_tokens": tokens_of(segments.entries),
        "segment_entries": len(segments.entries),
        "rounds": {name: tuple(one[name] for one in found) for name in TARGETS},
        "ratio_p50": {name: statistics.median(p50 for p50, _ in of) for name, of in ratios.items()},
        "ratio_p95": {name: statistics.median(p95 for _, p95 in of) for name, of in ratios.items()},
        "trips": trips,
    }


@asynccontextmanager
async def _open_records(
    client: MemoryConnection, admin_url: str, *, rows: int
) -> AsyncIterator[tuple[ContractMemory, psycopg.AsyncConnection[Any]]]:
    """The memory of an agent with so many records and their index, and the connection of the floor."""
    await client.contracts().apply(AGENT, _CONTRACT)
    async with await psycopg.AsyncConnection.connect(admin_url, autocommit=True) as floor:
        await floor.execute(_FILL, {"value": canonical_json(_VALUE).decode(), "rows": rows})
        await asyncio.to_thread(index_records, admin_url, TENANT)
        await floor.execute("VACUUM ANALYZE mnestic.long_term_record")
        yield await client.contract(AGENT), floor


def _persisting(
    memory: ContractMemory, connection: psycopg.AsyncConnection[Any]
) -> tuple[Step, Step]:
    """Every second write is of a new key."""

    async def product(step: int) -> None:
        await memory.persist(SCHEMA, f"new-{step // 2}", _VALUE | {"score": step})

    async def floor(step: int) -> None:
        value = canonical_json(_VALUE | {"score": step}).decode()
        await connection.execute(_WRITE, [f"new-{step // 2}", value], prepare=True)

    return product, floor


def _retrieving(
    memory: ContractMemory, connection: psycopg.AsyncConnection[Any], *, rows: int
) -> tuple[Step, Step]:
    async def product(step: int) -> None:
        assert await memory.retrieve(SCHEMA, f"site-{step % rows}")

    async def floor(step: int) -> None:
        found = await connection.execute(_READ, [f"site-{step % rows}"], prepare=True)
        assert await found.fetchone()

    return product, floor


def _querying(
    memory: ContractMemory, connection: psycopg.AsyncConnection[Any], *, rows: int
) -> tuple[Step, Step]:
    async def product(step: int) -> None:
        where = {"where": {"field": "score", "value": step % (rows // _MATCHES)}}
        found, _ = await memory.query(SCHEMA, where)
        assert len(found) >= _MATCHES

    async def floor(step: int) -> None:
        score = str(step % (rows // _MATCHES))
        found = await connection.execute(_QUERY, [score], prepare=True)
        assert len(await found.fetchall()) >= _MATCHES

    return product, floor


async def _locking(
    memory: ContractMemory, connection: psycopg.AsyncConnection[Any]
) -> tuple[Step, Step]:
    """From a free key to a free key; the floor locks a row of a bare table, and commits."""
    await connection.execute("CREATE TABLE public.bare_lock AS SELECT 1 AS key")

    async def product(_: int) -> None:
        async with memory.lock("sites", "site"):
            pass

    async def floor(_: int) -> None:
        async with connection.transaction():
            locked = "SELECT FROM public.bare_lock WHERE key = 1 FOR UPDATE"
            await connection.execute(locked, prepare=True)

    return product, floor


@asynccontextmanager
async def _subscribed(memory: ContractMemory, admin_url: str) -> AsyncIterator[tuple[Step, Step]]:
    """From an event to the subscriber that is handed it; the floor is a bare NOTIFY to a connection that listens."""
    handed: asyncio.Queue[int] = asyncio.Queue()
    notified: asyncio.Queue[int] = asyncio.Queue()

    async def take(event: ChannelEvent) -> None:
        handed.put_nowait(event.payload["step"])

    async def listen(connection: psycopg.AsyncConnection[Any]) -> None:
        async for notify in connection.notifies():
            notified.put_nowait(int(notify.payload))

    async def product(step: int) -> None:
        await memory.publish(_CHANNEL, {"step": step})
        assert await handed.get() == step

    async def floor(step: int) -> None:
        await sender.execute("SELECT pg_notify('floor', %s)", [str(step)], prepare=True)
        assert await notified.get() == step

    async with (
        await psycopg.AsyncConnection.connect(admin_url, autocommit=True) as listener,
        await psycopg.AsyncConnection.connect(admin_url, autocommit=True) as sender,
    ):
        await listener.execute("LISTEN floor")
        reading = (
            asyncio.create_task(memory.subscribe(_CHANNEL, take, after=0)),
            asyncio.create_task(listen(listener)),
        )
        try:
            yield product, floor
        finally:
            for task in reading:
                task.cancel()
            await asyncio.gather(*reading, return_exceptions=True)


def _fill_segments(tokens: int) -> Segments:
    """Segments of so many tokens: turns of a conversation, as a session stores them."""
    edit = SegmentEdit(None, _rules(), count_tokens=count_tokens, at=NOON)
    for message in with_conversation(WorkingMemory(), tokens * _BYTES_PER_TOKEN).messages:
        draft = SegmentEntry(
            id=message.id, segment_id=_SEGMENT, content=message.content, at=message.at
        )
        entry = edit.add(draft)
        assert entry is not None, "there is room"
        tokens -= entry.tokens or 0
        if tokens <= 0:
            break
    return edit.result()


async def _searching(client: MemoryConnection, *, messages: int) -> tuple[Step, Step]:
    """Half of the messages are for one of five readers, who so may read three of five."""
    memory, reader = client.memory("readers"), "user.r0"
    said = [
        Resource(
            session_id=f"s{number // 20}",
            source_id=f"m{number}",
            channel="chat",
            speaker=f"Person {number % 7}",
            content=f"The {_THINGS[number % 8]} of house {number % 97} costs {number} euros.",
            at=NOON + timedelta(minutes=number),
            readers=(f"user.r{number % 5}",) if number % 2 else None,
        )
        for number in range(messages)
    ]
    for start in range(0, messages, 500):
        await memory.ingest(said[start : start + 500])

    async def product(step: int) -> None:
        assert (await memory.retrieve(_question(step), reader=reader, is_access=False)).results

    async def floor(step: int) -> None:
        assert (await memory.retrieve(_question(step), is_access=False)).results

    return product, floor


def _question(step: int) -> str:
    """Another one at each step, so that no answer is cached."""
    return f"What does the {_THINGS[step % 8]} of house {step % 97} cost, asked {step} times?"


def _assembling(segments: Segments) -> tuple[Step, Step]:
    """What `think` sends of segments, out of a session that is loaded."""
    state, rules = WorkingMemory().with_segments(segments), _rules()

    async def product(_: int) -> None:
        edit = SegmentEdit(state.segments, rules, count_tokens=count_tokens, at=NOON)
        history = segment_texts(edit.entries, rules)
        fitted = history.fit(room=rules.max_tokens, count_tokens=count_tokens)
        assert len(fitted.messages) == len(segments.entries)

    async def floor(_: int) -> None:
        assert sum(count_tokens(entry.content) for entry in segments.entries)

    return product, floor


def _rules() -> ShortTerm:
    return ShortTerm.model_validate(_CONTRACT["Memory"]["short_term"])


async def _trips(product: Step) -> RoundTrips:
    await product(0)
    with counted() as trips:
        await product(1)
    return trips


async def _round(
    sides: dict[str, tuple[Step, Step]], *, samples: int, number: int
) -> dict[str, Compared]:
    """Product and floor of each in turn, so that what disturbs one disturbs all."""
    taken: dict[str, tuple[list[float], list[float]]] = {each: ([], []) for each in sides}
    steps = _WARM_UP + samples
    for step in range(number * steps, (number + 1) * steps):
        for each, both in sides.items():
            for side, work in enumerate(both):
                began = time.perf_counter()
                await work(step)
                taken[each][side].append((time.perf_counter() - began) * 1000)
    found = {
        each: Compared(product_ms=spread(product[_WARM_UP:]), floor_ms=spread(floor[_WARM_UP:]))
        for each, (product, floor) in taken.items()
    }
    print_progress(
        f"round {number + 1}: " + ", ".join(f"{n} {one.ratios}" for n, one in found.items())
    )
    return found


def _cells(figures: ContractFigures) -> Iterator[tuple[str, ...]]:
    """The figures as a table: what, how much, the floor, the ratios, the target, and the waits for Postgres."""
    for name, rounds in figures.rounds.items():
        for one in rounds:
            cells = _spread(one.product_ms), _spread(one.floor_ms), "{} ({})".format(*one.ratios)
            yield (f"{name}, ms p50 (p95)", *cells, "")
        ratios = f"{figures.ratio_p50[name]} ({figures.ratio_p95[name]})"
        yield f"{name}, median of the rounds", "", "", ratios, f"<= {TARGETS[name]}"
    for name, trips in figures.trips.items():
        yield f"{name}, statements, waits", f"{trips.statements}, {trips.waits}", "", "", ""


def _spread(durations: Spread) -> str:
    return f"{durations.p50:.2f} ({durations.p95:.2f})"


def main() -> None:
    """Reads the options, measures, and prints the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--quick", action="store_true", help="few samples, to see that it runs")
    parser.add_argument("--samples", type=int, default=200, help="of each, in a round")
    options = parser.parse_args()
    rows, tokens, samples = (
        (400, 2000, 10) if options.quick else (100_000, 100_000, options.samples)
    )
    with default_settings() as folder:
        figures = asyncio.run(
            measure(rows=rows, tokens=tokens, samples=samples, rounds=3, data_dir=folder)
        )
    if options.json:
        print_json(figures.model_dump(mode="json"))
        return
    print_table(("figure", "here", "floor", "ratio", "target"), _cells(figures), empty="")
    print_progress(str(figures.machine))


if __name__ == "__main__":
    main()
