"""Real Postgres and Temporal, started once per test run; a database per process, a tenant per test."""

import asyncio
import gc
import os
import re
import shutil
import signal
import tempfile
import threading
import uuid
from collections.abc import AsyncIterator, Callable, Generator, Iterator
from contextlib import (
    AbstractAsyncContextManager,
    AbstractContextManager,
    ExitStack,
    asynccontextmanager,
    contextmanager,
)
from pathlib import Path
from typing import Any

import hypothesis
import psycopg
import pytest
from pydantic import SecretStr

from mnestic.activities.clients.local import LocalChatModel, LocalSummariser
from mnestic.activities.clients.token_vectors import TokenVectorEmbedder
from mnestic.memory.ports import Transaction
from mnestic.starter.client.mnestic_client import MnesticClient
from mnestic.starter.embedded.runtime import EmbeddedRuntime
from mnestic.starter.embedded.state import RuntimeState, read_state
from mnestic.starter.memory_wiring import writing_embedder
from mnestic.starter.settings import Settings
from mnestic.starter.suppression_secret import SuppressionSecret
from mnestic.starter.wiring import connect_temporal, find_endpoints
from mnestic.stores.postgres.memory import PostgresMemory
from mnestic.stores.postgres.pool import Pool
from mnestic.stores.postgres.schema import migrate
from mnestic.worker import activities_of, make_worker
from tests.chat_server import ChatServer, running_chat_server
from tests.pooler import find_pgbouncer, running_pooler, through
from tests.rates import TABLE
from tests.transactions import Begin, Execute

_DATA = "MNESTIC_TEST_DATA"
_POOLER = "MNESTIC_TEST_POOLER"  # if set, the application reaches Postgres through PgBouncer
_TEMPLATE = "migrated"  # a database to which nobody connects
_ROOM_BYTES = 4 * 2**30  # what the servers of a run may come to need
_SERVERS = "servers"  # the mark of tests that need them
_PURE = f"not {_SERVERS}"  # in the expression of marks of a run without servers
_POOL_SIZE = 4  # as many transactions as a test has open at the same time
# What a shell starts in the background ignores Ctrl-C, which some tests press.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
# Property tests try the same examples in each run, so that a run can be repeated, and new ones under the
# profile `new`; a failure prints what repeats it. How long an example takes is the machine's matter.
_SETTINGS = hypothesis.settings(database=None, deadline=None, print_blob=True)
hypothesis.settings.register_profile("same", _SETTINGS, derandomize=True)
hypothesis.settings.register_profile("new", _SETTINGS)
hypothesis.settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "same"))


def _prepare(admin_url: str) -> None:
    """Migrates once what each process's database is a copy of; nothing need outlast the machine here."""
    migrate(admin_url)
    with psycopg.connect(admin_url, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {_TEMPLATE} TEMPLATE mnestic")
        connection.execute("ALTER SYSTEM SET fsync = off")
        connection.execute("SELECT pg_reload_conf()")


class _Servers:
    """An embedded runtime without a worker, in a thread of its own."""

    def __init__(self, data_dir: Path) -> None:
        self._settings = Settings(data_dir=data_dir)
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="servers", daemon=True)
        self._runtime = EmbeddedRuntime(
            self._settings, report=lambda _: None, migrate=_prepare, start_worker=False
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
    """Starts the servers of a run of several processes, unless its marks leave out what needs them."""
    if hasattr(config, "workerinput"):
        return
    for name in [name for name in os.environ if name.startswith(("MNESTIC_", "TEMPORAL_"))]:
        if name != _POOLER:
            del os.environ[name]
    if config.getoption("dist", "no") != "no" and _PURE not in config.option.markexpr:
        _start_servers(config)


def pytest_collection_finish(session: pytest.Session) -> None:
    """Starts the servers of a run of one process, if a test needs them."""
    is_parallel = _DATA in os.environ or session.config.getoption("dist", "no") != "no"
    is_run = not is_parallel and not session.config.option.collectonly
    if is_run and any(item.get_closest_marker(_SERVERS) for item in session.items):
        _start_servers(session.config)


def _start_servers(config: pytest.Config) -> None:
    if (is_pooled := bool(os.environ.get(_POOLER))) and find_pgbouncer() is None:
        raise pytest.UsageError(f"{_POOLER} is set, and pgbouncer is not installed")
    data_dir = Path(tempfile.mkdtemp(prefix="mnestic-tests-", dir=_memory_folder()))
    os.environ[_DATA] = str(data_dir)
    config.stash[_servers] = servers = _Servers(data_dir)
    servers.start()
    config.stash[_pooler] = pooler = ExitStack()
    if is_pooled:
        state = read_state(data_dir)
        assert state is not None
        assert state.database_admin_url is not None
        folder = pooler.enter_context(running_pooler(state.database_admin_url, size=_POOL_SIZE))
        os.environ[_POOLER] = str(folder)


def _memory_folder() -> Path | None:
    """A folder in memory, if the system has one with room; servers sync each commit, and no test survives a crash."""
    folder = Path("/dev/shm")
    has_room = os.access(folder, os.W_OK) and shutil.disk_usage(folder).free > _ROOM_BYTES
    return folder if has_room else None


@pytest.hookimpl(tryfirst=True)  # before tests are chosen by their marks
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Marks the tests that need the servers of a run; `make unit` runs the others, which are short and come last."""
    for item in items:
        if isinstance(item, pytest.Function) and _SERVERS in item.fixturenames:
            item.add_marker(_SERVERS)
    items.sort(key=lambda item: item.get_closest_marker(_SERVERS) is None)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Prints the tables of rates that tests have made, in whichever process."""
    for outcome in ("passed", "failed"):
        for report in terminalreporter.getreports(outcome):
            for table in (value for name, value in report.user_properties if name == TABLE):
                terminalreporter.section(report.nodeid)
                terminalreporter.write_line(str(table))


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """What is imported and collected stays to the end: nothing of it is looked through for garbage."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


def pytest_unconfigure(config: pytest.Config) -> None:
    servers = config.stash.get(_servers, None)
    if servers is not None:
        config.stash[_pooler].close()
        servers.stop()
        shutil.rmtree(os.environ.pop(_DATA))


_servers = pytest.StashKey[_Servers]()
_pooler = pytest.StashKey[ExitStack]()


@pytest.fixture(scope="session")
def servers() -> RuntimeState:
    """Where the servers of this test run answer."""
    state = read_state(Path(os.environ[_DATA]))
    assert state is not None
    return state


@pytest.fixture(scope="session")
def new_database(servers: RuntimeState) -> Callable[..., AbstractContextManager[str]]:
    """Makes a migrated database, or a copy of one, that is there for a block; gives its owner's address."""
    admin_url = servers.database_admin_url
    assert admin_url is not None

    @contextmanager
    def make(*, of: str = _TEMPLATE) -> Iterator[str]:
        name = f"test_{uuid.uuid4().hex[:12]}"
        with psycopg.connect(admin_url, autocommit=True) as connection:
            connection.execute(f'CREATE DATABASE "{name}" TEMPLATE "{of}"')
        url = admin_url.replace("/mnestic?", f"/{name}?")
        migrate(url)  # a copy has no rights on the database itself
        yield url
        with psycopg.connect(admin_url, autocommit=True) as connection:
            connection.execute(f'DROP DATABASE "{name}" WITH (FORCE)')

    return make


@pytest.fixture(scope="session")
def admin_url(new_database: Callable[[], AbstractContextManager[str]]) -> Iterator[str]:
    """The owner's address of a migrated database that only this process uses."""
    with new_database() as url:
        yield url


@pytest.fixture
def own_url(new_database: Callable[[], AbstractContextManager[str]]) -> Iterator[str]:
    """The owner's address of a migrated database that only this test uses."""
    with new_database() as url:
        yield url


@pytest.fixture(scope="module")
def module_url(new_database: Callable[[], AbstractContextManager[str]]) -> Iterator[str]:
    """The owner's address of a migrated database that only this module's tests use."""
    with new_database() as url:
        yield url


@pytest.fixture
def empty_url(admin_url: str) -> Iterator[str]:
    """The owner's address of a database in which nothing is."""
    name = f"test_{uuid.uuid4().hex[:12]}"
    with psycopg.connect(admin_url, autocommit=True) as connection:
        connection.execute(f'CREATE DATABASE "{name}"')
        yield re.sub(r"/[^/?]+\?", f"/{name}?", admin_url, count=1)
        connection.execute(f'DROP DATABASE "{name}" WITH (FORCE)')


@pytest.fixture(scope="session")
def application_url(admin_url: str) -> str:
    """The application's address of that database."""
    url = admin_url.replace("postgres@", "mnestic_app@")
    folder = os.environ.get(_POOLER)
    return through(Path(folder), url) if folder else url


@pytest.fixture(scope="session")
def new_settings(
    servers: RuntimeState, admin_url: str, application_url: str
) -> Callable[[Path], Settings]:
    """Makes settings, on a data directory, of a tenant and a task queue that nobody else uses."""

    def make(data_dir: Path) -> Settings:
        name = f"t-{uuid.uuid4().hex[:12]}"
        return Settings(
            data_dir=data_dir,
            tenant_id=name,
            task_queue=name,
            worker_tenants=(name,),
            database_url=SecretStr(application_url),
            database_admin_url=SecretStr(admin_url),
            temporal_address=servers.temporal_address,
            temporal_ui_url=servers.temporal_ui,
        )

    return make


@pytest.fixture
def settings(new_settings: Callable[[Path], Settings], tmp_path: Path) -> Settings:
    """Settings of a tenant and a task queue that only this test uses."""
    return new_settings(tmp_path / "data")


@pytest.fixture(scope="session")
async def pool(application_url: str) -> AsyncIterator[Pool]:
    """The application's connections, which the tests of a process share: they have the statements prepared."""
    pool = Pool(application_url, size=20)
    yield pool
    await pool.close()


@pytest.fixture
async def memory(
    settings: Settings, application_url: str, pool: Pool
) -> AsyncIterator[PostgresMemory]:
    """Memory in Postgres, connected as the application."""
    memory = PostgresMemory(
        application_url,
        shared_pool=pool,
        embedder=TokenVectorEmbedder(),
        suppression_secrets=SuppressionSecret(settings),
    )
    yield memory
    await memory.close()


@pytest.fixture
def begin(memory: PostgresMemory, settings: Settings) -> Begin:
    """Begins a transaction; agent and tenant of this test unless another is asked for."""

    def begin(
        agent: str = "ada", *, tenant: str | None = None, write: bool = True
    ) -> AbstractAsyncContextManager[Transaction]:
        return memory.transaction(
            tenant_id=tenant or settings.tenant_id, agent_id=agent, actor="test", write=write
        )

    return begin


@pytest.fixture
def execute(admin_url: str, settings: Settings) -> Execute:
    """Runs a statement about this test's tenant as the owner of all tables; returns its rows."""

    def run(statement: str) -> list[Any]:
        with psycopg.connect(admin_url) as connection:
            done = connection.execute(statement.encode(), [settings.tenant_id])
            return done.fetchall() if done.description else []

    return run


@pytest.fixture
async def unembedded(application_url: str, pool: Pool) -> AsyncIterator[PostgresMemory]:
    """The same where a model is asked for vectors, so that entries get theirs later."""
    memory = PostgresMemory(application_url, shared_pool=pool)
    yield memory
    await memory.close()


@pytest.fixture
async def forgetful(application_url: str, pool: Pool) -> AsyncIterator[PostgresMemory]:
    """The memory of another process, which keeps nothing."""
    memory = PostgresMemory(application_url, shared_pool=pool, cache_bytes=0)
    yield memory
    await memory.close()


@pytest.fixture
async def client(
    settings: Settings, application_url: str, pool: Pool
) -> AsyncIterator[MnesticClient]:
    """A client of this test's tenant, with a cache of its own."""
    endpoints = find_endpoints(settings)
    memory = PostgresMemory(
        application_url,
        shared_pool=pool,
        embedder=writing_embedder(settings),
        suppression_secrets=endpoints.suppression_secret,
    )
    temporal = await connect_temporal(endpoints)
    async with MnesticClient(temporal, memory, settings=settings, endpoints=endpoints) as client:
        yield client


@pytest.fixture
def run_worker(
    client: MnesticClient, memory: PostgresMemory, settings: Settings
) -> Callable[..., AbstractAsyncContextManager[None]]:
    """Runs a worker with the local provider on this test's task queue, maybe by other settings, for as long as a block."""

    @asynccontextmanager
    async def run(**changes: str) -> AsyncIterator[None]:
        activities = activities_of(memory, model=LocalChatModel(), summariser=LocalSummariser())
        chosen = settings.model_copy(update=changes)
        async with make_worker(client.temporal, chosen, activities=activities):
            yield

    return run


@pytest.fixture
async def worker(
    run_worker: Callable[[], AbstractAsyncContextManager[None]],
) -> AsyncIterator[None]:
    """A worker that runs for the whole test."""
    async with run_worker():
        yield


@pytest.fixture
def chat_server() -> Iterator[ChatServer]:
    """A server that speaks OpenAI's API."""
    with running_chat_server() as server:
        yield server
