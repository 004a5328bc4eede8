"""The import package: what a user imports from it, what it loads, and a checkout without links."""

import subprocess
import sys
from pathlib import Path

import pytest
from mypy import api

import mnestic
from mnestic.starter.client.memory_connection import MemoryConnection
from mnestic.starter.client.mnestic_client import MnesticClient
from mnestic.workflows.jobs.agent_memory import AgentMemory

PACKAGE = Path(__file__).parents[2] / "mnestic" / "__init__.py"


def loaded(statement: str) -> set[str]:
    """The modules that a statement loads in a new process."""
    code = (
        "import sys; before = set(sys.modules)\n"
        f"{statement}\n"
        "print(*sorted(set(sys.modules) - before))"
    )
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    return set(done.stdout.split())


def test_the_package_has_the_classes_that_a_user_begins_with() -> None:
    assert mnestic.MnesticClient is MnesticClient
    assert mnestic.MemoryConnection is MemoryConnection
    assert mnestic.AgentMemory is AgentMemory
    assert sorted(mnestic.__all__) == ["AgentMemory", "MemoryConnection", "MnesticClient"]


def test_the_package_alone_loads_nothing() -> None:
    assert loaded("import mnestic") == {"mnestic"}


def test_a_connection_to_memory_loads_no_temporal() -> None:
    found = loaded("from mnestic import MemoryConnection")

    assert "mnestic.starter.client.memory_connection" in found
    assert {name.partition(".")[0] for name in found} & {"temporalio", "openai"} == set()
    assert "mnestic.starter.client.mnestic_client" not in found


def test_a_name_that_the_package_does_not_have_is_named() -> None:
    with pytest.raises(AttributeError, match="module 'mnestic' has no attribute 'MnesticCleint'"):
        getattr(mnestic, "MnesticCleint")  # noqa: B009 - type checkers refuse the other way


@pytest.mark.acceptance
def test_a_type_checker_knows_the_classes_and_no_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    snippet = tmp_path / "snippet.py"
    snippet.write_text(
        "from mnestic import MnesticCleint, MnesticClient\n\n"
        "async def use(client: MnesticClient) -> None:\n"
        "    await client.memory('ada').retrieve('Tea?', limt=3)\n",
        encoding="utf-8",
    )
    monkeypatch.chdir(PACKAGE.parents[1])

    told, problems, _ = api.run([str(snippet)])  # as `make check` does, whose cache serves here

    assert problems == ""
    errors = [line for line in told.splitlines() if "snippet.py" in line and ": error:" in line]
    assert len(errors) == 2, told
    assert "MnesticCleint" in errors[0]
    assert "limt" in errors[1]


def test_a_checkout_without_links_says_what_to_do(tmp_path: Path) -> None:
    origin, checkout = tmp_path / "origin", tmp_path / "checkout"
    (origin / "memory").mkdir(parents=True)
    (origin / "memory" / "__init__.py").write_text("", encoding="utf-8")
    (origin / "mnestic").mkdir()
    (origin / "mnestic" / "__init__.py").write_bytes(PACKAGE.read_bytes())
    (origin / "mnestic" / "memory").symlink_to("../memory")
    run(origin, "git init -q && git add -A && git -c user.name=a -c user.email=a@b.c commit -qm a")
    run(tmp_path, f"git clone -q -c core.symlinks=false {origin} {checkout}")

    failed = run(checkout, f"{sys.executable} -c 'import mnestic.memory.errors'", code=1)
    run(checkout, failed.rpartition("then run: ")[2])
    run(checkout, f"{sys.executable} -c 'import mnestic.memory'")

    error = failed.strip().splitlines()[-1]
    assert error.startswith("ImportError: this checkout has no symbolic links")
    assert (checkout / "mnestic" / "memory").is_symlink()


def run(folder: Path, command: str, *, code: int = 0) -> str:
    """What a command of a shell says on standard error."""
    done = subprocess.run(
        command, check=False, shell=True, cwd=folder, capture_output=True, text=True
    )
    assert done.returncode == code, done.stderr
    return done.stderr
