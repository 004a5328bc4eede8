"""Whole jobs on a real Temporal and a real Postgres."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import Any

import pytest

from mnestic.memory.errors import ResumeRefusedError
from mnestic.starter.client import MnesticClient
from mnestic.starter.plans import parse_plan

ASK = """
name: greeting
nodes:
  - id: note
    kind: remember
    message: {role: user, content: "My name is ${input.name}."}
    records: [{namespace: profile, key: name, value: "${input.name}"}]
    next: look
  - id: look
    kind: recall
    records: [{namespace: profile, keys: [name, city]}]
    next: approval
  - id: approval
    kind: wait
    key: approval
    timeout: 21d
    on: {resumed: say, timeout: end}
  - id: say
    kind: emit
    channel: chat
    content: "Hello ${results.approval.payload.word}, ${input.name}."
    next: end
"""


async def until(ready: Callable[[], Awaitable[Any]], *, limit_s: float = 30) -> Any:
    """Asks until the answer is true, and returns it."""
    deadline = time.monotonic() + limit_s
    while not (found := await ready()):
        assert time.monotonic() < deadline, "the condition was not met in time"
        await asyncio.sleep(0.05)
    return found


async def start_waiting(client: MnesticClient) -> str:
    plan = parse_plan(ASK, source="test")
    job_id = await client.start_job(plan, agent_id="ada", session_id="s1", inputs={"name": "Mara"})

    async def parked() -> bool:
        return (await client.describe_job(job_id)).state == "waiting"

    await until(parked)
    return job_id


@pytest.mark.usefixtures("worker")
async def test_a_job_goes_on_with_the_memory_it_had(client: MnesticClient) -> None:
    job_id = await start_waiting(client)

    await client.resume_job(job_id, {"word": "dear"})
    result = await client.wait_for_result(job_id)

    state = await client.memory("ada").working_memory("s1")
    assert [message.content for message in state.messages] == [
        "My name is Mara.",
        "Hello dear, Mara.",
    ]
    assert result.waits == 1


@pytest.mark.usefixtures("worker")
async def test_a_request_sent_three_times_resumes_once(client: MnesticClient) -> None:
    job_id = await start_waiting(client)

    receipts = await asyncio.gather(
        *(client.resume_job(job_id, {"word": "dear"}, request_id="r1") for _ in range(3))
    )
    await client.wait_for_result(job_id)
    late = await client.resume_job(job_id, {"word": "dear"}, request_id="r1")

    assert {receipt.wait_id for receipt in [*receipts, late] if receipt} == {f"{job_id}/w1"}
    assert len(set(receipts) | {late}) == 1


@pytest.mark.usefixtures("worker")
async def test_what_changed_meanwhile_is_told_as_drift(client: MnesticClient) -> None:
    job_id = await start_waiting(client)
    await client.memory("ada").set("profile", "name", "Maria")
    await client.memory("ada").set("profile", "city", "Lisbon")

    await client.resume_job(job_id, {"word": "dear"})
    result = await client.wait_for_result(job_id)

    drift = result.results["approval"]["drift"]
    assert [(change["kind"], change["key"]) for change in drift] == [
        ("created", "city"),
        ("changed", "name"),
    ]


@pytest.mark.usefixtures("worker")
async def test_a_wait_ends_at_its_deadline(client: MnesticClient) -> None:
    plan = parse_plan(ASK.replace("21d", "1s"), source="test")
    job_id = await client.start_job(plan, agent_id="ada", session_id="s1", inputs={"name": "Mara"})

    result = await client.wait_for_result(job_id)

    assert result.results["approval"]["outcome"] == "timeout"
    assert [wait.state for wait in (await client.describe_job(job_id)).waits] == ["timed_out"]


@pytest.mark.usefixtures("worker")
async def test_a_resume_with_the_wrong_hash_is_refused(client: MnesticClient) -> None:
    job_id = await start_waiting(client)

    with pytest.raises(ResumeRefusedError, match="sha256"):
        await client.resume_job(job_id, {"word": "x"}, expected_sha256="0" * 64)

    assert (await client.describe_job(job_id)).state == "waiting"
    assert (
        timedelta(days=20)
        < (await client.describe_job(job_id)).waits[0].deadline
        - (await client.describe_job(job_id)).waits[0].opened_at
    )
