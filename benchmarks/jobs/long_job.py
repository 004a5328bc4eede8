"""Measures one job of many waits: `python benchmarks/jobs/long_job.py --waits 10000 --json`.

It tells whether anything grows with each wait: the history of a run, what one run hands to the next, the time that a
wait takes.
"""

import argparse
import asyncio
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import psycopg
from psycopg import sql
from pydantic import BaseModel, ConfigDict
from temporalio.api.enums.v1 import EventType
from temporalio.client import WorkflowHandle, WorkflowUpdateFailedError

from benchmarks.default_settings import default_settings
from benchmarks.figures import Spread, spread
from benchmarks.lanes import Lane, Lanes
from mnestic.memory.jobs.waits import ResumeRequest
from mnestic.memory.names import RESUME, job_workflow_id
from mnestic.starter.cli.output import print_json, print_progress
from mnestic.starter.embedded.runtime import EmbeddedRuntime
from mnestic.starter.jobs.plans import parse_plan
from mnestic.starter.settings import Settings
from mnestic.stores.postgres.schema import migrate

LANE = "long-job"
REPORT_EVERY = 500
SHARES = 10  # of the waits, whose first and last are compared
_LOOP = """
name: long-job
nodes:
  - {id: turn, kind: wait, key: turn, ask: "What comes next?", timeout: 21d, on: {resumed: keep, timeout: end}}
  - id: keep
    kind: remember
    records: [{namespace: turns, key: last, value: "${results.turn.payload.number}"}]
    variables: {last: "${results.turn.payload.number}"}
    next: {on: "${results.turn.payload.last}", cases: {"true": end}, otherwise: turn}
"""


class LongJob(BaseModel):
    """The figures of a job with many waits.

    `written` counts how often its record was written. Of all runs, the largest history is given in
    events and bytes, and the largest input in bytes. A wait's time is from its resume to the next.
    """

    model_config = ConfigDict(frozen=True)

    waits: int
    written: int
    runs: int
    largest_history_events: int
    largest_history_bytes: int
    input_bytes: tuple[int, ...]
    first_wait_ms: Spread
    last_wait_ms: Spread
    rows: dict[str, int]
    database_mb: float


async def measure(waits: int, data_dir: Path) -> LongJob:
    """Runs a job through so many waits, each resumed by an update once it is open."""
    settings = Settings(data_dir=data_dir, tenant_id=LANE, task_queue=LANE)
    async with EmbeddedRuntime(
        settings, report=print_progress, migrate=migrate, start_worker=False
    ) as runtime:
        lanes = Lanes(runtime.state, data_dir)
        async with lanes.open(LANE) as lane:
            (job_id,) = await lane.park(1, plan=parse_plan(_LOOP, source="the benchmark"))
            taken = await _pass_waits(lane, job_id, waits)
            result = await lane.client.wait_for_result(job_id)
            record = await lane.client.memory("agent-0").records.get("turns", "last")
            inputs, histories = await _runs_of(lane, job_id)
        rows, size = await _database(str(runtime.state.database_admin_url))
    share = max(2, waits // SHARES)
    return LongJob(
        waits=result.waits,
        written=record.version,
        runs=len(inputs),
        largest_history_events=max(events for events, _ in histories),
        largest_history_bytes=max(size for _, size in histories),
        input_bytes=tuple(inputs),
        first_wait_ms=spread(taken[:share]),
        last_wait_ms=spread(taken[-share:]),
        rows=rows,
        database_mb=size,
    )


async def _pass_waits(lane: Lane, job_id: str, waits: int) -> Sequence[float]:
    """Resumes each wait as soon as the job takes the request; returns what each took, in ms."""
    workflow_id = job_workflow_id(lane.client.settings.tenant_id, job_id)
    handle = lane.client.temporal.get_workflow_handle(workflow_id)
    taken = []
    for number in range(1, waits + 1):
        began = time.perf_counter()
        payload = {"number": number, "last": number == waits}
        wait = f"{job_id}/w{number}"
        await _resume(handle, ResumeRequest(request_id=wait, wait_id=wait, payload=payload))
        taken.append((time.perf_counter() - began) * 1000)
        if number % REPORT_EVERY == 0:
            recent = spread(taken[-REPORT_EVERY:])
            print_progress(
                f"{number} waits; of the last {REPORT_EVERY} one took {recent.p50} ms (p50)"
            )
    return taken


async def _resume(handle: WorkflowHandle[Any, Any], request: ResumeRequest) -> None:
    """Sends a request until the job takes it; what is refused leaves nothing in the history."""
    while True:
        try:
            await handle.execute_update(RESUME, request)
        except WorkflowUpdateFailedError:  # the wait is not open yet
            await asyncio.sleep(0.005)
        else:
            return


async def _runs_of(lane: Lane, job_id: str) -> tuple[list[int], list[tuple[int, int]]]:
    """Bytes of each run's input, and events and bytes of its history, first run first."""
    workflow_id = job_workflow_id(lane.client.settings.tenant_id, job_id)
    found = [
        (execution.start_time, execution.run_id)
        async for execution in lane.client.temporal.list_workflows(f"WorkflowId = '{workflow_id}'")
    ]
    inputs, histories = [], []
    for _, run_id in sorted(found):
        handle: WorkflowHandle[Any, Any] = lane.client.temporal.get_workflow_handle(
            workflow_id, run_id=run_id
        )
        history = await handle.fetch_history()
        started = history.events[0]
        assert started.event_type == EventType.EVENT_TYPE_WORKFLOW_EXECUTION_STARTED
        inputs.append(started.workflow_execution_started_event_attributes.input.ByteSize())
        size = sum(event.ByteSize() for event in history.events)
        histories.append((len(history.events), size))
    return inputs, histories


async def _database(url: str) -> tuple[dict[str, int], float]:
    """Rows of each table that has some, and the size of the database in MiB."""
    async with await psycopg.AsyncConnection.connect(url) as connection:
        names = await connection.execute(
            "SELECT relname FROM pg_class WHERE relnamespace = 'mnestic'::regnamespace AND relkind = 'r'"
        )
        rows = {}
        for (name,) in await names.fetchall():
            counted = sql.SQL("SELECT count(*) FROM {}").format(sql.Identifier("mnestic", name))
            found = await (await connection.execute(counted)).fetchone()
            assert found is not None
            rows[name] = found[0]
        sized = await connection.execute("SELECT pg_database_size(current_database())")
        found = await sized.fetchone()
        assert found is not None
    return {name: count for name, count in sorted(rows.items()) if count}, round(
        found[0] / 2**20, 1
    )


def main() -> None:
    """Reads the options, measures, and prints the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--waits", type=int, default=10_000, help="how many; 10,000 by default")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    options = parser.parse_args()
    with default_settings() as folder:
        found = asyncio.run(measure(options.waits, folder))
    if options.json:
        print_json(found.model_dump(mode="json"))
        return
    for name, value in found:
        print(f"{name}: {value}")  # noqa: T201 - the command's output


if __name__ == "__main__":
    main()
