"""What `mnestic doctor` looks at: each part, what was found, and how to mend it."""

import asyncio
import shutil
from datetime import timedelta

import psycopg
from pydantic import BaseModel, ConfigDict
from temporalio.api.enums.v1 import TaskQueueType
from temporalio.api.taskqueue.v1 import TaskQueue
from temporalio.api.workflowservice.v1 import DescribeTaskQueueRequest
from temporalio.client import Client

from mnestic.memory.agent_settings import AgentSettings
from mnestic.memory.errors import ConfigurationError, MnesticError
from mnestic.memory.names import SEARCH_ATTRIBUTES
from mnestic.memory.notes import NoteSelection
from mnestic.starter.deployments import Deployment
from mnestic.starter.embedded.search_attributes import missing_search_attributes
from mnestic.starter.settings import Settings
from mnestic.starter.wiring import (
    Endpoints,
    connect_temporal,
    find_endpoints,
    find_models,
    notes_of,
)
from mnestic.stores.postgres.schema import SCHEMA_VERSION, describe_url, driver_url

_OLDEST_POSTGRES = 150_000
_SET_IS_A_RIGHT = 160_000
_OLDEST_PGVECTOR = (0, 7)
_MODEL_LIMIT = timedelta(seconds=5)
_LEAST_DISK = 1 << 30  # bytes; a database that runs out of disk stops


class Finding(BaseModel):
    """One part, whether it is well, and how to mend it if not."""

    model_config = ConfigDict(frozen=True)

    part: str
    ok: bool
    found: str
    mend: str = ""


async def check_all(settings: Settings) -> tuple[Finding, ...]:
    """Looks at every part; one that is down does not keep it from the others."""
    notes = await _check_notes(settings)
    rest = (await _check_models(settings), *notes, _check_disk(settings))
    try:
        endpoints = find_endpoints(settings)
    except ConfigurationError as error:
        return (Finding(part="runtime", ok=False, found=str(error), mend="mnestic up"), *rest)
    postgres = await asyncio.to_thread(_check_postgres, endpoints)
    temporal = await _check_temporal(settings, endpoints)
    return (*postgres, *temporal, *rest)


def _check_postgres(endpoints: Endpoints) -> tuple[Finding, ...]:
    url = endpoints.database_url.get_secret_value()
    try:
        driver_url(url)
        with psycopg.connect(url, connect_timeout=5, autocommit=True) as connection:
            return tuple(check(connection) for check in (_server, _role, _pgvector, _migrations))
    except ConfigurationError as error:
        mend = "correct MNESTIC_DATABASE_URL"
        return (Finding(part="Postgres", ok=False, found=str(error), mend=mend),)
    except psycopg.Error as error:
        found = f"{describe_url(url)} does not answer: {str(error).splitlines()[0]}"
        mend = "start it, or correct MNESTIC_DATABASE_URL; `mnestic up` starts an embedded one"
        return (Finding(part="Postgres", ok=False, found=found, mend=mend),)


def _server(connection: psycopg.Connection) -> Finding:
    number = connection.info.server_version
    return Finding(
        part="Postgres",
        ok=number >= _OLDEST_POSTGRES,
        found=f"version {number // 10_000}.{number % 10_000}",
        mend="upgrade it to version 15 or newer",
    )


def _role(connection: psycopg.Connection) -> Finding:
    # Since PostgreSQL 16 a member may become the role only if it was granted WITH SET.
    right = "SET" if connection.info.server_version >= _SET_IS_A_RIGHT else "MEMBER"
    row = connection.execute(
        "SELECT current_user, count(*) > 0, COALESCE(bool_and(pg_has_role(oid, %s)), false) "
        "FROM pg_roles WHERE rolname = 'mnestic_app'",
        (right,),
    ).fetchone()
    assert row is not None
    user, exists, member = row
    return Finding(
        part="role",
        ok=exists and member,
        found=f"{user}, " + ("works as mnestic_app" if member else "may not become mnestic_app"),
        mend=f"GRANT mnestic_app TO {user}" if exists else "mnestic migrate",
    )


def _pgvector(connection: psycopg.Connection) -> Finding:
    row = connection.execute(
        "SELECT extversion FROM pg_extension WHERE extname = 'vector'"
    ).fetchone()
    version: str | None = row[0] if row else None
    number = tuple(int(part) for part in (version or "0.0").split(".")[:2])
    return Finding(
        part="pgvector",
        ok=number >= _OLDEST_PGVECTOR,
        found=f"version {version}" if version else "not installed in this database",
        mend="install pgvector 0.7 or newer on the server, then `mnestic migrate`",
    )


def _migrations(connection: psycopg.Connection) -> Finding:
    present = connection.execute("SELECT to_regclass('mnestic.alembic_version')").fetchone()
    found = None
    if present and present[0]:
        row = connection.execute("SELECT version_num FROM mnestic.alembic_version").fetchone()
        found = row[0] if row else None
    newer = found is not None and found > SCHEMA_VERSION
    return Finding(
        part="migrations",
        ok=found == SCHEMA_VERSION,
        found=f"schema {found or 'none'}, this version needs {SCHEMA_VERSION}",
        mend="install a newer Mnestic" if newer else "mnestic migrate",
    )


async def _check_temporal(settings: Settings, endpoints: Endpoints) -> tuple[Finding, ...]:
    try:
        client = await connect_temporal(endpoints)
        missing = await missing_search_attributes(client)
    except MnesticError as error:
        mend = "start it, or correct TEMPORAL_ADDRESS; `mnestic up` starts an embedded one"
        return (Finding(part="Temporal", ok=False, found=str(error), mend=mend),)
    create = " && ".join(
        f"temporal operator search-attribute create --name {name} "
        f"--type {SEARCH_ATTRIBUTES[name].capitalize()}"
        for name in missing
    )
    return (
        Finding(part="Temporal", ok=True, found=f"{endpoints.temporal_address} answers"),
        Finding(
            part="search attributes",
            ok=not missing,
            found=f"missing: {', '.join(missing)}" if missing else "all registered",
            mend=create,
        ),
        await _pollers(client, settings, endpoints),
    )


async def _pollers(client: Client, settings: Settings, endpoints: Endpoints) -> Finding:
    request = DescribeTaskQueueRequest(
        namespace=client.namespace,
        task_queue=TaskQueue(name=settings.task_queue),
        task_queue_type=TaskQueueType.TASK_QUEUE_TYPE_WORKFLOW,
    )
    answer = await client.workflow_service.describe_task_queue(request)
    identities = [poller.identity for poller in answer.pollers]
    found = f"{len(identities)} poll {settings.task_queue}: {', '.join(identities) or 'nobody'}"
    deployment = Deployment(client, settings=settings, address=endpoints.temporal_address)
    missing = await deployment.find_standstill()
    mend = "mnestic worker, or `mnestic up`"
    if missing and identities:
        found = f"{found}; {missing}"
        mend = "start such a worker, or send jobs to those that poll: mnestic deploy"
    return Finding(part="workers", ok=missing is None, found=found, mend=mend)


async def _check_models(settings: Settings) -> Finding:
    try:
        models = await find_models(settings, limit=_MODEL_LIMIT)
    except MnesticError as error:
        mend = "correct OPENAI_API_KEY, OPENAI_BASE_URL or the model's setting"
        return Finding(part="models", ok=False, found=str(error), mend=mend)
    found = f"the server knows {', '.join(models)}" if models else "the local provider"
    return Finding(part="models", ok=True, found=found)


async def _check_notes(settings: Settings) -> tuple[Finding, ...]:
    """The vault of notes, where one is named."""
    place = settings.obsidian_url or settings.obsidian_vault
    if place is None:
        return ()
    mend = "correct the settings MNESTIC_OBSIDIAN_…, or start what serves the vault"
    try:
        source = notes_of(settings)
        assert source is not None
        async with asyncio.timeout(_MODEL_LIMIT.total_seconds()):
            found = await source.read(NoteSelection(tag=AgentSettings().obsidian_context_tag))
    except (MnesticError, TimeoutError) as error:
        told = str(error) or f"{place} does not answer in time"
        return (Finding(part="notes", ok=False, found=told, mend=mend),)
    told = f"{place}, {len(found.notes)} notes with the usual tag"
    return (Finding(part="notes", ok=True, found=told),)


def _check_disk(settings: Settings) -> Finding:
    folder = settings.data_dir.expanduser().absolute()
    while not folder.exists():
        folder = folder.parent
    free = shutil.disk_usage(folder).free
    return Finding(
        part="disk",
        ok=free >= _LEAST_DISK,
        found=f"{free / (1 << 30):.1f} GiB free at {folder}",
        mend="free some, or choose another place by MNESTIC_DATA_DIR",
    )
