"""The wheel alone: installed beside a user's own `workflows`, it is all that the command needs."""

import sys
import tarfile
import zipfile
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.acceptance

UV = str(Path(sys.executable).with_name("uv"))
MINE = """\
from mnestic import AgentMemory, MemoryConnection, MnesticClient
import workflows
print(workflows.__file__, AgentMemory.__module__, MemoryConnection.__name__, MnesticClient.__name__)
"""


def build(processes: Any, what: str, source: Path, to: Path) -> Path:
    """Builds without a download; returns what was made."""
    python = ("--python", sys.executable)
    done = processes.run(
        UV, "build", what, "--no-build-isolation", "--offline", *python, "--out-dir", to, source
    )
    assert done.code == 0, done.err
    return next(path for path in to.iterdir() if path.suffix in {".whl", ".gz"})


def names(wheel: Path) -> set[str]:
    with zipfile.ZipFile(wheel) as archive:
        return set(archive.namelist())


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("wheel")


@pytest.fixture(scope="module")
def wheel(processes: Any, root: Path, folder: Path) -> Path:
    return build(processes, "--wheel", root, folder / "dist")


@pytest.fixture(scope="module")
def installed(processes: Any, root: Path, folder: Path, wheel: Path) -> Path:
    """The programs of a fresh environment that holds the wheel and what it depends on."""
    programs = folder / "environment" / "bin"
    lock, python = root / "requirements.lock", programs / "python"
    into = (UV, "pip", "install", "--quiet", "--python", python)
    for command in (
        (UV, "venv", "--quiet", "--python", sys.executable, folder / "environment"),
        (*into, "--require-hashes", "-r", lock),
        (*into, "--no-deps", wheel),
    ):
        done = processes.run(*command, limit_s=300)
        assert done.code == 0, done.err
    return programs


def test_the_wheel_holds_every_file_of_the_rooms_and_nothing_else(wheel: Path, root: Path) -> None:
    rooms = ("memory", "stores", "activities", "workflows", "starter")
    found = names(wheel)

    files = {
        f"mnestic/{path.relative_to(root)}"
        for room in rooms
        for path in (root / room).rglob("*")
        if path.is_file() and path.suffix != ".pyc"
    }

    assert {*files, "mnestic/py.typed", "mnestic/worker.py"} <= found
    assert {Path(name).suffix for name in files} >= {
        ".yaml",
        ".html",
        ".js",
        ".css",
        ".mod",
        ".sql",
    }
    assert {name.split("/")[0] for name in found if ".dist-info/" not in name} == {"mnestic"}


def test_a_wheel_made_from_the_source_archive_is_the_same(
    processes: Any, root: Path, folder: Path, wheel: Path
) -> None:
    archive = build(processes, "--sdist", root, folder / "sdist")
    with tarfile.open(archive) as source:
        source.extractall(folder / "source", filter="data")
    (unpacked,) = (folder / "source").iterdir()

    second = build(processes, "--wheel", unpacked, folder / "again")

    assert names(second) == names(wheel)


def test_the_installed_command_runs_beside_a_users_own_packages_and_is_well(
    start_up: Any, processes: Any, installed: Path, tmp_path: Path
) -> None:
    """A user's own project, whose folders and files have the names of ours and of the library's."""
    project = tmp_path / "project"
    for room in ("workflows", "activities", "memory"):
        (project / room).mkdir(parents=True)
        (project / room / "__init__.py").write_text("", encoding="utf-8")
    (project / "mine.py").write_text(MINE, encoding="utf-8")
    mine = processes.run(installed / "python", "mine.py", cwd=project)
    (project / "queue.py").write_text("raise ImportError('of the user')\n", encoding="utf-8")
    version = processes.run(installed / "mnestic", "--version", cwd=project)

    up = start_up(tmp_path / "data", program=str(installed / "mnestic"))
    doctor = up.asked("doctor")
    stopped = up.running.stop()

    assert version.out.strip() == "0.3.0"
    theirs, ours, *clients = mine.out.split()
    assert Path(theirs) == project / "workflows" / "__init__.py"
    assert ours == "mnestic.workflows.jobs.agent_memory"
    assert clients == ["MemoryConnection", "MnesticClient"]
    assert doctor["ok"], doctor
    assert stopped.code == 0
    assert up.left() == []
