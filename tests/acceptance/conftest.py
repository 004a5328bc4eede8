"""The servers and processes that the acceptance tests start, and the clients that they use."""

from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from mnestic.starter.client.mnestic_client import MnesticClient
from mnestic.starter.settings import Settings
from tests.acceptance.knowledge import admin_url
from tests.acceptance.processes import MNESTIC, Processes, Running, Up
from tests.acceptance.senders import Senders

ROOT = Path(__file__).parents[2]
LONGEST = (
    *("test_crashes", "test_outages", "test_worlds", "test_worker_crashes"),
    *("test_forget_crashes", "test_up", "test_ingest_crashes", "test_pages"),
)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begins with the modules that take longest, so that none of them is left for the end."""
    items.sort(
        key=lambda item: (
            LONGEST.index(item.path.stem) if item.path.stem in LONGEST else len(LONGEST)
        )
    )


@pytest.fixture(scope="module")
def processes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Processes]:
    """Processes of one module; none outlives it."""
    processes = Processes(tmp_path_factory.mktemp("processes"))
    yield processes
    processes.end()


@pytest.fixture(scope="module")
def mnestic() -> str:
    """The command that this environment has."""
    return MNESTIC


def environment_of(settings: Settings) -> dict[str, str]:
    assert settings.database_url is not None
    return {
        "MNESTIC_DATABASE_URL": settings.database_url.get_secret_value(),
        "TEMPORAL_ADDRESS": str(settings.temporal_address),
        "MNESTIC_TENANT_ID": settings.tenant_id,
        "MNESTIC_TASK_QUEUE": settings.task_queue,
    }


@pytest.fixture
def environment(settings: Settings) -> dict[str, str]:
    """Where a process finds the servers, and that it serves this test's tenant."""
    return environment_of(settings) | {"MNESTIC_DATA_DIR": str(settings.data_dir)}


@pytest.fixture(scope="module")
def root() -> Path:
    """The repository."""
    return ROOT


@pytest.fixture(scope="module")
def start_up(processes: Processes, mnestic: str) -> Iterator[Callable[..., Up]]:
    """Starts `mnestic up --json` on a data directory and waits until it is ready."""
    started: list[Running] = []

    def start(
        data: Path, *options: str, program: str = mnestic, env: Mapping[str, str] | None = None
    ) -> Up:
        words = (program, "up", "--json", "--data", str(data), *options)
        started.append(running := processes.start(*words, env=env))
        running.until(lambda: running.out.endswith("\n"), what="ready")
        return Up(processes, running, data, program)

    yield start
    for running in started:
        if running.process.poll() is None:
            running.stop()


@pytest.fixture(scope="module")
def plan() -> Path:
    """A plan that remembers a name, waits three weeks for a word, and says both."""
    return Path(__file__).with_name("greeting.yaml")


@pytest.fixture(scope="module")
def senders() -> Callable[[Settings], Any]:
    """Two clients, connected for as long as a block."""

    @asynccontextmanager
    async def connect(settings: Settings) -> AsyncIterator[Senders]:
        async with (
            await MnesticClient.connect(settings) as one,
            await MnesticClient.connect(settings) as other,
        ):
            yield Senders(one, other)

    return connect


@pytest.fixture(scope="module")
def start_worker(processes: Processes, root: Path) -> Callable[..., Running]:
    """Starts the product's worker, or one that kills itself at a point."""

    def start(settings: Settings, *point: str) -> Running:
        env = environment_of(settings) | {
            "MNESTIC_DATABASE_ADMIN_URL": admin_url(settings),
            "MNESTIC_WORKER_TENANTS": ",".join(settings.worker_tenants or ()),
        }
        program = Path(__file__).with_name("crashing_worker.py") if point else root / "worker.py"
        return processes.fork(program, *point, env=env)

    return start
