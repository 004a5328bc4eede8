"""Parts are stopped in order, and their end is told by name."""

import sys
from pathlib import Path

import psutil
import pytest

from mnestic.memory.errors import PartCrashedError
from mnestic.starter.embedded.crew import Crew, PartSpec

IDLE = (sys.executable, "-c", "input()")  # has no input, so it ends at once
STAY = (sys.executable, "-c", "import signal; signal.pause()")


def spec(name: str, folder: Path, *, order: int = 0, command: tuple[str, ...] = STAY) -> PartSpec:
    return PartSpec(name=name, command=command, log=folder / f"{name}.log", stop_order=order)


async def test_parts_are_stopped_in_their_order(tmp_path: Path) -> None:
    ends: list[tuple[str, ...]] = []
    crew = Crew(
        tmp_path / "guardian.log", lambda: ends.append(tuple(mark.name for mark in crew.marks))
    )
    async with crew:
        await crew.start(spec("last", tmp_path, order=2))
        await crew.start(spec("first", tmp_path, order=1))

    assert ends == [("last",), ("last", "first"), ("last",), ()]


async def test_a_required_part_that_ends_is_reported_by_name(tmp_path: Path) -> None:
    async with Crew(tmp_path / "guardian.log") as crew:
        part = await crew.start(spec("oven", tmp_path))
        part.require()

        psutil.Process(part.mark.pid).kill()

        with pytest.raises(
            PartCrashedError, match=r"oven ended by itself with exit code -9.*oven\.log"
        ):
            await crew.wait()


async def test_a_part_that_was_stopped_or_killed_is_no_crash(tmp_path: Path) -> None:
    async with Crew(tmp_path / "guardian.log") as crew:
        for end in ("stop", "kill"):
            part = await crew.start(spec(end, tmp_path))
            part.require()
            await getattr(part, end)()

    await crew.wait()


async def test_a_part_that_has_ended_already_cannot_be_required(tmp_path: Path) -> None:
    async with Crew(tmp_path / "guardian.log") as crew:
        part = await crew.start(spec("brief", tmp_path, command=IDLE))
        await part.wait()

        with pytest.raises(PartCrashedError, match="brief ended by itself with exit code 1"):
            part.require()


async def test_a_program_that_does_not_exist_is_reported_with_its_log(tmp_path: Path) -> None:
    async with Crew(tmp_path / "guardian.log") as crew:
        with pytest.raises(PartCrashedError, match="ghost"):
            await crew.start(spec("ghost", tmp_path, command=("/nonexistent/ghost",)))

    assert "No such file" in (tmp_path / "ghost.log").read_text(encoding="utf-8")


async def test_a_guardian_that_ends_is_reported(tmp_path: Path) -> None:
    async with Crew(tmp_path / "guardian.log") as crew:
        assert crew._guardian is not None
        psutil.Process(crew._guardian.mark.pid).kill()

        with pytest.raises(PartCrashedError, match="guardian"):
            await crew.wait()


async def test_a_large_log_is_set_aside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mnestic.starter.embedded.crew.MAX_LOG_BYTES", 3)
    (tmp_path / "oven.log").write_text("full", encoding="utf-8")

    async with Crew(tmp_path / "guardian.log") as crew:
        await crew.start(spec("oven", tmp_path))

    assert (tmp_path / "oven.old.log").read_text(encoding="utf-8") == "full"
    assert (tmp_path / "oven.log").read_text(encoding="utf-8") == ""
