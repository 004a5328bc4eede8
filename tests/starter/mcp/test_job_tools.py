import asyncio
import uuid
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from typing import Any

import pytest
from mcp import Client

from tests.starter.mcp.approval import PLAN

Connect = Callable[..., AbstractAsyncContextManager[Client]]


async def call(client: Client, name: str, **arguments: Any) -> dict[str, Any]:
    result = await client.call_tool(name, arguments)
    assert not result.is_error, result.content
    assert result.structured_content is not None
    return result.structured_content


async def waiting(client: Client) -> list[dict[str, Any]]:
    """The waiting jobs, once there is one with an open wait."""
    async with asyncio.timeout(30):
        while True:
            jobs: list[dict[str, Any]] = (await call(client, "list_waiting_jobs"))["jobs"]
            if jobs and jobs[0]["wait_id"]:
                return jobs
            await asyncio.sleep(0.05)


@pytest.mark.usefixtures("worker")
async def test_a_job_is_started_found_waiting_and_resumed(connect: Connect) -> None:
    agent, job_id = f"buyer-{uuid.uuid4().hex[:8]}", f"order-{uuid.uuid4().hex[:8]}"

    async with connect(agent) as client, connect("stranger") as stranger:
        await call(client, "start_job", plan=PLAN, session_id=job_id, job_id=job_id)
        (job,) = await waiting(client)
        malformed = await client.call_tool(
            "resume_job", {"job_id": job_id, "outcome": "approved", "payload": {}}
        )
        foreign = await stranger.call_tool("resume_job", {"job_id": job_id, "outcome": "approved"})
        answer = {"job_id": job_id, "outcome": "approved", "payload": {"by": "Ida"}}
        resumed = await call(client, "resume_job", **answer, wait_id=job["wait_id"])
        again = await call(client, "resume_job", **answer, request_id=resumed["request_id"])

    assert (job["job_id"], job["ask"]) == (job_id, "Order for 1900 EUR?")
    assert set(job["outcomes"]) >= {"approved"}
    assert job["form"]["required"] == ["by"]
    assert malformed.is_error
    assert foreign.is_error
    assert "no job" in str(foreign.content)
    assert resumed["accepted"]
    assert resumed["verified"]
    assert again == resumed
