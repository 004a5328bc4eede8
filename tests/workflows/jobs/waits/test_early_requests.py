"""Requests for a wait that the job has not opened yet, as far as its run knows.

It comes next, or an attempt has opened it which was lost: then its sender knows it from the database.
"""

from datetime import UTC, datetime, timedelta

import pytest
from temporalio.testing import ActivityEnvironment
from temporalio.worker import Replayer

from mnestic.activities.jobs.waits import OpenWaitInput, WaitActivities
from mnestic.memory.errors import ResumeRefusedError
from mnestic.memory.jobs.snapshots import SnapshotRef
from mnestic.memory.jobs.waits import ResumptionContext
from mnestic.memory.names import wait_id, wait_operation_key
from mnestic.memory.operations import Operation
from mnestic.memory.ports import Memory
from mnestic.memory.scope import Scope
from mnestic.stores.postgres.jobs.recalls import ScopeRetriever
from mnestic.workflows.plugin import MnesticPlugin
from tests.workflows.conftest import DAY, LOOP, Jobs, plan_of

LAST = {"text": "last", "last": True}
SLOW = plan_of("slow")


@pytest.fixture
def limit() -> timedelta:
    """How long the wait is open that a lost attempt opened."""
    return DAY


@pytest.fixture
async def opened(memory: Memory, jobs: Jobs, limit: timedelta) -> SnapshotRef:
    """The snapshot of the first wait of the job `lost`, which an attempt has opened that was lost."""
    plan = LOOP.replace("1d", f"{limit.seconds}s" if limit.seconds else "1d")
    job_id = await jobs.start(plan, job_id="lost")
    started = (await jobs.describe_job(job_id)).started_at
    wait = wait_id(job_id, 1)
    opened: SnapshotRef = await ActivityEnvironment().run(
        WaitActivities(memory, ScopeRetriever()).open_wait,
        OpenWaitInput(
            scope=Scope(tenant_id=jobs.settings.tenant_id, agent_id="ada", session_id="s1"),
            operation=Operation(
                key=wait_operation_key(wait, "open_wait"),
                name="open_wait",
                job_id=job_id,
                chain=(await jobs.handle(job_id).describe()).run_id,
            ),
            wait_id=wait,
            key="turn",
            policy="rebase",
            context=ResumptionContext(cursor_node="turn", plan_decision_id="p"),
            opened_at=started,
            deadline=started + limit,
        ),
    )
    return opened


async def test_a_wait_that_a_lost_attempt_opened_is_the_one_that_an_update_which_names_it_resumes(
    jobs: Jobs, opened: SnapshotRef
) -> None:
    started = (await jobs.describe_job("lost")).started_at
    await jobs.memory("ada").records.set("order", "price", 12)
    sending = await jobs.resume_ahead("lost", LAST, request_id="r1", wait_id="lost/w1")

    async with jobs.worker():
        receipt = await sending
        result = await jobs.wait_for_result("lost")

    (stored,) = await jobs.waits("lost")
    assert (receipt.wait_id, receipt.snapshot_sha256) == ("lost/w1", opened.sha256)
    assert (stored.snapshot_id, stored.deadline) == (opened.id, started + DAY)
    assert result.waits == 1


@pytest.mark.usefixtures("opened")
@pytest.mark.parametrize("limit", [timedelta(seconds=4)])
@pytest.mark.parametrize("named", [True, False])
async def test_a_signal_that_came_in_time_stays_so_in_a_new_run(
    jobs: Jobs, limit: timedelta, *, named: bool
) -> None:
    async def is_past() -> bool:
        return datetime.now(UTC) > job.started_at + limit

    job = await jobs.describe_job("lost")
    await jobs.signal("lost", wait_id="lost/w1" if named else None, payload=LAST)
    await jobs.poke_job("lost")  # goes on in a new run before it comes to the wait
    await jobs.until(is_past)

    async with jobs.worker():
        assert await jobs.resumed_by("lost") == ["r1"]


async def test_a_signal_and_an_update_that_come_before_the_first_line_replay(jobs: Jobs) -> None:
    await jobs.start(LOOP, job_id="early")
    await jobs.signal("early", wait_id="early/w1", payload=LAST)
    sending = await jobs.resume_ahead("early", LAST, request_id="r1", wait_id="early/w1")

    async with jobs.worker():
        receipt = await sending
        await jobs.wait_for_result("early")
    history = await jobs.handle("early").fetch_history()

    assert receipt is not None
    await Replayer(workflows=[], plugins=[MnesticPlugin()]).replay_workflow(history)


async def test_an_update_for_the_wait_that_comes_next_goes_along_into_a_new_run_and_a_later_one_not(
    jobs: Jobs,
) -> None:
    job_id = await jobs.start(SLOW, job_id="slow")
    first = (await jobs.handle(job_id).describe()).run_id
    await jobs.poke_job(job_id)  # goes on in a new run before it opens a wait
    later = await jobs.resume_ahead(job_id, LAST, request_id="r2", wait_id="slow/w2")
    sending = await jobs.resume_ahead(job_id, LAST, wait_id="slow/w1")

    async with jobs.worker():
        with pytest.raises(ResumeRefusedError, match="wait slow/w2 is not open"):
            await later
        receipt = await sending
        await jobs.wait_for_result(job_id)

    assert receipt.wait_id == "slow/w1"
    assert (await jobs.handle(job_id).describe()).run_id != first
