"""Real Postgres and Temporal, started once per test run; a database per process, a tenant per test."""

import asyncio
import os
import shutil
import tempfile
import threading
import uuid
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path

import psycopg
import pytest
from pydantic import SecretStr

from mnestic.activities.clients.local import LocalChatModel, LocalSummariser
from mnestic.starter.client import MnesticClient
from mnestic.starter.embedded.runtime import EmbeddedRuntime
from mnestic.starter.embedded.state import RuntimeState, read_state
from mnestic.starter.settings import Settings
from mnestic.stores.postgres.memory import PostgresMemory
from mnestic.stores.postgres.schema import migrate
from mnestic.worker import activities_of, make_worker

_DATA = "MNESTIC_TEST_DATA"


class _Servers:
    """An embedded runtime without a worker, in a thread of its own."""

    def __init__(self, data_dir: Path) -> None:
        self._settings = Settings(data_dir=data_dir)
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="servers", daemon=True)
        self._runtime = EmbeddedRuntime(
            self._settings, report=lambda _: None, migrate=migrate, start_worker=False
        )

    def start(self) -> None:
        self._thread.start()
        asyncio.run_coroutine_threadsafe(self._runtime.__aenter__(), self._loop).result(600)

    def stop(self) -> None:
        asyncio.run_coroutine_threadsafe(self._runtime.stop(), self._loop).result(60)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(10)
        self._loop.close()


def pytest_configure(config: pytest.Config) -> None:
    if hasattr(config, "workerinput") or config.option.collectonly:
        return
    for name in [name for name in os.environ if name.startswith(("MNESTIC_", "TEMPORAL_"))]:
        del os.environ[name]
    data_dir = Path(tempfile.mkdtemp(prefix="mnestic-tests-"))
    os.environ[_DATA] = str(data_dir)
    config.stash[_servers] = servers = _Servers(data_dir)
    servers.start()


def pytest_unconfigure(config: pytest.Config) -> None:
    servers = config.stash.get(_servers, None)
    if servers is not None:
        servers.stop()
        shutil.rmtree(os.environ.pop(_DATA))


_servers = pytest.StashKey[_Servers]()


@pytest.fixture(scope="session")
def servers() -> RuntimeState:
    """Where the servers of this test run answer."""
    state = read_state(Path(os.environ[_DATA]))
    assert state is not None
    return state


@pytest.fixture(scope="session")
def admin_url(servers: RuntimeState) -> Iterator[str]:
    """The owner's address of a migrated database that only this process uses."""
    assert servers.database_admin_url is not None
    name = f"test_{uuid.uuid4().hex[:12]}"
    with psycopg.connect(servers.database_admin_url, autocommit=True) as connection:
        connection.execute(f'CREATE DATABASE "{name}"')
    url = servers.database_admin_url.replace("/mnestic?", f"/{name}?")
    migrate(url)
    yield url
    with psycopg.connect(servers.database_admin_url, autocommit=True) as connection:
        connection.execute(f'DROP DATABASE "{name}" WITH (FORCE)')


@pytest.fixture(scope="session")
def new_settings(servers: RuntimeState, admin_url: str) -> Callable[[Path], Settings]:
    """Makes settings, on a data directory, of a tenant and a task queue that nobody else uses."""

    def make(data_dir: Path) -> Settings:
        name = f"t-{uuid.uuid4().hex[:12]}"
        return Settings(
            data_dir=data_dir,
            tenant_id=name,
            task_queue=name,
            database_url=SecretStr(admin_url.replace("postgres@", "mnestic_app@")),
            database_admin_url=SecretStr(admin_url),
            temporal_address=servers.temporal_address,
            temporal_ui_url=servers.temporal_ui,
        )

    return make


@pytest.fixture
def settings(new_settings: Callable[[Path], Settings], tmp_path: Path) -> Settings:
    """Settings of a tenant and a task queue that only this test uses."""
    return new_settings(tmp_path / "data")


@pytest.fixture
async def memory(settings: Settings) -> AsyncIterator[PostgresMemory]:
    """Memory in Postgres, connected as the application."""
    assert settings.database_url is not None
    memory = PostgresMemory(settings.database_url.get_secret_value(), pool_size=5)
    yield memory
    await memory.close()


@pytest.fixture
async def client(settings: Settings) -> AsyncIterator[MnesticClient]:
    """A client of this test's tenant."""
    async with await MnesticClient.connect(settings) as client:
        yield client


@pytest.fixture
def run_worker(
    client: MnesticClient, memory: PostgresMemory, settings: Settings
) -> Callable[[], AbstractAsyncContextManager[None]]:
    """Runs a worker with the local provider on this test's task queue, for as long as a block."""

    @asynccontextmanager
    async def run() -> AsyncIterator[None]:
        activities = activities_of(memory, model=LocalChatModel(), summariser=LocalSummariser())
        async with make_worker(client.temporal, settings, activities=activities):
            yield

    return run


@pytest.fixture
async def worker(
    run_worker: Callable[[], AbstractAsyncContextManager[None]],
) -> AsyncIterator[None]:
    """A worker that runs for the whole test."""
    async with run_worker():
        yield
