"""Processor time of the processes that take part in a job, as the system counts it.

Unlike a rate it hardly depends on what else the machine does.
"""

from collections.abc import Iterable

import psutil
from pydantic import BaseModel, ConfigDict

from mnestic.starter.embedded.state import RuntimeState


class CpuTime(BaseModel):
    """Milliseconds of the processor: of the worker, of both servers, and of who starts and resumes."""

    model_config = ConfigDict(frozen=True)

    worker: float
    temporal: float
    postgres: float
    client: float


def cpu_time(state: RuntimeState, *, worker_pid: int) -> CpuTime:
    """The CPU time of each process since its start; the client is this process."""
    pids = {mark.name: mark.pid for mark in state.parts}
    return CpuTime(
        worker=_used(worker_pid),
        temporal=_used(pids["Temporal"]),
        postgres=_used(pids["Postgres"]),
        client=_used(psutil.Process().pid, with_children=False),
    )


def each(before: CpuTime, after: CpuTime, *, of: int) -> CpuTime:
    """The CPU time between two readings, for each of a number of operations."""
    parts = {name: (getattr(after, name) - began) / of for name, began in before}
    return CpuTime(**parts)


def mean(times: Iterable[CpuTime]) -> CpuTime:
    """The mean, rounded to tenths."""
    found = list(times)
    names = CpuTime.model_fields
    return CpuTime(
        **{name: round(sum(getattr(one, name) for one in found) / len(found), 1) for name in names}
    )


def _used(pid: int, *, with_children: bool = True) -> float:
    """Of a process, of those that it has begun, and of those of them that have ended."""
    process = psutil.Process(pid)
    family = [process, *(process.children(recursive=True) if with_children else ())]
    used = 0.0
    for one in family:
        times = one.cpu_times()
        used += times.user + times.system
        if with_children:
            used += times.children_user + times.children_system
    return used * 1000
