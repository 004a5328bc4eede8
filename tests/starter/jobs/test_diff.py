"""Snapshots of real jobs against memory now."""

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from mnestic.starter.client.mnestic_client import MnesticClient
from mnestic.starter.jobs.plans import parse_plan

PLAN = """
name: twice
nodes:
  - {id: note, kind: remember, records: [{namespace: p, key: name, value: Mara}], next: first}
  - {id: first, kind: wait, key: first, timeout: TIMEOUT, on: {resumed: say, timeout: say}}
  - {id: say, kind: emit, channel: chat, content: "Hello", next: second}
  - {id: second, kind: wait, key: second, timeout: 1d, on: {resumed: end, timeout: end}}
"""
UntilWait = Callable[[str, int], Awaitable[None]]


@pytest.fixture
def until_wait(client: MnesticClient) -> UntilWait:
    """Waits until a job is at its n-th wait."""

    async def until(job_id: str, number: int) -> None:
        async with asyncio.timeout(30):
            job = await client.describe_job(job_id)
            while (job.state, len(job.waits)) != ("waiting", number):
                await asyncio.sleep(0.05)
                job = await client.describe_job(job_id)

    return until


async def _start(client: MnesticClient, *, timeout_of_first: str = "21d") -> str:
    plan = parse_plan(PLAN.replace("TIMEOUT", timeout_of_first), source="test")
    return await client.start_job(plan, agent_id="ada", session_id="s1")


@pytest.mark.usefixtures("worker")
async def test_the_open_wait_is_compared_unless_another_is_named(
    client: MnesticClient, until_wait: UntilWait
) -> None:
    job_id = await _start(client, timeout_of_first="1s")
    await until_wait(job_id, 2)

    now, first = await client.diff_job(job_id), await client.diff_job(job_id, 1)
    by_id = await client.diff_job(job_id, f"{job_id}/w1")

    assert (now.wait_id, now.drift_count) == (f"{job_id}/w2", 0)
    assert (first.wait_id, first.state) == (f"{job_id}/w1", "timed_out")
    assert len(first.snapshot_sha256) == 64  # which the history has, since no request named it
    assert len(first.working_memory.messages_added) == 1
    assert by_id.working_memory == first.working_memory
