"""The command line in this process: what a command prints, its exit code, and what it leaves behind."""

import asyncio
import json
import logging
import os
import socket
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from mnestic.memory.ports import Memory
from mnestic.starter.cli.app import run_command_line
from mnestic.starter.client.mnestic_client import MnesticClient
from mnestic.starter.maintenance_wiring import maintenance_activities, make_maintenance_worker
from mnestic.starter.settings import Settings
from tests.job_states import until_state
from tests.transactions import Execute

OURS = ("MNESTIC_", "TEMPORAL_", "OPENAI_", "OTEL_")
TABLES = (
    "entry",
    "fact",
    "setting",
    "working_memory",
    "long_term_record",
    "episode",
    "memory_snapshot",
    "job_wait",
    "job_read",
    "operation",
    "audit_log",
    "agent_revision",
    "llm_usage",
)
PLAN = Path(__file__).with_name("greeting.yaml").read_text("utf-8")


@dataclass(frozen=True)
class Done:
    """A command that is over."""

    code: int
    out: str
    err: str

    @property
    def document(self) -> Any:
        """Standard output, which is one JSON document and nothing else."""
        assert self.code == 0, self.err
        return json.loads(self.out)

    def error(self, *, code: int) -> str:
        """The one line that says what is wrong, and no more than that."""
        assert self.code == code, self.err
        assert self.out == ""
        assert self.err.startswith("error: ")
        assert self.err.count("\n") == 1
        assert "Traceback" not in self.err
        return self.err.strip()


Cli = Callable[..., Done]
Ask = Callable[..., Awaitable[Done]]


@pytest.fixture
def cli(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Cli:
    """Runs a command without settings of whoever runs the tests, in a folder without a `.env`."""
    for name in [name for name in os.environ if name.startswith(OURS)]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("MNESTIC_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.chdir(tmp_path)

    def run(*words: str) -> Done:
        monkeypatch.setattr(sys, "argv", ["mnestic", *words])
        capsys.readouterr()
        with _logs_put_back():
            code = run_command_line()
        out, err = capsys.readouterr()
        return Done(code=code, out=out, err=err)

    return run


@contextmanager
def _logs_put_back() -> Iterator[None]:
    """A command may send all logs to its own standard error, which is closed when its test is over."""
    root, ours = logging.getLogger(), logging.getLogger("mnestic")
    handlers, level, our_level = [*root.handlers], root.level, ours.level
    try:
        yield
    finally:
        root.handlers[:] = handlers
        root.setLevel(level)
        ours.setLevel(our_level)


def variables_of(settings: Settings) -> dict[str, str]:
    """The variables by which a command works on the servers of a test run, as a tenant."""
    assert settings.database_url is not None
    assert settings.database_admin_url is not None
    return {
        "MNESTIC_DATABASE_URL": settings.database_url.get_secret_value(),
        "MNESTIC_DATABASE_ADMIN_URL": settings.database_admin_url.get_secret_value(),
        "MNESTIC_TEMPORAL_UI_URL": str(settings.temporal_ui_url),
        "MNESTIC_TENANT_ID": settings.tenant_id,
        "MNESTIC_TASK_QUEUE": settings.task_queue,
        "TEMPORAL_ADDRESS": str(settings.temporal_address),
    }


@pytest.fixture
def wired(cli: Cli, settings: Settings, monkeypatch: pytest.MonkeyPatch) -> Cli:
    """Runs a command on this test run's servers, as this test's tenant."""
    for name, value in variables_of(settings).items():
        monkeypatch.setenv(name, value)
    return cli


@pytest.fixture
def ask(wired: Cli) -> Ask:
    """Runs a command beside this test, whose worker answers it."""

    async def run(*words: str) -> Done:
        return await asyncio.to_thread(wired, *words)

    return run


@pytest.fixture
def plan(tmp_path: Path) -> Path:
    """A plan that remembers a name, waits for a word, and says both."""
    path = tmp_path / "greeting.yaml"
    path.write_text(PLAN, encoding="utf-8")
    return path


@pytest.fixture
def start(plan: Path) -> tuple[str, ...]:
    """The command that starts the plan."""
    who = ("--agent", "ada", "--session", "s1")
    return ("job", "start", str(plan), *who, "--input", "name=Mara")


@pytest.fixture
async def waiting(
    client: MnesticClient,
    worker: None,  # noqa: ARG001 - it runs the job
    ask: Ask,
    start: tuple[str, ...],
) -> str:
    """A job that waits."""
    job_id: str = (await ask(*start, "--json")).document["job_id"]
    await until_state(client, job_id)
    return job_id


@pytest.fixture
def rows(execute: Execute) -> Callable[[], dict[str, int]]:
    """How many rows this test's tenant has in each table, as the owner sees them."""
    count = "SELECT count(*) FROM mnestic.{} WHERE tenant_id = %s"
    return lambda: {table: execute(count.format(table))[0][0] for table in TABLES}


@pytest.fixture
def closed_port() -> int:
    """A port at which nobody listens."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        found: int = server.getsockname()[1]
    return found


@pytest.fixture
def taken_port() -> Iterator[int]:
    """A port that this test has."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server.getsockname()[1]


@pytest.fixture
async def maintenance_worker(
    client: MnesticClient, memory: Memory, settings: Settings, admin_url: str
) -> AsyncIterator[None]:
    """A worker of maintenance."""
    activities = maintenance_activities(memory, admin_url=admin_url)
    async with make_maintenance_worker(client.temporal, settings, activities=activities):
        yield
