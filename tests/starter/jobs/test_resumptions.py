"""What a job continues with after a wait."""

import asyncio

import pytest

from mnestic.memory.errors import NotFoundError
from mnestic.starter.client.mnestic_client import MnesticClient
from mnestic.starter.jobs.plans import parse_plan

PLAN = """
name: once
nodes:
  - {id: note, kind: remember, records: [{namespace: p, key: name, value: Mara}], next: ask}
  - {id: ask, kind: wait, key: ask, timeout: 1d, on: {resumed: end, timeout: end}}
"""


async def start(client: MnesticClient, *, until: str) -> str:
    job_id = await client.start_job(
        parse_plan(PLAN, source="test"), agent_id="ada", session_id="s1"
    )
    async with asyncio.timeout(30):
        while (await client.describe_job(job_id)).state != until:  # noqa: ASYNC110 - Temporal's
            await asyncio.sleep(0.05)
    return job_id


async def test_the_plan_of_a_job_is_known_before_its_first_wait(client: MnesticClient) -> None:
    job_id = await start(client, until="running")  # no worker runs

    assert await client.job_plan(job_id) == parse_plan(PLAN, source="test")
    assert (await client.describe_job(job_id)).failing == ()
    with pytest.raises(NotFoundError):
        await client.job_plan("no-such-job")


@pytest.mark.usefixtures("worker")
async def test_the_plan_of_a_waiting_job_is_the_one_that_the_wait_stored(
    client: MnesticClient,
) -> None:
    job_id = await start(client, until="waiting")

    assert await client.job_plan(job_id) == parse_plan(PLAN, source="test")
