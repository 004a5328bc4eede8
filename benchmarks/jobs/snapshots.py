"""Measures how long it takes to take a snapshot and to restore it, by the size of memory.

The activities run in this process, without Temporal: their time is Postgres' and ours.
"""

import hashlib
import time
from collections.abc import Awaitable, Callable, Sequence
from datetime import timedelta
from itertools import count
from typing import Any

import psycopg
from temporalio.testing import ActivityEnvironment

from benchmarks.conversations import NOON, with_conversation
from benchmarks.figures import Spread, spread
from benchmarks.lanes import Lanes
from mnestic.activities.jobs.waits import OpenWaitInput, RestoreInput, WaitActivities
from mnestic.memory.jobs.episodes import Episode
from mnestic.memory.jobs.snapshots import EPISODIC_TAIL, SnapshotRef
from mnestic.memory.jobs.waits import RESUMED, OpenWait, ResumeRequest, ResumptionContext
from mnestic.memory.jobs.working_memory import WorkingMemory
from mnestic.memory.names import wait_id, wait_operation_key
from mnestic.memory.operations import Operation
from mnestic.memory.ports import Memory
from mnestic.memory.scope import Scope
from mnestic.starter.wiring import find_endpoints, open_memory
from mnestic.stores.postgres.jobs.recalls import ScopeRetriever
from mnestic.worker import freeze_heap

NAMES = (
    "snapshot_ms",
    "floor_snapshot_ms",
    "restore_ms",
    "restore_drifted_ms",
    "floor_restore_ms",
)
_WARM_UP = 3
_RECORDS = 10
_SESSION = "session"
_INSERT = """
    INSERT INTO mnestic.memory_snapshot
        (tenant_id, id, agent_id, job_id, schema_version, sha256, body, memory_revision, created_at)
    VALUES ('floor', %s, 'floor', 'floor', 2, %s, %s, 1, now())
"""
_SELECT = "SELECT body FROM mnestic.memory_snapshot WHERE tenant_id = 'floor' AND id = %s"
Report = Callable[[str], None]


async def measure_snapshots(
    lanes: Lanes, *, sizes_kib: Sequence[int], samples: int, report: Report
) -> dict[str, dict[str, Spread]]:
    """The spread in milliseconds, by figure (`NAMES`) and size."""
    found: dict[str, dict[str, Spread]] = {name: {} for name in NAMES}
    memory = open_memory(find_endpoints(lanes.settings("snapshots")))
    try:
        for size in sizes_kib:
            bench = _Bench(
                memory, Scope(tenant_id="snapshots", agent_id=f"agent-{size}", session_id=_SESSION)
            )
            await bench.prepare(size * 1024)
            freeze_heap()  # as a worker does
            taken = await _taken(bench, str(lanes.state.database_admin_url), samples=samples)
            for name, values in taken.items():
                found[name][str(size)] = spread(values)
            cells = ", ".join(f"{name} {found[name][str(size)].p50}" for name in NAMES)
            report(f"{size} KiB ({bench.ref.size_bytes} bytes): {cells}")
    finally:
        await memory.close()
    return found


async def _taken(bench: "_Bench", admin_url: str, *, samples: int) -> dict[str, list[float]]:
    """Samples of each, taken in turn, so that what disturbs one disturbs all."""
    taken: dict[str, list[float]] = {name: [] for name in NAMES}
    async with await psycopg.AsyncConnection.connect(admin_url, autocommit=True) as connection:
        floor = _Floor(connection, b"")
        for _ in range(_WARM_UP + samples):
            taken["snapshot_ms"].append(await _timed(bench.open))
            taken["restore_ms"].append(await _timed(bench.restore))
            await bench.open()
            await bench.change_a_record()
            taken["restore_drifted_ms"].append(await _timed(bench.restore))
            await bench.open()
            await bench.restore()  # which undoes the message about drift
            floor.body = await bench.body()
            taken["floor_snapshot_ms"].append(await _timed(floor.write))
            taken["floor_restore_ms"].append(await _timed(floor.read))
    return {name: values[_WARM_UP:] for name, values in taken.items()}


async def _timed(work: Callable[[], Awaitable[None]]) -> float:
    began = time.perf_counter()
    await work()
    return (time.perf_counter() - began) * 1000


class _Bench:
    """One job's memory, which is sealed and restored again and again."""

    def __init__(self, memory: Memory, scope: Scope) -> None:
        self._memory, self._scope = memory, scope
        self._activities = WaitActivities(memory, ScopeRetriever())
        self._environment = ActivityEnvironment()
        self._waits = count(1)
        self._job, self._wait = f"job-{scope.agent_id}", ""
        self.ref: SnapshotRef

    async def prepare(self, size_bytes: int) -> None:
        """Remembers a conversation, tool calls, records and episodes of so many bytes in all."""
        async with self._transaction() as transaction:
            for index in range(EPISODIC_TAIL):
                await transaction.episodes.append(_episode(self._scope, index))
            written = [
                await transaction.records.set("people", f"person-{index}", _person(index))
                for index in range(_RECORDS)
            ]
            await transaction.records.add_reads(self._job, [record.read for record in written])
            await transaction.working.save(_SESSION, WorkingMemory())
        await self.open()
        await self.restore()
        async with self._transaction() as transaction:
            state = await transaction.working.load(_SESSION, lock=True)
            room = size_bytes - self.ref.size_bytes
            await transaction.working.save(_SESSION, with_conversation(state, room))

    async def open(self) -> None:
        """Opens the next wait."""
        self._wait = wait_id(self._job, next(self._waits))
        params = OpenWaitInput(
            scope=self._scope,
            operation=self._operation("open"),
            wait_id=self._wait,
            key="approval",
            policy="rebase",
            context=ResumptionContext(cursor_node="approval", plan_decision_id="0" * 64),
            outcomes=(RESUMED,),
            ask="May the order go out?",
            opened_at=NOON,
            deadline=NOON + timedelta(days=21),
        )
        self.ref = await self._environment.run(self._activities.open_wait, params)

    async def restore(self) -> None:
        """Restores the wait that was opened last."""
        wait = OpenWait(
            wait_id=self._wait,
            key="approval",
            outcomes=(RESUMED,),
            policy="rebase",
            deadline=NOON + timedelta(days=21),
            snapshot=self.ref,
        )
        params = RestoreInput(
            scope=self._scope,
            operation=self._operation("restore"),
            wait=wait,
            request=ResumeRequest(request_id=self._wait, payload={"by": "Ana"}),
            restored_at=NOON + timedelta(days=1),
        )
        await self._environment.run(self._activities.restore, params)

    async def change_a_record(self) -> None:
        """A write of another client while the job waits."""
        async with self._transaction() as transaction:
            await transaction.records.set("people", "person-0", _person(next(self._waits)))

    async def body(self) -> bytes:
        """The bytes of the last snapshot."""
        async with self._transaction() as transaction:
            sealed = await transaction.snapshots.get(self.ref.id, sha256=self.ref.sha256)
        return bytes(sealed.body)

    def _transaction(self) -> Any:
        return self._memory.transaction(
            tenant_id=self._scope.tenant_id,
            agent_id=self._scope.agent_id,
            actor="benchmark",
            write=True,
        )

    def _operation(self, name: str) -> Operation:
        return Operation(key=wait_operation_key(self._wait, name), name=name, job_id=self._job)


class _Floor:
    """One row of so many bytes, written and read on a connection that is open already."""

    def __init__(self, connection: psycopg.AsyncConnection[Any], body: bytes) -> None:
        self._connection, self.body = connection, body
        self._name = ""

    async def write(self) -> None:
        self._name = f"floor-{time.time_ns()}"
        sha256 = hashlib.sha256(self.body).hexdigest()
        await self._connection.execute(_INSERT, [self._name, sha256, self.body])

    async def read(self) -> None:
        row = await (await self._connection.execute(_SELECT, [self._name])).fetchone()
        assert row is not None
        hashlib.sha256(row[0]).hexdigest()


def _person(index: int) -> dict[str, Any]:
    return {"city": "Malmö", "likes": ["tea", "maps"], "seen": index, "note": "met at the harbour"}


def _episode(scope: Scope, index: int) -> Episode:
    return Episode(
        id=f"{scope.agent_id}-{index}",
        agent_id=scope.agent_id,
        session_id=_SESSION,
        summary="Mara asked for the map of the Scheldt, and Jonas promised to bring it by Thursday.",
        payload={"outcome": "completed", "waits": index},
        created_at=NOON - timedelta(days=index + 1),
    )
