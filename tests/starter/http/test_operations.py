"""What operators do over HTTP: agents, exports, runs of maintenance, Schedules and the audit log."""

import json
from collections.abc import AsyncIterator

import httpx2
import pytest
from fastapi import FastAPI

from mnestic.memory.names import maintenance_workflow_id
from mnestic.memory.ports import Memory
from mnestic.starter.client.mnestic_client import MnesticClient
from mnestic.starter.maintenance_wiring import create_schedules
from mnestic.starter.settings import Settings
from tests.starter.http.conftest import NewKey, opened
from tests.starter.http.routes import PLAN


@pytest.fixture
async def operator(app: FastAPI, new_key: NewKey) -> AsyncIterator[httpx2.AsyncClient]:
    """A client with a key for the whole tenant."""
    async with opened(app, await new_key(agents=("*",))) as http:
        yield http


async def test_agents_are_listed_in_pages(
    operator: httpx2.AsyncClient, client: MnesticClient
) -> None:
    for agent in ("ada", "bert", "cleo"):
        await client.memory(agent).add("I live in Ghent.")

    first = (await operator.get("/api/agents", params={"limit": 2})).json()
    last = (
        await operator.get("/api/agents", params={"limit": 2, "cursor": first["next_cursor"]})
    ).json()

    assert [one["agent_id"] for one in first["items"]] == ["ada", "bert"]
    assert [one["agent_id"] for one in last["items"]] == ["cleo"]
    assert last["next_cursor"] is None


async def test_a_run_that_is_started_again_with_its_key_is_the_same_run(
    operator: httpx2.AsyncClient,
) -> None:
    key = {"Idempotency-Key": "tonight"}

    answers = [
        await operator.post("/jobs/weekly", json={"dry_run": True}, headers=key) for _ in range(2)
    ]
    without = await operator.post("/jobs/weekly", json={"dry_run": True})
    other = await operator.post("/jobs/weekly", json={}, headers=key)

    assert [answer.status_code for answer in answers] == [202, 202]
    assert answers[0].json() == answers[1].json() != without.json()
    assert other.status_code == 409


async def test_a_kind_that_is_none_is_refused(operator: httpx2.AsyncClient) -> None:
    answer = await operator.post("/jobs/hourly", json={})

    assert answer.status_code == 422
    assert answer.json()["errors"][0]["path"] == "path.kind"
    assert "'nightly'" in answer.json()["errors"][0]["allowed"]


async def test_a_schedule_is_paused_and_resumed(
    operator: httpx2.AsyncClient, client: MnesticClient, memory: Memory, settings: Settings
) -> None:
    with_backups = settings.model_copy(update={"backup_directory": settings.data_dir})
    await create_schedules(memory, client.temporal, with_backups)

    paused = await operator.post("/api/schedules/weekly/pause", json={"note": "until Monday"})
    listed = await operator.get("/api/schedules")
    resumed = await operator.post("/api/schedules/weekly/resume", json={})
    later = await operator.get("/api/schedules")

    (weekly,) = [one for one in listed.json()["items"] if one["kind"] == "weekly"]
    (again,) = [one for one in later.json()["items"] if one["kind"] == "weekly"]
    assert (paused.status_code, resumed.status_code) == (204, 204)
    assert (weekly["state"], weekly["note"], again["state"]) == ("paused", "until Monday", "active")


async def test_a_policy_is_changed_once_for_a_key(operator: httpx2.AsyncClient) -> None:
    path, key = "/api/maintenance/policy", {"Idempotency-Key": "less"}
    change = {"path": "cleanup.max_entries", "value": 500}

    first = await operator.patch(path, json=change, headers=key)
    await operator.patch(path, json={**change, "value": 400})
    again = await operator.patch(path, json=change, headers=key)
    read = await operator.get(path)

    assert first.json() == again.json()
    assert read.json()["cleanup"]["max_entries"] == 400


async def test_a_period_is_made_up_for_once_for_a_key(
    operator: httpx2.AsyncClient, client: MnesticClient, memory: Memory, settings: Settings
) -> None:
    await create_schedules(memory, client.temporal, settings)
    path, key = "/api/schedules/weekly/backfill", {"Idempotency-Key": "october"}
    period = {"since": "2026-10-01T00:00:00Z", "until": "2026-10-15T00:00:00Z"}
    name = maintenance_workflow_id(client.settings.tenant_id, "weekly")

    answers = [await operator.post(path, json=period, headers=key) for _ in range(2)]
    other = await operator.post(path, json={**period, "until": "2026-10-08T00:00:00Z"}, headers=key)

    assert [answer.status_code for answer in (*answers, other)] == [202, 202, 409]
    scheduler = client.temporal.get_workflow_handle(f"temporal-sys-scheduler:{name}")
    signals = [
        event.workflow_execution_signaled_event_attributes.signal_name
        async for event in scheduler.fetch_history_events()
    ]
    assert signals.count("patch") == 1


async def test_the_audit_log_names_the_key_that_steers_jobs_and_maintenance(
    operator: httpx2.AsyncClient, client: MnesticClient
) -> None:
    await operator.patch("/api/maintenance/policy", json={"path": "cleanup.enabled", "value": True})
    started = await operator.post(
        "/api/jobs",
        params={"agent_id": "ada"},
        json={"plan": PLAN, "session_id": "s", "job_id": "order-1"},
    )
    await operator.post("/api/jobs/order-1/cancel")
    (key,), _ = await client.api_keys().list()

    found, _ = await client.audit().list(key_id=key.id)

    assert started.status_code == 201
    allowed = [(one.agent_id, one.target) for one in found if one.action == "access.allowed"]
    assert allowed == [
        ("ada", "POST /api/jobs/{job_id}/cancel: order-1"),
        ("ada", "POST /api/jobs"),
        ("*", "PATCH /api/maintenance/policy"),
    ]


async def test_the_audit_log_names_what_a_key_did(
    operator: httpx2.AsyncClient, client: MnesticClient
) -> None:
    (key,), _ = await client.api_keys().list()
    await operator.get("/retrieve", params={"q": "Where does Mara live?", "agent_id": "ada"})

    answer = await operator.get("/api/audit", params={"key": key.id, "agent": "ada"})

    assert [one["action"] for one in answer.json()["items"]] == ["entry.search"]


async def test_an_export_can_be_imported_elsewhere(
    operator: httpx2.AsyncClient, client: MnesticClient
) -> None:
    await client.memory("ada").add("I live in Ghent.", source_id="1")

    answer = await operator.get("/api/memory/export", params={"agent_id": "ada"})

    lines = [json.loads(line) for line in answer.text.splitlines()]
    assert answer.headers["Content-Type"].startswith("application/x-ndjson")
    assert "I live in Ghent." in json.dumps(lines)
