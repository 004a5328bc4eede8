"""The checks of `mnestic doctor`: each part, its state, and the remedy if it is not healthy."""

import asyncio
import shutil
from collections.abc import Awaitable, Callable
from datetime import timedelta

import psycopg
from pydantic import BaseModel, ConfigDict
from temporalio.api.enums.v1 import TaskQueueType
from temporalio.api.taskqueue.v1 import TaskQueue
from temporalio.api.workflowservice.v1 import DescribeTaskQueueRequest
from temporalio.client import Client
from temporalio.service import RPCError, RPCStatusCode

from mnestic.memory.addresses import describe_url
from mnestic.memory.errors import (
    ConfigurationError,
    MnesticError,
    NotesUnavailableError,
    UnavailableError,
)
from mnestic.memory.knowledge.ingestion import NO_EXTRACTOR
from mnestic.memory.names import SEARCH_ATTRIBUTES
from mnestic.memory.retrieval.agent_settings import AgentSettings
from mnestic.memory.retrieval.notes import NoteSelection
from mnestic.starter.deployments import Deployment
from mnestic.starter.embedded.search_attributes import missing_search_attributes
from mnestic.starter.embedded.state import read_last_state
from mnestic.starter.extraction_wiring import NO_FACTS, extractor_of, find_models
from mnestic.starter.jobs.failing_tasks import count_failing_workflows
from mnestic.starter.memory_wiring import notes_of, open_openai
from mnestic.starter.settings import Settings
from mnestic.starter.wiring import Endpoints, connect_temporal, find_endpoints
from mnestic.stores.postgres.poolers import is_pooled
from mnestic.stores.postgres.rights import find_rights_problems, summarise
from mnestic.stores.postgres.schema import SCHEMA_VERSION, libpq_url

_OLDEST_POSTGRES = 150_000
_SET_IS_A_RIGHT = 160_000
_OLDEST_PGVECTOR = (0, 7)
_MODEL_LIMIT = timedelta(seconds=5)
_LEAST_DISK = 1 << 30  # bytes; a database that runs out of disk stops
_REMEDY_POSTGRES = "start it, or correct MNESTIC_DATABASE_URL; `mnestic up` starts an embedded one"
_REMEDY_TEMPORAL = "start it, or correct TEMPORAL_ADDRESS; `mnestic up` starts an embedded one"
_REMEDY_RIGHTS = "connect as a role that may read it, or correct MNESTIC_DATABASE_URL"
_REMEDY_MODELS = "correct OPENAI_API_KEY, OPENAI_BASE_URL or the model's setting"
_REMEDY_NOTES = "correct the settings MNESTIC_OBSIDIAN_…, or start what serves the vault"
_REMEDY_DATA = "make it readable, or choose another place by MNESTIC_DATA_DIR"


class Finding(BaseModel):
    """One part, whether it is healthy, and the remedy if not."""

    model_config = ConfigDict(frozen=True)

    part: str
    ok: bool
    found: str
    remedy: str = ""


async def check_all(settings: Settings) -> tuple[Finding, ...]:
    """Checks every part; one that is down, or whose check fails, does not hide the others."""
    return (
        *await _alone("runtime", _check_servers(settings), remedy=_REMEDY_DATA),
        *await _alone("models", _check_models(settings), remedy=_REMEDY_MODELS),
        *await _alone("notes", _check_notes(settings), remedy=_REMEDY_NOTES),
        *await _alone("disk", asyncio.to_thread(_check_disk, settings), remedy=_REMEDY_DATA),
    )


async def _alone(
    part: str, check: Awaitable[tuple[Finding, ...]], *, remedy: str
) -> tuple[Finding, ...]:
    """The findings of one check; an error that it raises is a finding, so that the others are made."""
    try:
        return await check
    except Exception as error:  # noqa: BLE001 - whatever it is, the other checks are still made
        return (_failed(part, error, remedy=remedy),)


def _failed(part: str, error: Exception, *, remedy: str) -> Finding:
    reason = next(iter(str(error).splitlines()), "")
    if not isinstance(error, MnesticError):
        reason = f"the check failed: {type(error).__name__}: {reason}".removesuffix(": ")
    return Finding(part=part, ok=False, found=reason, remedy=remedy)


async def _check_servers(settings: Settings) -> tuple[Finding, ...]:
    try:
        endpoints = find_endpoints(settings)
    except ConfigurationError as error:
        return (_failed("runtime", error, remedy="correct that setting"),)
    except UnavailableError as error:
        last = read_last_state(settings.data_dir)
        is_up = last is not None and last.alive
        remedy = "try again once `mnestic up` says that it is ready" if is_up else "mnestic up"
        return (_failed("runtime", error, remedy=remedy),)
    postgres = asyncio.to_thread(_check_postgres, endpoints)
    return (
        *await _alone("Postgres", postgres, remedy=_REMEDY_POSTGRES),
        *await _alone("Temporal", _check_temporal(settings, endpoints), remedy=_REMEDY_TEMPORAL),
    )


def _check_postgres(endpoints: Endpoints) -> tuple[Finding, ...]:
    url = endpoints.database_url.get_secret_value()
    address = libpq_url(url)
    try:
        connection = psycopg.connect(address, connect_timeout=5, autocommit=True)
    except psycopg.Error as error:
        found = f"{describe_url(url)} does not answer: {str(error).splitlines()[0]}"
        return (Finding(part="Postgres", ok=False, found=found, remedy=_REMEDY_POSTGRES),)
    with connection:
        return tuple(
            _run_check(part, check, connection) for part, check in _DATABASE_CHECKS.items()
        )


def _run_check(
    part: str, check: Callable[[psycopg.Connection], Finding], connection: psycopg.Connection
) -> Finding:
    try:
        return check(connection)
    except Exception as error:  # noqa: BLE001 - whatever it is, the other checks are still made
        return _failed(part, error, remedy=_REMEDY_RIGHTS)


def _server(connection: psycopg.Connection) -> Finding:
    number = connection.info.server_version
    return Finding(
        part="Postgres",
        ok=number >= _OLDEST_POSTGRES,
        found=f"version {number // 10_000}.{number % 10_000}"
        + (", behind a connection pooler" if is_pooled(connection) else ""),
        remedy="upgrade it to version 15 or newer",
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
        remedy=f"GRANT mnestic_app TO {user}" if exists else "mnestic migrate",
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
        remedy="install pgvector 0.7 or newer on the server, then `mnestic migrate`",
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
        remedy="install a newer Mnestic" if newer else "mnestic migrate",
    )


def _rights(connection: psycopg.Connection) -> Finding:
    problems = [problem.what for problem in find_rights_problems(connection)]
    return Finding(
        part="rights",
        ok=not problems,
        found=summarise(problems) if problems else "all granted, and no others",
        remedy="mnestic migrate",
    )


_DATABASE_CHECKS = {
    "Postgres": _server,
    "role": _role,
    "pgvector": _pgvector,
    "migrations": _migrations,
    "rights": _rights,
}


async def _check_temporal(settings: Settings, endpoints: Endpoints) -> tuple[Finding, ...]:
    client = await connect_temporal(endpoints)
    return (
        Finding(part="Temporal", ok=True, found=f"{endpoints.temporal_address} answers"),
        *await _alone("search attributes", _search_attributes(client), remedy=_REMEDY_TEMPORAL),
        *await _alone("workers", _pollers(client, settings, endpoints), remedy=_REMEDY_TEMPORAL),
        *await _alone("workflow tasks", _failing_tasks(client, settings), remedy=_REMEDY_TEMPORAL),
    )


async def _search_attributes(client: Client) -> tuple[Finding, ...]:
    missing = await missing_search_attributes(client)
    create = " && ".join(
        f"temporal operator search-attribute create --name {name} "
        f"--type {SEARCH_ATTRIBUTES[name].capitalize()}"
        for name in missing
    )
    found = f"missing: {', '.join(missing)}" if missing else "all registered"
    return (Finding(part="search attributes", ok=not missing, found=found, remedy=create),)


async def _pollers(client: Client, settings: Settings, endpoints: Endpoints) -> tuple[Finding, ...]:
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
    remedy = "mnestic worker, or `mnestic up`"
    if missing and identities:
        found = f"{found}; {missing}"
        remedy = "start such a worker, or send jobs to those that poll: mnestic deploy"
    return (Finding(part="workers", ok=missing is None, found=found, remedy=remedy),)


async def _failing_tasks(client: Client, settings: Settings) -> tuple[Finding, ...]:
    part, tenant = "workflow tasks", settings.tenant_id
    try:
        number = await count_failing_workflows(client, tenant_id=tenant)
    except RPCError as error:
        if error.status is not RPCStatusCode.INVALID_ARGUMENT:
            raise
        return (Finding(part=part, ok=True, found="this server is too old to tell which fail"),)
    finding = Finding(
        part=part,
        ok=not number,
        found=f"{number} running workflows of tenant {tenant} have a task that keeps failing",
        remedy="start a worker that can run them; `mnestic job show` says why each of them fails",
    )
    return (finding,)


async def _check_models(settings: Settings) -> tuple[Finding, ...]:
    models = await find_models(settings, limit=_MODEL_LIMIT)
    found = f"the server knows {', '.join(models)}" if models else "the local provider"
    return (Finding(part="models", ok=True, found=found), await _extraction(settings))


async def _extraction(settings: Settings) -> Finding:
    """What extracts facts; without it memory works, and says so here."""
    async with open_openai(settings) as client:
        name = extractor_of(settings, client).name
    return Finding(part="extraction", ok=True, found=NO_FACTS if name == NO_EXTRACTOR else name)


async def _check_notes(settings: Settings) -> tuple[Finding, ...]:
    """The vault of notes, where one is named."""
    place = (
        describe_url(settings.obsidian_url) if settings.obsidian_url else settings.obsidian_vault
    )
    if place is None:
        return ()
    source = notes_of(settings)
    assert source is not None
    try:
        async with asyncio.timeout(_MODEL_LIMIT.total_seconds()):
            notes = await source.read(NoteSelection(tag=AgentSettings().obsidian_context_tag))
    except TimeoutError:
        raise NotesUnavailableError(where=str(place), why="no answer in time") from None
    found = f"{place}, {len(notes.notes)} notes with the usual tag"
    return (Finding(part="notes", ok=True, found=found),)


def _check_disk(settings: Settings) -> tuple[Finding, ...]:
    folder = settings.data_dir.expanduser().absolute()
    while not folder.exists():
        folder = folder.parent
    free = shutil.disk_usage(folder).free
    finding = Finding(
        part="disk",
        ok=free >= _LEAST_DISK,
        found=f"{free / (1 << 30):.1f} GiB free at {folder}",
        remedy="free some, or choose another place by MNESTIC_DATA_DIR",
    )
    return (finding,)
