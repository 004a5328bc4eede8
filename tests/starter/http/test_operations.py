"""What operators do over HTTP: agents, exports, runs of maintenance, Schedules and the audit log."""

import json
from collections.abc import AsyncIterator

import httpx2
import pytest
from fastapi import FastAPI
from starlette.types import Message, Receive, Scope, Send

from mnestic.starter.client.mnestic_client import MnesticClient
from tests.starter.http.conftest import NewKey, opened
from tests.starter.http.routes import PLAN


@pytest.fixture
async def operator(app: FastAPI, new_key: NewKey) -> AsyncIterator[httpx2.AsyncClient]:
    """A client with a key for the whole tenant."""
    async with opened(app, await new_key(agents=("*",))) as http:
        yield http


async def test_the_audit_log_names_the_key_that_steers_jobs_and_maintenance(
    operator: httpx2.AsyncClient, client: MnesticClient
) -> None:
    await operator.patch("/v1/maintenance/policy", json={"path": "cleanup.enabled", "value": True})
    started = await operator.post(
        "/v1/jobs",
        params={"agent_id": "ada"},
        json={"plan": PLAN, "session_id": "s", "job_id": "order-1"},
    )
    await operator.post("/v1/jobs/order-1/cancel")
    (key,), _ = await client.api_keys().list()

    found, _ = await client.audit().list(key_id=key.id)

    assert started.status_code == 201
    allowed = [(one.agent_id, one.target) for one in found if one.action == "access.allowed"]
    assert allowed == [
        ("ada", "POST /v1/jobs/{job_id}/cancel: order-1"),
        ("ada", "POST /v1/jobs"),
        ("*", "PATCH /v1/maintenance/policy"),
    ]


async def test_head_of_an_export_reads_no_more_than_its_first_line(
    app: FastAPI, new_key: NewKey, client: MnesticClient
) -> None:
    parts = list[str]()

    async def watched(scope: Scope, receive: Receive, send: Send) -> None:
        async def count(message: Message) -> None:
            parts.append(message["type"])
            await send(message)

        await app(scope, receive, count)

    await client.memory("ada").add("I live in Ghent.")
    async with opened(watched, await new_key()) as http:
        answers = [
            await http.request(method, "/v1/memory/export") for method in ("HEAD", "HEAD", "GET")
        ]
        of_head = parts.index("http.response.start", 1)

    assert [one.status_code for one in answers] == [200] * 3
    assert parts[:of_head] == ["http.response.start", "http.response.body", "http.response.body"]
    assert len(parts) > 3 * of_head


async def test_an_export_can_be_imported_elsewhere(
    operator: httpx2.AsyncClient, client: MnesticClient
) -> None:
    await client.memory("ada").add("I live in Ghent.", source_id="1")

    answer = await operator.get("/v1/memory/export", params={"agent_id": "ada"})

    lines = [json.loads(line) for line in answer.text.splitlines()]
    assert answer.headers["Content-Type"].startswith("application/x-ndjson")
    assert "I live in Ghent." in json.dumps(lines)
