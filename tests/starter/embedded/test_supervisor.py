"""A part that ends by itself is started again, after a pause that grows, until it is given up."""

import asyncio
import sys
from collections.abc import Awaitable, Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import psutil
import pytest

from mnestic.memory.errors import InUseError, ProcessCrashedError
from mnestic.starter.embedded.process_group import ManagedProcess, ProcessGroup, ProcessSpec
from mnestic.starter.embedded.supervisor import RestartPolicy, Supervisor

STAY = (sys.executable, "-c", "import signal; signal.pause()")
GONE = (sys.executable, "-c", "raise SystemExit(7)")
SOON = timedelta(milliseconds=10)
LIMIT_S = 20.0
Start = Callable[..., Awaitable[ManagedProcess]]


@pytest.fixture
def start(processes: ProcessGroup, tmp_path: Path) -> Start:
    """Starts a process under the name of oven."""

    async def start(command: tuple[str, ...] = STAY) -> ManagedProcess:
        return await processes.start(
            ProcessSpec(name="oven", command=command, log=tmp_path / "oven.log")
        )

    return start


async def end(part: ManagedProcess) -> None:
    psutil.Process(part.mark.pid).kill()
    await part.wait()


async def until(ready: Callable[[], Any]) -> None:
    """Waits until the lines of the report are there."""
    async with asyncio.timeout(LIMIT_S):
        while not ready():  # noqa: ASYNC110 - the report tells
            await asyncio.sleep(0.01)


async def test_a_part_that_ends_each_time_is_given_up_by_name(start: Start) -> None:
    lines: list[str] = []
    policy = RestartPolicy(tries=3, first_pause=SOON)

    async with Supervisor(lines.append, policy) as supervisor:
        supervisor.supervise(await start(GONE), lambda: start(GONE))
        with pytest.raises(ProcessCrashedError) as caught:
            async with asyncio.timeout(LIMIT_S):
                await supervisor.wait()

    assert caught.value.part == "oven"
    assert "oven ended or did not start 4 times within 10 minutes" in str(caught.value)
    assert "the last time: oven ended by itself with exit code 7; its log is" in str(caught.value)
    assert [line.rpartition(" in ")[2] for line in lines if "starting it" in line] == [
        "0.01 s",
        "0.02 s",
        "0.04 s",
    ]


async def test_what_goes_wrong_in_the_start_itself_is_not_hidden(start: Start) -> None:
    async def fail() -> ManagedProcess:
        raise ZeroDivisionError

    async with Supervisor(lambda _: None, RestartPolicy(first_pause=SOON)) as supervisor:
        supervisor.supervise(part := await start(), fail)
        await end(part)
        with pytest.raises(ZeroDivisionError):
            async with asyncio.timeout(LIMIT_S):
                await supervisor.wait()


async def test_a_stop_does_not_wait_for_a_pause_to_end(start: Start) -> None:
    lines: list[str] = []
    async with asyncio.timeout(LIMIT_S):
        async with Supervisor(
            lines.append, RestartPolicy(first_pause=timedelta(hours=1))
        ) as supervisor:
            supervisor.supervise(part := await start(), start)
            waiting = asyncio.create_task(supervisor.wait())
            await end(part)
            await until(lambda: lines)
        await waiting

    assert len(lines) == 1


async def test_what_was_ended_on_purpose_stays_down_and_ends_long_past_do_not_count(
    processes: ProcessGroup, start: Start
) -> None:
    lines: list[str] = []
    policy = RestartPolicy(tries=1, within=timedelta(0), first_pause=SOON)
    async with Supervisor(lines.append, policy) as supervisor:
        stopped, killed, lost = [supervisor.supervise(await start(), start) for _ in range(3)]
        await stopped.part.stop()
        await killed.part.kill()
        for number in (1, 2):
            await end(lost.part)
            async with asyncio.timeout(LIMIT_S):
                await lost.until_up()
            await until(lambda: len(lines) == 2 * number)  # noqa: B023 - awaited here
        assert lines[-1] == f"oven runs again (pid {lost.part.mark.pid})"
        assert [mark.pid for mark in processes.marks] == [lost.part.mark.pid]
    assert all(line.endswith(" in 0.01 s") for line in lines[::2])


async def test_a_start_that_is_refused_counts_as_an_end(start: Start) -> None:
    refusals = [OSError("no space left"), InUseError(what="port 7", by="a test", remedy="none")]

    async def refuse() -> ManagedProcess:
        raise refusals.pop(0)

    async with Supervisor(lambda _: None, RestartPolicy(tries=2, first_pause=SOON)) as supervisor:
        supervisor.supervise(part := await start(), refuse)
        await end(part)
        with pytest.raises(ProcessCrashedError, match=r"oven .* the last time: port 7 is in use"):
            async with asyncio.timeout(LIMIT_S):
                await supervisor.wait()
