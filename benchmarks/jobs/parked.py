"""Measures a parked job: events and bytes in its history, and memory of its worker."""

import asyncio
from collections.abc import Callable, Sequence
from typing import Any

import psutil

from benchmarks.lanes import PAYLOAD, Lane, Lanes, Parkable
from mnestic.memory.names import job_workflow_id
from mnestic.starter.embedded.runtime import EmbeddedRuntime
from mnestic.starter.jobs.plans import parse_plan

PARKED = "parked"  # tenant and task queue of the runtime's own worker
_LOOP = """
name: loop
nodes:
  - {id: turn, kind: wait, key: turn, ask: "May the order go out?", timeout: 21d,
     on: {resumed: turn, timeout: end}}
"""
_IDLE_PERCENT = 3.0
_IDLE_READINGS = 3
Report = Callable[[str], None]


async def measure_history(lanes: Lanes, *, waits: int, report: Report) -> dict[str, float]:
    """Events and bytes of history that one more wait, resumed by an update, adds to a job."""
    async with lanes.open("history") as lane:
        (job_id,) = await lane.park(1, plan=parse_plan(_LOOP, source="the benchmark"))
        await _pass_waits(lane, job_id, first=1, last=1)
        before = await _history_of(lane, job_id)
        await _pass_waits(lane, job_id, first=2, last=waits + 1)
        after = await _history_of(lane, job_id)
        await lane.client.cancel_job(job_id)
    events, size = ((b - a) / waits for a, b in zip(before, after, strict=True))
    report(f"History of a wait: {events:.1f} events, {size:.0f} bytes")
    return {"events_per_wait": round(events, 1), "bytes_per_wait": round(size, 1)}


async def measure_memory(
    lanes: Lanes, runtime: EmbeddedRuntime, *, parked: Sequence[int], report: Report
) -> dict[str, Any]:
    """Resident memory of `python worker.py`, idle and with so many jobs parked, in MiB.

    It has the settings of any worker, and so its cache. The floor is a worker of bare workflows.
    """
    async with lanes.open_floor("parked") as bare:
        _, floor = await _fill(bare, parked=parked, name="the floor's worker", report=report)
    pid = await runtime.start_worker()
    try:
        async with lanes.client(PARKED) as client:
            lane = Lane(client, worker_pid=pid)
            idle, found = await _fill(lane, parked=parked, name="a worker", report=report)
    finally:
        await runtime.kill_worker()
    return {"worker_rss_mb": found, "floor_worker_rss_mb": floor, "worker_idle_rss_mb": idle}


async def _fill(
    lane: Parkable, *, parked: Sequence[int], name: str, report: Report
) -> tuple[float, dict[str, float]]:
    idle = await _rss_once_idle(lane.worker_pid)
    report(f"Memory of {name} without jobs: {idle} MiB")
    found, so_far = {}, 0
    for number in parked:
        await lane.park(number - so_far)
        so_far = number
        found[str(number)] = await _rss_once_idle(lane.worker_pid)
        report(f"Memory of {name} with {number} parked jobs: {found[str(number)]} MiB")
    return idle, found


async def _rss_once_idle(pid: int) -> float:
    process = psutil.Process(pid)
    quiet = 0
    while quiet < _IDLE_READINGS:
        used = await asyncio.to_thread(process.cpu_percent, 1.0)
        quiet = quiet + 1 if used < _IDLE_PERCENT else 0
    return round(process.memory_info().rss / 2**20, 1)


async def _pass_waits(lane: Lane, job_id: str, *, first: int, last: int) -> None:
    for number in range(first, last + 1):
        await _until_waiting(lane, job_id, waits=number)
        await lane.client.resume_job(job_id, PAYLOAD)
    await _until_waiting(lane, job_id, waits=last + 1)


async def _until_waiting(lane: Lane, job_id: str, *, waits: int) -> None:
    while True:
        job = await lane.client.describe_job(job_id)
        if job.state == "waiting" and len(job.waits) == waits:
            return
        await asyncio.sleep(0.02)


async def _history_of(lane: Lane, job_id: str) -> tuple[int, int]:
    workflow_id = job_workflow_id(lane.client.settings.tenant_id, job_id)
    history = await lane.client.temporal.get_workflow_handle(workflow_id).fetch_history()
    return len(history.events), sum(event.ByteSize() for event in history.events)
