"""What is watched of a tenant's memory, as a tenant may compare it."""

from typing import Any

from mnestic.starter.maintenance.maintenance_client import MaintenanceClient


async def sampled(maintenance: MaintenanceClient) -> Any:
    """What is watched of one's own memory; tables are those of all tenants, and time passes."""
    samples = await maintenance.list_samples()
    passing = ("table_", "maintenance_", "ingest_oldest")
    return sorted(
        (one.name, one.value, *one.labels.values())
        for one in samples
        if not one.name.startswith(passing)
    )


async def grown(maintenance: MaintenanceClient) -> Any:
    """How much memory one has; the bytes are those of all tenants."""
    return (await maintenance.growth()).sizes.model_dump(exclude={"database_bytes"})
