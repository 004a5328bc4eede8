"""What a job continues with after a wait."""

import asyncio

import pytest

from mnestic.memory.errors import InvalidInputError, NotFoundError
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


@pytest.mark.usefixtures("worker")
async def test_it_has_the_place_in_the_plan_and_the_snapshot(client: MnesticClient) -> None:
    job_id = await start(client, until="waiting")

    found = await client.job_resumption(job_id)

    assert (found.wait.key, found.wait.context.cursor_node) == ("ask", "ask")
    assert found.snapshot_sha256 == (await client.diff_job(job_id)).snapshot_sha256
    assert found.redacted_at is None


@pytest.mark.usefixtures("worker")
async def test_a_wait_that_there_is_not_is_refused(client: MnesticClient) -> None:
    job_id = await start(client, until="waiting")

    with pytest.raises(InvalidInputError, match="has one wait, 1"):
        await client.job_resumption(job_id, 2)
    with pytest.raises(NotFoundError):
        await client.job_resumption("no-such-job")


async def test_the_plan_of_a_job_is_known_before_its_first_wait(client: MnesticClient) -> None:
    job_id = await start(client, until="running")  # no worker runs

    assert await client.job_plan(job_id) == parse_plan(PLAN, source="test")
    with pytest.raises(NotFoundError):
        await client.job_plan("no-such-job")


@pytest.mark.usefixtures("worker")
async def test_the_plan_of_a_waiting_job_is_the_one_that_the_wait_stored(
    client: MnesticClient,
) -> None:
    job_id = await start(client, until="waiting")

    assert await client.job_plan(job_id) == parse_plan(PLAN, source="test")
