"""Jobs that wait for a fact."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta

import pytest

from mnestic.memory.errors import InvalidInputError, ResumeRefusedError
from mnestic.starter.jobs.plans import parse_plan
from mnestic.starter.polls.wait_poll import wait_poll
from tests.workflows.conftest import Jobs

APPROVAL = """
name: approval
nodes:
  - id: hold
    kind: wait
    key: approval
    timeout: 1d
    fact: {subject: "${input.order}", predicate: approved_by}
    on: {fact: note, resumed: end, timeout: end}
  - {id: note, kind: remember, message: {role: assistant, content: "${results.hold.payload.object}"}, next: end}
"""
ORDER = {"order": "Order-77"}


@asynccontextmanager
async def sending(jobs: Jobs) -> AsyncIterator[None]:
    async with wait_poll(jobs._memory, jobs.temporal, tenants=[jobs.settings.tenant_id]):
        yield


@pytest.mark.usefixtures("worker")
async def test_a_fact_resumes_the_job_once_it_holds(jobs: Jobs) -> None:
    facts, moment = jobs.memory("ada").facts, datetime.now(UTC)
    await facts.add("order-77", "approved_by", "Otto", valid_to=moment - timedelta(days=1))
    await facts.add("order-77", "approved_by", "Pia", valid_from=moment + timedelta(days=9))
    await facts.add("order-78", "approved_by", "Quinn")
    async with sending(jobs):
        job_id = await jobs.start_waiting(APPROVAL, inputs=ORDER)
        (change, *_) = await facts.add("order-77", "approved_by", "Mara")
        result = await jobs.result(job_id)

    outcome = result.results["hold"]
    assert (outcome["outcome"], outcome["payload"]["id"]) == ("fact", change.fact.id)
    assert await jobs.texts() == ["Mara"]
    (wait,) = await jobs.waits(job_id)
    assert (wait.state, wait.receipt and wait.receipt.verified) == ("resumed", True)


@pytest.mark.usefixtures("worker")
async def test_a_fact_that_holds_when_the_job_parks_resumes_it(jobs: Jobs) -> None:
    await jobs.memory("ada").facts.add("order-77", "approved_by", "Mara")
    wanted = APPROVAL.replace("approved_by}", "approved_by, object: mara}")
    async with sending(jobs):
        result = await jobs.run(wanted, inputs=ORDER)

    assert result.results["hold"]["outcome"] == "fact"


@pytest.mark.parametrize("in_time", [True, False])
async def test_without_a_worker_counts_what_was_recorded_before_the_deadline(
    jobs: Jobs, *, in_time: bool
) -> None:
    facts = jobs.memory("ada").facts
    async with jobs.worker():
        job_id = await jobs.start_waiting(
            APPROVAL.replace("1d", "1s" if not in_time else "1d"), inputs=ORDER
        )
    if in_time:
        await facts.add("order-77", "approved_by", "Mara")
        await jobs.pass_deadline(job_id)
    else:
        await jobs.until_fired(job_id)
        await facts.add("order-77", "approved_by", "Mara")
    async with sending(jobs), jobs.worker():
        result = await jobs.result(job_id)

    assert result.results["hold"]["outcome"] == ("fact" if in_time else "timeout")


@pytest.mark.usefixtures("worker")
async def test_nobody_pretends_a_fact_nor_that_one_is_believed_still(jobs: Jobs) -> None:
    facts = jobs.memory("ada").facts
    job_id = await jobs.start_waiting(APPROVAL, inputs=ORDER)
    (change, *_) = await facts.add("order-77", "approved_by", "Mara")
    await facts.delete(change.fact.id)

    with pytest.raises(
        ResumeRefusedError, match="has got no fact; only one that is stored ends it so"
    ):
        await jobs.resume_job(job_id, change.fact.model_dump(mode="json"), outcome="fact")

    (wait,) = await jobs.waits(job_id)
    assert (wait.answers, str(wait.condition)) == (("resumed",), "the fact Order-77 approved_by …")
    await jobs.resume_job(job_id)
    assert (await jobs.result(job_id)).results["hold"]["outcome"] == "resumed"


@pytest.mark.parametrize(
    ("written", "why"),
    [
        (APPROVAL.replace("{fact: note, ", "{"), "on has to name a successor of the outcome fact"),
        (APPROVAL.replace("approved_by}", "Approved by}"), "predicate"),
        (
            APPROVAL.replace("    on:", "    event: {channel: news}\n    on:"),
            "a wait has an event or a fact, not both",
        ),
    ],
)
def test_a_plan_that_cannot_wait_so_is_refused(written: str, why: str) -> None:
    with pytest.raises(InvalidInputError, match=why):
        parse_plan(written, source="test")
