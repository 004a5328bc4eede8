"""The whole runtime, with real processes: it starts, is told apart, survives, and leaves nothing behind."""

import asyncio
import os
import sys
import urllib.request
from asyncio.subprocess import DEVNULL
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from datetime import timedelta
from http import HTTPStatus
from pathlib import Path
from typing import TypeVar

import psutil
import psycopg
import pytest
from temporalio.api.workflowservice.v1 import DescribeNamespaceRequest
from temporalio.client import Client
from temporalio.service import RPCError

from mnestic.memory.errors import (
    ConfigurationError,
    InUseError,
)
from mnestic.starter.embedded.process_mark import ProcessMark
from mnestic.starter.embedded.runtime import EmbeddedRuntime
from mnestic.starter.embedded.search_attributes import (
    ensure_search_attributes,
    missing_search_attributes,
)
from mnestic.starter.embedded.state import RuntimeState, read_state
from mnestic.starter.settings import Settings, load_settings

GONE_LIMIT_S = 30.0
BACK_LIMIT_S = 60.0
T = TypeVar("T")
# A server process in the middle of a statement does not notice that its leader was killed.
BUSY = """
import psycopg, sys
connection = psycopg.connect(sys.argv[1], application_name="busy")
connection.execute("DO 'BEGIN LOOP END LOOP; END'")
"""
OWNER = """
import asyncio, sys
from mnestic.starter.embedded.runtime import EmbeddedRuntime
from mnestic.starter.settings import load_settings

async def main() -> None:
    async with EmbeddedRuntime(
        load_settings(data_dir=sys.argv[1]),
        report=lambda line: print(line, flush=True) if "again" in line else None,
        migrate=lambda url: None,
        start_worker=False,
    ) as runtime:
        print("up", flush=True)
        await runtime.wait()

asyncio.run(main())
"""


@pytest.fixture(autouse=True)
def bare(monkeypatch: pytest.MonkeyPatch) -> None:
    """The surroundings of a developer must not decide what is started."""
    for name in list(os.environ):
        if name.startswith(("TEMPORAL_", "MNESTIC_")):
            monkeypatch.delenv(name)


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return load_settings(data_dir=tmp_path / "data")


def runtime_on(settings: Settings) -> EmbeddedRuntime:
    return EmbeddedRuntime(
        settings, report=lambda _: None, migrate=lambda _: None, start_worker=False
    )


@asynccontextmanager
async def owner_of(
    data_dir: Path,
) -> AsyncIterator[tuple[asyncio.subprocess.Process, RuntimeState]]:
    """Another process that has a runtime on the directory."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", OWNER, str(data_dir), stdout=asyncio.subprocess.PIPE
    )
    try:
        assert process.stdout is not None
        assert await process.stdout.readline() == b"up\n"
        state = read_state(data_dir)
        assert state is not None
        yield process, state
    finally:
        if process.returncode is None:
            process.terminate()
        await process.wait()


async def all_gone(marks: tuple[ProcessMark, ...]) -> bool:
    waits = (asyncio.to_thread(mark.wait_ended, GONE_LIMIT_S) for mark in marks)
    return all(await asyncio.gather(*waits))


def guardian_of(pid: int) -> psutil.Process:
    children = psutil.Process(pid).children()
    return next(child for child in children if "guardian" in " ".join(child.cmdline()))


async def until_answered(ask: Callable[[], Awaitable[T]]) -> T:
    """The first answer of a server that is on its way back."""
    async with asyncio.timeout(BACK_LIMIT_S):
        while True:
            try:
                return await ask()
            except (psycopg.OperationalError, RPCError, OSError):
                await asyncio.sleep(0.05)


async def until_busy(url: str) -> None:
    """Waits until a server process works at a statement that does not end."""
    query = "SELECT 1 FROM pg_stat_activity WHERE application_name = 'busy' AND state = 'active'"
    async with (
        asyncio.timeout(BACK_LIMIT_S),
        await psycopg.AsyncConnection.connect(url, autocommit=True) as connection,
    ):
        while await (await connection.execute(query)).fetchone() is None:  # noqa: ASYNC110
            await asyncio.sleep(0.05)


async def read_kept(url: str) -> list[tuple[str]]:
    async with await psycopg.AsyncConnection.connect(url) as connection:
        return await (await connection.execute("SELECT word FROM kept")).fetchall()


def get(url: str) -> int:
    """The status of an answer."""
    with urllib.request.urlopen(url, timeout=5) as answer:
        status: int = answer.status
    return status


@pytest.mark.acceptance
async def test_everything_answers_what_is_there_is_used_and_nothing_is_left_after_the_stop(
    settings: Settings, tmp_path: Path
) -> None:
    migrated: list[str] = []
    lines: list[str] = []

    async with EmbeddedRuntime(
        settings, report=lines.append, migrate=migrated.append, start_worker=False
    ) as runtime:
        state = runtime.state
        client = await Client.connect(str(state.temporal_address))
        request = DescribeNamespaceRequest(namespace="default")
        namespace = await client.workflow_service.describe_namespace(request)
        missing = await missing_search_attributes(client)
        registered = await ensure_search_attributes(client)
        mine = load_settings(
            data_dir=tmp_path / "other",
            temporal_address=state.temporal_address,
            database_url=state.database_url,
            database_admin_url=state.database_admin_url,
        )
        async with runtime_on(mine) as thin:
            beside = thin.state
        assert read_state(settings.data_dir) == state

    assert namespace.config.workflow_execution_retention_ttl.ToTimedelta() == timedelta(days=30)
    assert missing == registered == ()
    assert beside.parts == ()
    assert beside.temporal_address == state.temporal_address
    assert beside.database_admin_url == state.database_admin_url
    assert migrated == [state.database_admin_url]
    assert lines[-1].startswith("Everything answers (")
    assert sorted(mark.name for mark in state.parts) == ["Postgres", "Temporal"]
    assert all(mark.find() is None for mark in state.parts)
    assert read_state(settings.data_dir) is None


@pytest.mark.acceptance
async def test_what_a_killed_runtime_and_its_killed_guardian_left_is_ended_by_the_next(
    settings: Settings,
) -> None:
    lines: list[str] = []
    async with owner_of(settings.data_dir) as (owner, left):
        guardian_of(owner.pid).kill()
        owner.kill()
        await owner.wait()

        async with EmbeddedRuntime(
            settings, report=lines.append, migrate=lambda _: None, start_worker=False
        ) as runtime:
            assert all(mark.find() is None for mark in left.parts)
            assert {mark.pid for mark in left.parts}.isdisjoint(
                mark.pid for mark in runtime.state.parts
            )

    assert "Ended Temporal, left running by an earlier runtime" in lines


async def test_a_directory_that_cannot_be_made_is_one_clear_error(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    settings = load_settings(data_dir=tmp_path / "file" / "data")

    with pytest.raises(ConfigurationError, match=r"MNESTIC_DATA_DIR: .*file/data cannot be used"):
        await runtime_on(settings).__aenter__()


def pid_of(state: RuntimeState, name: str) -> int | None:
    return next((mark.pid for mark in state.parts if mark.name == name), None)


async def until_back(runtime: EmbeddedRuntime, name: str, pid: int | None) -> RuntimeState:
    """What is written down once a part runs under another pid."""
    async with asyncio.timeout(BACK_LIMIT_S):
        while pid_of(runtime.state, name) in (None, pid):  # noqa: ASYNC110 - the state tells
            await asyncio.sleep(0.05)
    return runtime.state


@pytest.mark.acceptance
async def test_servers_that_are_killed_come_back_on_the_same_data_at_the_same_address(
    settings: Settings,
) -> None:
    async with runtime_on(settings) as runtime:
        before = runtime.state
        with psycopg.connect(str(before.database_admin_url)) as connection:
            connection.execute("CREATE TABLE kept (word text)")
            connection.execute("INSERT INTO kept VALUES ('still here')")
        client = await Client.connect(str(before.temporal_address))
        await client.start_workflow("AnyKind", id="kept", task_queue="nobody")
        busy = await asyncio.create_subprocess_exec(
            sys.executable, "-c", BUSY, str(before.database_admin_url), stderr=DEVNULL
        )
        await until_busy(str(before.database_admin_url))

        for name in ("Postgres", "Temporal"):
            psutil.Process(pid_of(before, name)).kill()
        await until_back(runtime, "Postgres", pid_of(before, "Postgres"))
        after = await until_back(runtime, "Temporal", pid_of(before, "Temporal"))

        rows = await until_answered(lambda: read_kept(str(before.database_admin_url)))
        kept = await until_answered(client.get_workflow_handle("kept").describe)
        page = await until_answered(lambda: asyncio.to_thread(get, f"{before.temporal_ui}/"))
        assert read_state(settings.data_dir) == after
        await busy.wait()

    assert after == before.model_copy(update={"parts": after.parts})
    assert rows == [("still here",)]
    assert kept.workflow_type == "AnyKind"
    assert page == HTTPStatus.OK
    assert all(mark.find() is None for mark in (*before.parts, *after.parts))


@pytest.mark.acceptance
async def test_a_guardian_that_is_killed_is_replaced_by_one_that_knows_all_parts(
    settings: Settings,
) -> None:
    async with owner_of(settings.data_dir) as (owner, state):
        guardian_of(owner.pid).kill()
        assert owner.stdout is not None
        async with asyncio.timeout(BACK_LIMIT_S):
            ended, back = [await owner.stdout.readline() for _ in range(2)]

        owner.kill()

        assert await all_gone(state.parts)
        assert ended.startswith(b"guardian ended by itself with exit code -9")
        assert back.startswith(b"guardian runs again (pid ")


@pytest.mark.acceptance
async def test_a_failing_migration_fails_the_start_and_leaves_nothing(settings: Settings) -> None:
    def refuse(_: str) -> None:
        raise InUseError(what="the schema", by="a test", remedy="none")

    runtime = EmbeddedRuntime(settings, report=lambda _: None, migrate=refuse, start_worker=False)

    with pytest.raises(InUseError, match="the schema is in use"):
        await runtime.__aenter__()

    assert runtime.state.parts == ()
