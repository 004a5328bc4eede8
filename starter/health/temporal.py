"""Checks of Temporal: its search attributes, the workers, and workflow tasks that keep failing."""

from temporalio.client import Client
from temporalio.service import RPCError, RPCStatusCode

from mnestic.memory.names import maintenance_queue
from mnestic.starter.deployments import Deployment
from mnestic.starter.embedded.search_attributes import missing_search_attributes
from mnestic.starter.health.findings import Finding, check_alone
from mnestic.starter.jobs.failing_tasks import count_failing_workflows
from mnestic.starter.rpc import find_pollers
from mnestic.starter.settings import Settings
from mnestic.starter.wiring import Endpoints, connect_temporal

REMEDY_TEMPORAL = "start it, or correct TEMPORAL_ADDRESS; `mnestic up` starts an embedded one"


async def check_temporal(settings: Settings, endpoints: Endpoints) -> tuple[Finding, ...]:
    """Checks Temporal on a connection of its own."""
    client = await connect_temporal(endpoints)
    return (
        Finding(part="Temporal", ok=True, found=f"{endpoints.temporal_address} answers"),
        *await check_alone("search attributes", _search_attributes(client), remedy=REMEDY_TEMPORAL),
        *await check_alone(
            "workers", _workers(client, settings, endpoints), remedy=REMEDY_TEMPORAL
        ),
        *await check_alone(
            "maintenance workers", _maintenance_workers(client, settings), remedy=REMEDY_TEMPORAL
        ),
        *await check_alone(
            "workflow tasks", _failing_tasks(client, settings), remedy=REMEDY_TEMPORAL
        ),
    )


async def _search_attributes(client: Client) -> tuple[Finding, ...]:
    missing = await missing_search_attributes(client)
    found = f"missing: {', '.join(missing)}" if missing else "all registered"
    return (
        Finding(part="search attributes", ok=not missing, found=found, remedy="mnestic migrate"),
    )


async def _workers(client: Client, settings: Settings, endpoints: Endpoints) -> tuple[Finding, ...]:
    queue = settings.task_queue
    identities = await find_pollers(client, queue)
    found = _describe(queue, identities)
    deployment = Deployment(client, settings=settings, address=endpoints.temporal_address)
    missing = await deployment.find_standstill()
    remedy = "mnestic worker, or `mnestic up`"
    stranded = [
        one for one in await deployment.list_builds() if one.running_jobs and not one.workers
    ]
    if identities and (missing or stranded):
        what = [str(missing)] if missing else []
        what += [f"no worker of build {one.build_id} polls, which jobs run on" for one in stranded]
        found = "; ".join((found, *what))
        remedy = "start such a worker, or send new jobs to those that poll (mnestic deploy) and move those that run (mnestic job poke)"
    ok = not (missing or stranded)
    return (Finding(part="workers", ok=ok, found=found, remedy=remedy),)


async def _maintenance_workers(client: Client, settings: Settings) -> tuple[Finding, ...]:
    queue = maintenance_queue(settings.task_queue)
    identities = await find_pollers(client, queue)
    finding = Finding(
        part="maintenance workers",
        ok=bool(identities),
        found=_describe(queue, identities),
        remedy="mnestic worker --serves maintenance, or `mnestic up`",
    )
    return (finding,)


def _describe(queue: str, identities: tuple[str, ...]) -> str:
    return f"{len(identities)} poll {queue}: {', '.join(identities) or 'nobody'}"


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
