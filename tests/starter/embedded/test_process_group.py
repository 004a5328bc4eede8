"""Parts are stopped in order, and their end is told by name."""

import asyncio
import sys
from pathlib import Path

import psutil
import pytest

from mnestic.memory.errors import ProcessCrashedError
from mnestic.starter.embedded.process_group import ProcessGroup, ProcessSpec

STAY = (sys.executable, "-c", "import signal; signal.pause()")


def spec(
    name: str, folder: Path, *, order: int = 0, command: tuple[str, ...] = STAY
) -> ProcessSpec:
    return ProcessSpec(name=name, command=command, log=folder / f"{name}.log", stop_order=order)


async def test_parts_are_stopped_in_their_order(tmp_path: Path) -> None:
    ends: list[tuple[str, ...]] = []
    processes = ProcessGroup(
        tmp_path / "guardian.log", lambda: ends.append(tuple(mark.name for mark in processes.marks))
    )
    async with processes:
        await processes.start(spec("last", tmp_path, order=2))
        await processes.start(spec("first", tmp_path, order=1))

    assert ends == [("last",), ("last", "first"), ("last",), ()]


async def test_a_start_that_is_given_up_leaves_no_part(tmp_path: Path) -> None:
    began = asyncio.Event()

    async def wait_for_ever(processes: ProcessGroup) -> None:
        async with processes.starting(spec("slow", tmp_path)):
            began.set()
            await asyncio.Event().wait()

    async with ProcessGroup(tmp_path / "guardian.log") as processes:
        starting = asyncio.create_task(wait_for_ever(processes))
        await began.wait()
        starting.cancel()
        await asyncio.wait({starting})

        assert processes.marks == ()


async def test_a_program_that_does_not_exist_is_reported_with_its_log(tmp_path: Path) -> None:
    async with ProcessGroup(tmp_path / "guardian.log") as processes:
        with pytest.raises(ProcessCrashedError, match="ghost"):
            await processes.start(spec("ghost", tmp_path, command=("/nonexistent/ghost",)))

    assert "No such file" in (tmp_path / "ghost.log").read_text(encoding="utf-8")


async def test_parts_may_be_started_while_there_is_no_guardian(tmp_path: Path) -> None:
    async with ProcessGroup(tmp_path / "guardian.log") as processes:
        psutil.Process(processes.guardian.mark.pid).kill()
        await processes.guardian.wait()

        await processes.start(spec("early", tmp_path))
        await processes.start_guardian()
        await processes.start(spec("late", tmp_path))

        assert [mark.name for mark in processes.marks] == ["early", "late"]


async def test_a_large_log_is_set_aside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mnestic.starter.embedded.process_group.MAX_LOG_BYTES", 3)
    (tmp_path / "oven.log").write_text("full", encoding="utf-8")

    async with ProcessGroup(tmp_path / "guardian.log") as processes:
        await processes.start(spec("oven", tmp_path))

    assert (tmp_path / "oven.old.log").read_text(encoding="utf-8") == "full"
    assert (tmp_path / "oven.log").read_text(encoding="utf-8") == ""
