"""Waits that ask for a form: approvals by people."""

import pytest

from mnestic.memory.errors import ResumeRefusedError
from tests.workflows.conftest import Jobs, plan_of

pytestmark = pytest.mark.usefixtures("worker")
PLAN = plan_of("approval")
FITTING = {"amount": 3, "by": "Ana"}


async def test_updates_signals_and_what_came_early_are_held_to_the_form(jobs: Jobs) -> None:
    job_id = await jobs.start_waiting(PLAN)

    await jobs.resume_job(
        job_id, {}, outcome="approved", request_id="r0", by="signal", any_wait=True
    )
    with pytest.raises(ResumeRefusedError, match=r"payload\.amount: -3 is less than the minimum"):
        await jobs.resume_job(job_id, {"amount": -3, "by": "Ana"}, outcome="approved")
    before = await jobs.describe_job(job_id)
    await jobs.resume_job(
        job_id, FITTING, outcome="approved", request_id="r1", by="signal", any_wait=True
    )
    await jobs.resume_job(job_id, FITTING, request_id="r2", by="signal", any_wait=True)
    result = await jobs.wait_for_result(job_id)

    signalled, early = (await jobs.status(job_id)).refused
    assert before.state == "waiting"
    assert signalled.startswith('r0: payload: "amount" is a required property; payload: "by" is')
    assert early.startswith("r2: payload: ")
    assert early.endswith('is not of type "integer"')
    assert result.results["approval"]["payload"] == FITTING
    assert result.results["again"]["outcome"] == "timeout"
