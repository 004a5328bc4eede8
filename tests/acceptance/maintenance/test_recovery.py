"""Backup and restore: the commands of `docs/recovery.md`, one after the other, and what is there afterwards."""

import asyncio
import os
import re
import tempfile
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import psycopg
import pytest
from pydantic import SecretStr
from temporalio.api.common.v1 import WorkflowExecution
from temporalio.api.workflowservice.v1 import DeleteWorkflowExecutionRequest

from mnestic.activities.clients.local import LocalChatModel, LocalSummariser
from mnestic.memory.errors import SnapshotUnverifiedError
from mnestic.memory.names import job_workflow_id
from mnestic.starter.client.mnestic_client import MnesticClient
from mnestic.starter.embedded.postgres import _programs, start_postgres
from mnestic.starter.embedded.process_group import ProcessGroup
from mnestic.starter.jobs.plans import read_plan
from mnestic.starter.maintenance_wiring import maintenance_activities, make_maintenance_worker
from mnestic.starter.settings import Settings
from mnestic.stores.postgres.memory import PostgresMemory
from mnestic.worker import activities_of, make_worker
from tests.acceptance.processes import MNESTIC
from tests.job_states import until_state

pytestmark = pytest.mark.acceptance

PAGE = Path(__file__).parents[3] / "docs" / "recovery.md"
COPY, UNPACK, LOOK_AT_COPY, DUMP, PREPARE, RESTORE, LOOK = range(7)
LIMIT_S = 60.0
Shell = Callable[..., str]


@pytest.fixture
def shell(processes: Any, tmp_path: Path) -> Shell:
    """Types the page's commands, where the programs of Postgres and ours are at hand."""
    path = f"{Path(MNESTIC).parent}:{_programs() / 'bin'}:{os.environ['PATH']}"

    def type_in(number: int, **env: str) -> str:
        page = PAGE.read_text(encoding="utf-8")
        block = re.findall(r"^```sh\n(.*?)^```$", page, re.DOTALL | re.MULTILINE)[number]
        words = ("bash", "-euo", "pipefail", "-c", block)
        done = processes.run(*words, env={"PATH": path, **env}, cwd=tmp_path)
        assert done.code == 0, f"{block}\n{done.out}\n{done.err}"
        return str(done.out)

    return type_in


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder beside those of pytest, to which another run of it closes the way for the account of Postgres."""
    with tempfile.TemporaryDirectory(prefix="mnestic-recovery-") as name:
        yield Path(name)


@pytest.fixture
async def other_server(folder: Path) -> AsyncIterator[str]:
    """Its superuser's address of another server, in which there is neither a database nor a role of ours."""
    async with ProcessGroup(folder / "guardian.log") as processes:
        _, address = await start_postgres(folder, processes)
        yield address.maintenance_url


@asynccontextmanager
async def working(settings: Settings) -> AsyncIterator[MnesticClient]:
    """A client and the workers of a deployment on the database that settings name, for as long as a block."""
    assert settings.database_url is not None
    assert settings.database_admin_url is not None
    admin_url = settings.database_admin_url.get_secret_value()
    memory = PostgresMemory(settings.database_url.get_secret_value(), pool_size=5)
    activities = activities_of(memory, model=LocalChatModel(), summariser=LocalSummariser())
    maintained = maintenance_activities(memory, admin_url=admin_url)
    async with (
        await MnesticClient.connect(settings) as client,
        make_worker(client.temporal, settings, activities=activities),
        make_maintenance_worker(client.temporal, settings, activities=maintained),
    ):
        yield client
    await memory.close()


async def start(client: MnesticClient, plan: Path, job_id: str) -> None:
    """Starts a job, and returns once it waits."""
    await client.start_job(
        read_plan(plan), agent_id="ada", session_id=job_id, inputs={"name": "Ana"}, job_id=job_id
    )
    await until_state(client, job_id, limit_s=LIMIT_S)


@pytest.fixture
async def moved(
    settings: Settings, other_server: str, plan: Path, shell: Shell
) -> tuple[Settings, Mapping[str, str]]:
    """Settings and environment of a database that was dumped and restored on another server.

    Of its jobs, `before` and `lost` waited when the dump was made, and `since` did not.
    """
    assert settings.database_admin_url is not None
    async with working(settings) as client:
        await client.memory("ada").add("The ferry to Texel leaves at nine.")
        await start(client, plan, "before")
        await start(client, plan, "lost")
        shell(DUMP, MNESTIC_DATABASE_ADMIN_URL=settings.database_admin_url.get_secret_value())
        await client.memory("ada").add("This comes after the dump.")
        await start(client, plan, "since")
    admin_url = other_server.replace("/postgres?", "/agents?")
    app_url = admin_url.replace("postgres@", "app@")
    env = {
        "MAINTENANCE_URL": other_server,
        "MNESTIC_DATABASE_ADMIN_URL": admin_url,
        "MNESTIC_DATABASE_URL": app_url,
        "TEMPORAL_ADDRESS": str(settings.temporal_address),
        "MNESTIC_TASK_QUEUE": settings.task_queue,
        "MNESTIC_TENANT_ID": settings.tenant_id,
        "MNESTIC_DATA_DIR": str(settings.data_dir),
    }
    shell(PREPARE, **env)
    shell(RESTORE, **env)
    urls = {"database_url": SecretStr(app_url), "database_admin_url": SecretStr(admin_url)}
    return settings.model_copy(update=urls), env


def seen(url: str, *, tenant: str) -> int:
    """How many entries the application sees as a tenant."""
    with psycopg.connect(url) as application:
        application.execute("SET ROLE mnestic_app")
        application.execute("SELECT set_config('mnestic.tenant_id', %s, true)", [tenant])
        return len(application.execute("SELECT * FROM mnestic.entry").fetchall())


async def test_a_dump_is_restored_on_another_server_and_jobs_go_on(
    moved: tuple[Settings, Mapping[str, str]], shell: Shell
) -> None:
    there, env = moved
    word = {"word": "again"}

    async with working(there) as client:
        looked = await asyncio.to_thread(shell, LOOK, **env)
        found = await client.memory("ada").retrieve("When does the ferry leave?")
        await client.memory("ada").add("Mara keeps the key under the fern.")
        resumed = await client.resume_job("before", word)
        await client.wait_for_result("before")
        with pytest.raises(SnapshotUnverifiedError):
            await client.resume_job("since", word)
        await until_state(client, "since", "needs_attention", limit_s=LIMIT_S)
        overridden = await client.override_job("since", word, reason="restored")
        await client.wait_for_result("since")
        lost = WorkflowExecution(workflow_id=job_workflow_id(there.tenant_id, "lost"))
        await client.temporal.workflow_service.delete_workflow_execution(
            DeleteWorkflowExecutionRequest(
                namespace=client.temporal.namespace, workflow_execution=lost
            )
        )
        await client.fork_job("lost", as_job="lost-again")
        await until_state(client, "lost-again", limit_s=LIMIT_S)
        forked = await client.resume_job("lost-again", word)

    assert "all granted" in looked
    assert [one.entry.content for one in found.results] == ["The ferry to Texel leaves at nine."]
    assert [bool(one and one.verified) for one in (resumed, overridden, forked)] == [
        True,
        False,
        True,
    ]
    assert seen(env["MNESTIC_DATABASE_URL"], tenant="") == 0
    assert seen(env["MNESTIC_DATABASE_URL"], tenant=there.tenant_id) >= 2


def test_a_data_directory_is_copied_and_its_job_goes_on(
    start_up: Callable[..., Any], plan: Path, folder: Path, shell: Shell
) -> None:
    data, copied = folder / "data", folder / "copied"
    up = start_up(data)
    up.asked(
        *("job", "start", str(plan), "--agent", "ada", "--session", "s1"),
        *("--job-id", "j1", "--input", "name=Ana"),
    )
    up.until_job("j1", "waiting")
    assert up.running.stop().code == 0

    shell(COPY, MNESTIC_DATA_DIR=str(data))
    shell(UNPACK, RESTORED_DATA_DIR=str(copied))
    again = start_up(copied)
    found = shell(LOOK_AT_COPY, RESTORED_DATA_DIR=str(copied))
    receipt = again.asked("job", "resume", "j1", "--payload", '{"word": "again"}')

    assert "FAIL" not in found
    assert receipt["verified"]
    again.until_job("j1", "completed")
