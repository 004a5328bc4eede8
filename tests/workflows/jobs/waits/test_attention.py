"""A job that needs attention waits for a person: what it keeps meanwhile, and who lets it go on."""

from datetime import timedelta

import psycopg
import pytest
from psycopg import sql

from mnestic.memory.errors import ResumeRefusedError, SnapshotUnverifiedError
from mnestic.memory.jobs.waits import DeferredRequest, Override
from tests.workflows.conftest import LOOP, Jobs

ONE = {"text": "one", "last": True}
pytestmark = pytest.mark.usefixtures("worker")


@pytest.fixture
async def kept(jobs: Jobs) -> str:
    """A job that keeps the request `r1`, sent by signal, since its snapshot has rotted."""
    job_id = await jobs.start_waiting(LOOP)
    jobs.rot()
    await jobs.resume_job(job_id, ONE, request_id="r1", by="signal", any_wait=True)
    await jobs.until_state(job_id, "needs_attention")
    return job_id


async def test_a_signal_that_is_kept_is_shown_and_resumes_once_the_snapshot_verifies(
    jobs: Jobs, kept: str
) -> None:
    await jobs.pass_days(kept, 3)
    held, status = await jobs.describe_job(kept), await jobs.status(kept)
    parked = await jobs.told(kept, "needs_attention")
    jobs.rot()
    await jobs.pass_days(kept, 2)

    shown = (DeferredRequest(request_id="r1", outcome="resumed"),)
    assert (held.state, held.deferred, status.deferred) == ("needs_attention", shown, shown)
    assert parked[0].detail["request_id"] == "r1"
    assert await jobs.resumed_by(kept) == ["r1"]
    assert await jobs.texts() == ["one"]


async def test_a_deadline_does_not_end_a_wait_that_needs_attention(jobs: Jobs) -> None:
    job_id = await jobs.start_waiting(LOOP)
    jobs.rot()
    await jobs.pass_days(job_id, 2)
    await jobs.until_state(job_id, "needs_attention")

    jobs.rot()
    await jobs.pass_days(job_id, 10)
    job = await jobs.describe_job(job_id)
    await jobs.override_job(job_id, reason="nobody came", outcome="timeout")

    assert (job.state, [wait.state for wait in job.waits]) == ("needs_attention", ["waiting"])
    assert job.deferred == ()
    assert (await jobs.wait_for_result(job_id)).results["turn"]["outcome"] == "timeout"


async def test_a_new_run_keeps_the_request_and_tries_it_again(jobs: Jobs, kept: str) -> None:
    async def was_tried_again() -> bool:
        return len(await jobs.told(kept, "needs_attention")) == 2

    await jobs.poke(kept)
    await jobs.until(was_tried_again)
    held = await jobs.describe_job(kept)
    jobs.rot()
    await jobs.poke_job(kept)

    assert (held.state, [each.request_id for each in held.deferred]) == ("needs_attention", ["r1"])
    assert await jobs.resumed_by(kept) == ["r1"]


@pytest.mark.parametrize("by", ["update", "signal"])
async def test_an_override_under_the_id_of_a_kept_request_lets_that_go_on(
    jobs: Jobs, kept: str, by: str
) -> None:
    reason = "the disk is broken"
    if by == "signal":
        await jobs.signal(kept, "r1", override=Override(reason=reason))
        await jobs.wait_for_result(kept)
    else:
        await jobs.override_job(kept, reason=reason, request_id="r1")

    receipt = await jobs.resume_job(kept, ONE, request_id="r1")
    assert receipt is not None
    assert receipt.override is not None
    assert not receipt.verified
    assert await jobs.resumed_by(kept) == ["r1"]
    assert await jobs.texts() == ["one"]


@pytest.mark.parametrize("by", ["override", "resume"])
async def test_a_kept_request_is_told_as_refused_when_another_one_resumes(
    jobs: Jobs, kept: str, by: str
) -> None:
    more = {"text": "two", "last": False}
    if by == "override":
        await jobs.override_job(kept, more, reason="the disk is broken", request_id="r2")
    else:
        jobs.rot()
        await jobs.resume_job(kept, more, request_id="r2")
    await jobs.until_state(kept, "waiting")

    status = await jobs.status(kept)
    with pytest.raises(ResumeRefusedError, match=f"wait {kept}/w1"):
        await jobs.resume_job(kept, ONE, request_id="r1", wait_id=f"{kept}/w1")

    assert status.refused == (f"r1: wait {kept}/w1 was resumed by r2",)
    assert (status.deferred, status.waits) == ((), 2)


async def test_an_update_whose_sender_had_to_leave_it_as_a_signal_is_kept(
    admin_url: str, jobs: Jobs
) -> None:
    job_id = await jobs.start_waiting(LOOP)
    jobs.rot()
    async with await psycopg.AsyncConnection.connect(admin_url) as connection:
        await connection.execute("LOCK mnestic.memory_snapshot IN ACCESS EXCLUSIVE MODE")
        receipt = await jobs.resume_job(job_id, ONE, request_id="r1", limit=timedelta(seconds=1))
        await jobs.until_at_work(job_id)
        await jobs.status(job_id)
    job = await jobs.until_state(job_id, "needs_attention")

    assert receipt is None
    assert [each.request_id for each in job.deferred] == ["r1"]


async def test_a_job_whose_wait_the_database_does_not_have_goes_on_by_an_override(
    admin_url: str, jobs: Jobs
) -> None:
    """As in a database that was restored to an earlier moment."""
    job_id = await jobs.start_waiting(LOOP)
    with psycopg.connect(admin_url) as owner:
        for table in ("job_wait", "memory_snapshot", "operation"):
            query = sql.SQL("DELETE FROM mnestic.{} WHERE tenant_id = %s")
            owner.execute(query.format(sql.Identifier(table)), [jobs.settings.tenant_id])

    with pytest.raises(SnapshotUnverifiedError):
        await jobs.resume_job(job_id, ONE, request_id="r1")
    await jobs.until_state(job_id, "needs_attention")
    receipt = await jobs.override_job(job_id, ONE, reason="restored", request_id="r2")

    assert receipt is not None
    assert (receipt.verified, receipt.request_id) == (False, "r2")
    await jobs.result(job_id)
