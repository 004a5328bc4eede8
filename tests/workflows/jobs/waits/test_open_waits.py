"""Which wait of a job is open, as a client finds it, and which ones it is shown."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from datetime import timedelta
from typing import Any

import psycopg
import pytest

from mnestic.memory.errors import InvalidInputError, NotFoundError
from mnestic.memory.jobs.agent_job import JobStatus
from mnestic.memory.names import STATUS
from mnestic.starter.client.mnestic_client import MnesticClient
from mnestic.starter.jobs.plans import parse_plan
from mnestic.stores.postgres.memory import PostgresMemory

StartWaiting = Callable[..., Awaitable[str]]
Until = Callable[..., Awaitable[Any]]


@pytest.fixture
async def without_postgres(client: MnesticClient) -> AsyncIterator[MnesticClient]:
    """A client whose Postgres does not answer."""
    memory = PostgresMemory("postgresql://app@127.0.0.1:9/mnestic", pool_size=1)
    endpoints, settings = client.endpoints, client.settings
    yield MnesticClient(client.temporal, memory, settings=settings, endpoints=endpoints)
    await memory.close()


@pytest.mark.parametrize("answers", [True, False])
async def test_a_request_that_is_left_with_temporal_is_for_the_wait_that_was_open_then(
    client: MnesticClient,
    without_postgres: MnesticClient,
    run_worker: Callable[[], AbstractAsyncContextManager[None]],
    start_waiting: StartWaiting,
    handle_of: Callable[[str], Any],
    until: Until,
    loop: str,
    *,
    answers: bool,
) -> None:
    async def waits_again() -> bool:
        return len((await client.describe_job(job_id)).waits) == 2

    async with run_worker():
        job_id = await start_waiting(loop)
    text = {"text": "a", "last": False}
    await client.resume_job(job_id, text, request_id="r1", by="signal")
    sender = client if answers else without_postgres
    receipt = await sender.resume_job(job_id, text, request_id="r2", limit=timedelta(seconds=1))

    async with run_worker():
        await until(waits_again)
        status = await handle_of(job_id).query(STATUS, result_type=JobStatus)
    wait = await client.find_open_wait(job_id)

    assert receipt is None
    assert wait is not None
    assert wait.wait_id == f"{job_id}/w2"
    (refused,) = status.refused
    assert refused.startswith(f"r2: wait {job_id}/w1 is")


async def test_a_job_that_does_not_wait_has_no_open_wait(
    client: MnesticClient, greeting: str
) -> None:
    plan = parse_plan(greeting, source="test")
    job_id = await client.start_job(plan, agent_id="ada", session_id="s1", inputs={"name": "Mara"})

    assert await client.find_open_wait(job_id) is None
    with pytest.raises(NotFoundError, match="job nobody"):
        await client.find_open_wait("nobody")


@pytest.mark.usefixtures("worker")
async def test_a_job_that_was_terminated_at_its_wait_has_no_open_wait(
    client: MnesticClient, start_waiting: StartWaiting, handle_of: Callable[[str], Any]
) -> None:
    job_id = await start_waiting()

    await handle_of(job_id).terminate()

    assert await client.find_open_wait(job_id) is None


@pytest.mark.usefixtures("worker")
async def test_of_a_job_of_many_waits_the_latest_are_shown(
    client: MnesticClient, admin_url: str, start_waiting: StartWaiting
) -> None:
    job_id = await start_waiting()
    copied = (
        "INSERT INTO mnestic.job_wait SELECT (jsonb_populate_record(w, jsonb_build_object("
        "'wait_id', job_id || '/w' || n, 'state', 'cancelled', 'closed_at', now(),"
        " 'opened_at', opened_at + n * interval '1 s'))).*"
        " FROM mnestic.job_wait AS w, generate_series(2, 130) AS n WHERE w.job_id = %s"
    )
    async with await psycopg.AsyncConnection.connect(admin_url) as connection:
        await connection.execute(copied, [job_id])

    job = await client.describe_job(job_id)
    middle = await client.fork_job(job_id, wait=1)

    assert (job.earlier_waits, len(job.waits)) == (30, 100)
    assert [job.waits[0].wait_id, job.waits[-1].wait_id] == [f"{job_id}/w31", f"{job_id}/w130"]
    assert (await client.describe_job(middle)).forked_from == f"{job_id}/w1"
    with pytest.raises(InvalidInputError, match=f"job {job_id} has waits 1 to 130"):
        await client.fork_job(job_id, wait=131)
