"""Waits of a job whose database is held up for longer than a workflow task may last."""

from collections.abc import Awaitable, Callable
from typing import Any

import psycopg
import pytest
from temporalio.client import WorkflowHandle

from mnestic.memory.jobs.agent_job import JobStatus
from mnestic.memory.names import STATUS
from mnestic.starter.client.mnestic_client import MnesticClient
from mnestic.starter.jobs.plans import parse_plan

pytestmark = pytest.mark.acceptance  # it waits for an activity's time limit

Until = Callable[..., Awaitable[Any]]
UntilState = Callable[[str, str], Awaitable[Any]]


@pytest.mark.usefixtures("worker")
async def test_a_wait_is_opened_and_ended_once_by_ordinary_activities_in_their_place(
    client: MnesticClient,
    admin_url: str,
    until: Until,
    until_state: UntilState,
    handle_of: Callable[[str], WorkflowHandle[Any, Any]],
    loop: str,
) -> None:
    async def goes_on_as(name: str) -> bool:
        described = await handle_of(job_id).describe()
        pending = described.raw_description.pending_activities
        return [activity.activity_type.name for activity in pending] == [name]

    async with await psycopg.AsyncConnection.connect(admin_url) as connection:
        await connection.execute("LOCK TABLE mnestic.job_wait IN SHARE MODE")
        plan = parse_plan(loop, source="test")
        job_id = await client.start_job(plan, agent_id="ada", session_id="s1")
        await until(lambda: goes_on_as("mnestic.open_wait"))
    await until_state(job_id, "waiting")
    status = await handle_of(job_id).query(STATUS, result_type=JobStatus)
    async with await psycopg.AsyncConnection.connect(admin_url) as connection:
        await connection.execute("LOCK TABLE mnestic.job_wait IN SHARE MODE")
        await client.resume_job(job_id, {"text": "last", "last": True}, by="signal")
        await until(lambda: goes_on_as("mnestic.restore"))
    result = await client.wait_for_result(job_id)

    (wait,) = (await client.describe_job(job_id)).waits
    assert status.open_wait is not None
    assert (wait.wait_id, wait.snapshot_id) == (f"{job_id}/w1", status.open_wait.snapshot.id)
    assert (wait.state, result.waits) == ("resumed", 1)
