"""Metrics for Prometheus."""

import shutil
from pathlib import Path
from typing import Annotated

from fastapi import APIRouter, Request, Response
from fastapi.responses import PlainTextResponse
from prometheus_client import CONTENT_TYPE_PLAIN_0_0_4
from temporalio.service import RPCError

from mnestic.memory.errors import TemporalUnavailableError
from mnestic.memory.maintenance.samples import Sample
from mnestic.starter.client.mnestic_client import MnesticClient
from mnestic.starter.http.calls import VERSION, TenantCall, tenant_call
from mnestic.starter.http.metrics import MetricsOfTenants
from mnestic.starter.jobs.listing import count_jobs

router = APIRouter(prefix=VERSION, tags=["health"])


@router.get(
    "/metrics",
    response_class=PlainTextResponse,
    responses={200: {"content": {"text/plain": {"example": "mnestic_agents 3.0\n"}}}},
)
async def metrics(call: Annotated[TenantCall, tenant_call("read")], request: Request) -> Response:
    """The series of the key's tenant and of the process, in Prometheus' text format."""
    of_tenants, client = request.app.state.metrics, call.client
    assert isinstance(of_tenants, MetricsOfTenants)
    tenant_id = client.settings.tenant_id
    samples = await of_tenants.samples(tenant_id, lambda: _read(client))
    text = of_tenants.text(tenant_id, samples, client.cache_counts())
    return Response(text, media_type=CONTENT_TYPE_PLAIN_0_0_4)


async def _read(client: MnesticClient) -> tuple[Sample, ...]:
    stored = await client.maintenance.list_samples()
    places = {"data": client.settings.data_dir, "backups": client.settings.backup_directory}
    disks = (sample for place, path in places.items() if path for sample in _disk(place, path))
    return (*stored, *await _temporal(client), *disks)


async def _temporal(client: MnesticClient) -> tuple[Sample, ...]:
    """Jobs by state, and Schedules; while Temporal does not answer, memory's own series are still served."""
    try:
        counts = await count_jobs(client.temporal, tenant_id=client.settings.tenant_id)
        schedules = await client.maintenance.list_schedules()
    except (RPCError, TemporalUnavailableError):
        return (Sample(name="temporal_up", labels={}, value=0),)
    jobs = (Sample(name="jobs", labels={"state": one}, value=n) for one, n in counts.items())
    since = (
        Sample(
            name="maintenance_scheduled_timestamp_seconds",
            labels={"kind": one.kind},
            value=one.created_at.timestamp(),
        )
        for one in schedules
        if one.state == "active"
    )
    return (Sample(name="temporal_up", labels={}, value=1), *jobs, *since)


def _disk(place: str, path: Path) -> tuple[Sample, ...]:
    if not path.exists():
        return ()
    usage, labels = shutil.disk_usage(path), {"place": place}
    return (
        Sample(name="disk_bytes", labels=labels, value=usage.total),
        Sample(name="disk_free_bytes", labels=labels, value=usage.free),
    )
