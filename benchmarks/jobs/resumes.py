"""How long a resumed job takes to its next node, and how many jobs a second pass one wait."""

import statistics
import time
from collections.abc import Callable
from contextlib import AsyncExitStack
from typing import Any

from benchmarks.cpu_time import CpuTime, cpu_time, each, mean
from benchmarks.figures import ByCache, Spread, spread
from benchmarks.lanes import CACHED, Lanes, Parkable, at_once

WARM_UP = 10
_SMALL_CACHE = 10  # jobs; all others are evicted before they are resumed
Report = Callable[[str], None]


async def measure_resumes(
    lanes: Lanes, *, warm: int, cold: int, report: Report
) -> dict[str, ByCache | Spread]:
    """From sending the resume to the beginning of the next activity.

    Workers are processes of their own, as in production. The product's and the floor's run side by
    side, and a sample of one follows a sample of the other.
    """
    warm_product, warm_floor = await _sampled(
        lanes, "warm", number=warm, cached=CACHED, report=report
    )
    cold_product, cold_floor = await _sampled(
        lanes, "cold", number=cold, cached=_SMALL_CACHE, report=report
    )
    async with lanes.open_events("events") as both:
        by_event, signalled = await _compared(both, "by an event", number=warm, report=report)
    return {
        "resume_to_activity_ms": ByCache(warm=warm_product, cold=cold_product),
        "floor_ms": ByCache(warm=warm_floor, cold=cold_floor),
        "event_to_activity_ms": by_event,
        "floor_event_ms": signalled,
    }


async def measure_throughput(
    lanes: Lanes, *, jobs: int, rounds: int, report: Report
) -> dict[str, Any]:
    """Jobs per second, from the first start to the last result, and what a job takes of the processor.

    All jobs of a round are started, then all are resumed; rounds alternate, and the median counts.
    """
    async with AsyncExitStack() as stack:
        product = await stack.enter_async_context(lanes.open("throughput"))
        floor = await stack.enter_async_context(lanes.open_floor("throughput"))
        lanes_of: dict[str, Parkable] = {"": product, "floor_": floor}
        rates: dict[str, list[float]] = {name: [] for name in lanes_of}
        used: dict[str, list[CpuTime]] = {name: [] for name in lanes_of}
        for lane in lanes_of.values():
            await _round(lane, WARM_UP)
        for number in range(1, rounds + 1):
            for name, lane in lanes_of.items():
                before = cpu_time(lanes.state, worker_pid=lane.worker_pid)
                rates[name].append(await _round(lane, jobs))
                after = cpu_time(lanes.state, worker_pid=lane.worker_pid)
                used[name].append(each(before, after, of=jobs))
            ours, bare = rates[""][-1], rates["floor_"][-1]
            report(
                f"Throughput, round {number}: {ours:.1f} jobs a second, floor {bare:.1f}: "
                f"{ours / bare:.2f} of it"
            )
    shares = [ours / bare for ours, bare in zip(rates[""], rates["floor_"], strict=True)]
    return {
        "jobs_per_s": round(statistics.median(rates[""]), 1),
        "floor_jobs_per_s": round(statistics.median(rates["floor_"]), 1),
        "share_of_floor": round(statistics.median(shares), 2),
        "job_cpu_ms": mean(used[""]),
        "floor_job_cpu_ms": mean(used["floor_"]),
    }


async def _round(lane: Parkable, jobs: int) -> float:
    began = time.perf_counter()
    await at_once(await lane.park(jobs), lane.finish)
    return jobs / (time.perf_counter() - began)


async def _sampled(
    lanes: Lanes, name: str, *, number: int, cached: int, report: Report
) -> tuple[Spread, Spread]:
    async with AsyncExitStack() as stack:
        both: tuple[Parkable, Parkable] = (
            await stack.enter_async_context(lanes.open(name, cached=cached)),
            await stack.enter_async_context(lanes.open_floor(name, cached=cached)),
        )
        return await _compared(both, name, number=number, report=report)


async def _compared(
    both: tuple[Parkable, Parkable], name: str, *, number: int, report: Report
) -> tuple[Spread, Spread]:
    jobs = [await lane.park(WARM_UP + number) for lane in both]
    samples: tuple[list[float], list[float]] = ([], [])
    for pair in zip(*jobs, strict=True):
        for lane, job_id, taken in zip(both, pair, samples, strict=True):
            taken.append(await _resume_to_activity(lane, job_id))
    product, floor = (spread(taken[WARM_UP:]) for taken in samples)
    report(
        f"Resume to activity, {name}: {product.p50} ms (p95 {product.p95}), "
        f"floor {floor.p50} ms (p95 {floor.p95})"
    )
    return product, floor


async def _resume_to_activity(lane: Parkable, job_id: str) -> float:
    """Milliseconds; the clock is the machine's, so that two processes can share it."""
    sent = time.time_ns()
    return (await lane.finish(job_id) - sent) / 1e6
