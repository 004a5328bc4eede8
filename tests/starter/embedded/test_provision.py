"""Temporal is looked for in order, made by one process at a time, and an error names what was tried."""

import asyncio
import shutil
import stat
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from mnestic.memory.errors import ProvisioningError
from mnestic.starter.embedded.make_temporal import CLI_VERSION, Sources
from mnestic.starter.embedded.process_group import ProcessGroup
from mnestic.starter.embedded.provision import find_temporal

TINY_MAIN = """package main

import "fmt"

func main() { fmt.Println("temporal version 1.9.1") }
"""
FIND = """
import asyncio, sys
from pathlib import Path
from mnestic.starter.embedded.process_group import ProcessGroup
from mnestic.starter.embedded.make_temporal import Sources
from mnestic.starter.embedded.provision import find_temporal

async def main() -> None:
    cache, path, module = sys.argv[1:]
    sources = Sources(cache_dir=Path(cache), path=path, module_dir=Path(module), package=".")
    async with ProcessGroup(Path(cache) / f"guardian-{id(sources)}.log") as processes:
        print(await find_temporal(print, processes, sources=sources))

asyncio.run(main())
"""


@pytest.fixture
def module(tmp_path: Path) -> Path:
    """A Go module that builds in a second and says that it is Temporal."""
    folder = tmp_path / "module"
    folder.mkdir()
    (folder / "go.mod").write_text("module tiny\n\ngo 1.21\n", encoding="utf-8")
    (folder / "go.sum").write_text("", encoding="utf-8")
    (folder / "main.go").write_text(TINY_MAIN, encoding="utf-8")
    return folder


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A folder for PATH, with nothing in it yet."""
    folder = tmp_path / "bin"
    folder.mkdir()
    return folder


@pytest.fixture
def sources(tmp_path: Path, module: Path, path: Path) -> Sources:
    return Sources(cache_dir=tmp_path / "cache", path=str(path), module_dir=module, package=".")


@pytest.fixture(autouse=True)
def unreachable(monkeypatch: pytest.MonkeyPatch) -> None:
    """The SDK's download goes through a proxy that refuses, so that it fails alike everywhere."""
    monkeypatch.setenv("HTTPS_PROXY", "http://127.0.0.1:9")


def place_temporal(folder: Path, says: str) -> Path:
    script = folder / "temporal"
    script.write_text(f"#!/bin/sh\necho '{says}'\n", encoding="utf-8")
    script.chmod(stat.S_IRWXU)
    return script


def place_go(folder: Path) -> None:
    go = shutil.which("go")
    if go is None:
        pytest.skip("this machine has no Go toolchain")
    (folder / "go").symlink_to(go)


async def test_a_new_temporal_on_path_is_taken(
    processes: ProcessGroup, path: Path, sources: Sources
) -> None:
    script = place_temporal(path, "temporal version 1.10.0 (Server 1.32.0, UI 2.54.1)")
    lines: list[str] = []

    found = await find_temporal(lines.append, processes, sources=sources)

    assert found == script
    assert lines == [f"Temporal 1.10.0 found: {script}"]


async def test_an_old_temporal_on_path_is_passed_over_for_the_cache(
    processes: ProcessGroup, path: Path, sources: Sources
) -> None:
    place_temporal(path, "temporal version 1.4.1 (Server 1.28.0, UI 2.39.0)")
    sources.cached.parent.mkdir(parents=True)
    cached = place_temporal(sources.cached.parent, "temporal version 1.9.1")
    lines: list[str] = []

    found = await find_temporal(lines.append, processes, sources=sources)

    assert found == cached
    assert "is version 1.4.1; 1.9.0 or newer is needed" in lines[0]
    assert lines[1] == f"Temporal {CLI_VERSION} found: {cached}"


async def test_when_every_way_fails_one_error_names_them_all(
    processes: ProcessGroup, path: Path, sources: Sources
) -> None:
    place_temporal(path, "gibberish")
    place_go(path)
    (sources.module_dir / "main.go").write_text("package main\n\nnonsense\n", encoding="utf-8")

    with pytest.raises(ProvisioningError) as caught:
        await find_temporal(lambda _: None, processes, sources=sources)

    message = str(caught.value)
    assert f"{path}/temporal (of unknown version" in message
    assert "the SDK's download (Failed starting Temporal dev server" in message
    assert "a build with Go (exit code 1: ./main.go:3:1: syntax error" in message
    assert "set TEMPORAL_ADDRESS" in message
    assert not sources.cached.exists()


async def test_a_cache_that_cannot_be_written_is_named(
    processes: ProcessGroup, tmp_path: Path, sources: Sources
) -> None:
    (tmp_path / "cache").write_text("a file in the way", encoding="utf-8")

    with pytest.raises(ProvisioningError, match=r"the cache .* \(Not a directory\)"):
        await find_temporal(lambda _: None, processes, sources=sources)


@pytest.mark.acceptance
async def test_a_build_tells_how_far_it_is_and_stops_when_the_search_is_cancelled(
    processes: ProcessGroup, path: Path, sources: Sources
) -> None:
    endless = path / "go"
    packages = "printf 'go: downloading c\\na\\nb\\n'"
    endless.write_text(f"#!/bin/sh\n{packages}\nexec sleep 600\n", encoding="utf-8")
    endless.chmod(stat.S_IRWXU)
    building = asyncio.Event()

    def report(line: str) -> None:
        if line == "2 packages compiled":
            building.set()

    searched = replace(sources, reported_packages=2)
    search = asyncio.create_task(find_temporal(report, processes, sources=searched))
    await building.wait()
    (build,) = processes.marks
    search.cancel()

    with pytest.raises(asyncio.CancelledError):
        await search
    assert build.find() is None
    assert not list(sources.cached.parent.glob("draft-*"))


@pytest.mark.acceptance
async def test_two_processes_at_once_build_only_once(
    tmp_path: Path, path: Path, sources: Sources
) -> None:
    place_go(path)
    arguments = (str(sources.cache_dir), str(path), str(sources.module_dir))
    command = (sys.executable, "-c", FIND, *arguments)

    runs = [
        await asyncio.create_subprocess_exec(*command, stdout=asyncio.subprocess.PIPE, cwd=tmp_path)
        for _ in range(2)
    ]
    outputs = [(await run.communicate())[0].decode() for run in runs]

    assert [run.returncode for run in runs] == [0, 0]
    assert all(output.splitlines()[-1] == str(sources.cached) for output in outputs)
    assert sum("Building" in output for output in outputs) == 1
    assert sum("waiting for it" in output for output in outputs) == 1
