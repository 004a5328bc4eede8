"""`GET /v1/health/detailed`: the checks of `mnestic doctor`, where degraded is not down."""

import asyncio
from contextlib import AsyncExitStack
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx2
import pytest
from fastapi import FastAPI

from mnestic.memory.maintenance.policies import MaintenanceKind, MaintenancePolicy
from mnestic.memory.ports import Memory
from mnestic.starter.client.mnestic_client import MnesticClient
from mnestic.starter.health import memory as memory_checks
from mnestic.starter.health.findings import Finding, state_of
from mnestic.starter.http.app import set_state
from mnestic.starter.maintenance.schedules import MaintenanceSchedule
from mnestic.starter.maintenance_wiring import create_schedules
from mnestic.starter.memory_wiring import local_models
from mnestic.starter.settings import Settings
from mnestic.starter.tenants import Tenants
from mnestic.starter.wiring import OpenConnections
from mnestic.stores.postgres.memory import PostgresMemory
from tests.starter.http.conftest import NewKey, opened
from tests.transactions import Execute


async def checked(app: FastAPI, new_key: NewKey) -> tuple[httpx2.Response, dict[str, Any]]:
    """The answer, and its checks by part."""
    async with opened(app, await new_key(agents=("*",))) as http:
        answer = await http.get("/v1/health/detailed")
    return answer, {check["part"]: check for check in answer.json()["checks"]}


@pytest.mark.parametrize(
    ("broken", "state"),
    [((), "ok"), (("disk",), "degraded"), (("Postgres",), "down"), (("disk", "Postgres"), "down")],
)
def test_memory_is_down_without_an_essential_part_alone(
    broken: tuple[str, ...], state: str
) -> None:
    findings = [
        Finding(part=part, ok=part not in broken, found="", essential=part == "Postgres")
        for part in ("Postgres", "disk")
    ]

    assert state_of(findings) == state


async def test_a_process_is_ready_while_storage_answers(
    app: FastAPI, routes: FastAPI, settings: Settings, client: MnesticClient
) -> None:
    async with opened(app, None) as probe:
        ready = await probe.get("/v1/health/ready")
    lost = PostgresMemory("postgresql://app@127.0.0.1:9/mnestic", pool_size=1)
    connections = OpenConnections(
        temporal=client.temporal,
        memory=lost,
        endpoints=client.endpoints,
        models=local_models(),
    )
    set_state(routes, Tenants(connections, settings=settings))
    async with opened(routes, None) as probe:
        answers = await asyncio.gather(*(probe.get("/v1/health/ready") for _ in range(5)))
        alive = await probe.get("/v1/health")
    await lost.close()

    assert ready.json()["status"] == "ok"
    assert {one.status_code for one in answers} == {503}
    assert {one.text for one in answers} == {'{"status":"down"}'}
    assert alive.status_code == 200


async def test_a_process_is_ready_though_all_connections_are_in_use(
    routes: FastAPI, settings: Settings, client: MnesticClient
) -> None:
    url = client.endpoints.database_url.get_secret_value()
    busy = PostgresMemory(url, pool_size=1)
    connections = OpenConnections(
        temporal=client.temporal, memory=busy, endpoints=client.endpoints, models=local_models()
    )
    set_state(routes, Tenants(connections, settings=settings))
    async with AsyncExitStack() as opened_ones:
        for _ in range(2):
            await opened_ones.enter_async_context(busy.pool.connect())
        async with opened(routes, None) as probe:
            ready = await probe.get("/v1/health/ready")
    await busy.close()

    assert ready.json() == {"status": "ok"}


async def test_without_a_worker_memory_is_degraded_and_answers(
    app: FastAPI, new_key: NewKey, client: MnesticClient
) -> None:
    await client.memory("ada").add("Mara lives in Porto.")

    answer, checks = await checked(app, new_key)

    assert (answer.status_code, answer.json()["status"]) == (200, "degraded")
    missing = [part for part, check in checks.items() if not check["ok"]]
    assert missing == ["workers", "maintenance workers"]
    assert checks["index"]["found"] == "1 entries looked at"


async def test_an_entry_that_its_own_words_or_vector_do_not_find_degrades_the_index(
    app: FastAPI, new_key: NewKey, client: MnesticClient, execute: Execute
) -> None:
    for content in ("Mara lives in Porto.", "Bert plays chess."):
        await client.memory("ada").add(content)
    execute("DELETE FROM mnestic.posting WHERE tenant_id = %s AND lexeme = 'porto'")

    answer, checks = await checked(app, new_key)

    assert answer.status_code == 200
    assert not checks["index"]["ok"]
    assert checks["index"]["found"] == "2 entries looked at, 1 are not found by their words"
    assert "mnestic maintenance run monthly" in checks["index"]["remedy"]


async def test_a_schema_of_another_version_is_down(
    app: FastAPI, new_key: NewKey, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mnestic.starter.health.postgres.SCHEMA_VERSION", "9999")

    answer, checks = await checked(app, new_key)

    assert (answer.status_code, answer.json()["status"]) == (503, "down")
    assert not checks["migrations"]["ok"]


async def test_a_schedule_that_is_late_and_a_backup_that_is_missing_are_named(
    app: FastAPI,
    new_key: NewKey,
    client: MnesticClient,
    memory: Memory,
    settings: Settings,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with_backups = settings.model_copy(update={"backup_directory": settings.data_dir})
    await create_schedules(memory, client.temporal, with_backups)
    _, before = await checked(app, new_key)
    monkeypatch.setattr(memory_checks, "_LATE", -timedelta(days=40))

    _, checks = await checked(app, new_key)

    assert before["schedules"]["ok"]
    assert "nightly should have run at" in checks["schedules"]["found"]
    assert not checks["schedules"]["ok"]
    assert checks["backups"] == before["backups"]
    assert (checks["backups"]["ok"], checks["backups"]["found"]) == (False, "there is none yet")


@pytest.mark.parametrize(
    ("kind", "days", "ran_days", "why"),
    [
        ("weekly", 7, None, None),
        ("weekly", 9, None, "weekly missed a run after 2027-03-21 12:00 UTC"),
        ("weekly", 9, 2, None),  # by hand
        ("nightly", 3, None, "nightly missed a run after 2027-03-27 12:00 UTC"),
        ("monthly", 35, None, None),
        ("monthly", 70, 40, "monthly missed a run after 2027-02-18 12:00 UTC"),
    ],
)
def test_a_run_that_was_missed_is_named_until_one_makes_up_for_it(
    kind: MaintenanceKind, days: int, ran_days: int | None, why: str | None
) -> None:
    now = datetime(2027, 3, 30, 12, tzinfo=UTC)
    schedule = MaintenanceSchedule(
        kind=kind,
        state="active",
        note=None,
        last_run_at=now - timedelta(days=days),
        next_run_at=now + timedelta(days=1),
        created_at=now - timedelta(days=400),
    )
    ran = None if ran_days is None else now - timedelta(days=ran_days)

    times = MaintenancePolicy().times(kind)

    assert memory_checks.find_problem(schedule, times, ran=ran, now=now) == why
