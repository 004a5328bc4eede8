"""Waits that ask for a form: approvals by people."""

from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from temporalio.api.sdk.v1 import WorkflowMetadata

from mnestic.memory.errors import JobFailedError, ResumeRefusedError, SnapshotUnverifiedError
from mnestic.memory.jobs.agent_job import JobStatus
from mnestic.memory.names import STATUS, job_workflow_id
from mnestic.starter.client.mnestic_client import MnesticClient

pytestmark = pytest.mark.usefixtures("worker")
StartWaiting = Callable[..., Awaitable[str]]
Until = Callable[..., Awaitable[Any]]
PLAN = """
name: approval
nodes:
  - id: approval
    kind: wait
    key: approval
    ask: May ${input.name} have it?
    form:
      type: object
      properties:
        amount: {type: number, minimum: 0}
        by: {type: string, enum: [Ana, "a | b"]}
        note: {type: string}
      required: [amount, by]
    timeout: 21d
    on: {approved: again, timeout: end}
  - {id: again, kind: wait, key: again, timeout: 1s, form: {type: integer}, on: {resumed: end, timeout: end}}
"""
FITTING = {"amount": 3, "by": "Ana"}


async def test_a_payload_that_does_not_fit_is_refused_and_the_job_goes_on_waiting(
    client: MnesticClient, start_waiting: StartWaiting
) -> None:
    job_id = await start_waiting(PLAN)

    with pytest.raises(ResumeRefusedError, match=r"payload\.amount: -3 is less than the minimum"):
        await client.resume_job(job_id, {"amount": -3, "by": "Ana"}, outcome="approved")
    receipt = await client.resume_job(job_id, FITTING, outcome="approved")
    result = await client.wait_for_result(job_id)

    assert receipt is not None
    assert result.results["approval"]["payload"] == FITTING
    assert result.results["again"]["outcome"] == "timeout"


async def test_a_signal_is_held_to_the_form_as_well(
    client: MnesticClient, start_waiting: StartWaiting, until: Until
) -> None:
    job_id = await start_waiting(PLAN)
    handle = client.temporal.get_workflow_handle(job_workflow_id(client.settings.tenant_id, job_id))

    await client.resume_job(job_id, {}, outcome="approved", request_id="r1", by="signal")

    async def refused() -> tuple[str, ...]:
        return (await handle.query(STATUS, result_type=JobStatus)).refused

    (told,) = await until(refused)
    assert told.startswith('r1: payload: "amount" is a required property; payload: "by" is')
    assert (await client.describe_job(job_id)).state == "waiting"


async def test_a_person_sees_what_is_asked_and_what_the_answer_needs(
    client: MnesticClient, start_waiting: StartWaiting
) -> None:
    job_id = await start_waiting(PLAN)
    handle = client.temporal.get_workflow_handle(job_workflow_id(client.settings.tenant_id, job_id))

    metadata = await handle.query("__temporal_workflow_metadata", result_type=WorkflowMetadata)
    (wait,) = (await client.describe_job(job_id)).waits
    status = await handle.query(STATUS, result_type=JobStatus)

    assert "| payload needs | amount (number), by (Ana or a \\| b) |" in metadata.current_details
    assert "May Mara have it?" in metadata.current_details
    command = f'job resume {job_id} --outcome approved --payload \'{{"amount": 1, "by": "Ana"}}\''
    assert command in metadata.current_details
    assert status.open_wait is not None
    assert (wait.ask, wait.outcomes) == ("May Mara have it?", ("approved",))
    assert wait.form == status.open_wait.form
    assert wait.form is not None
    assert wait.form["required"] == ["amount", "by"]


async def test_a_request_that_came_early_is_held_to_the_form_of_the_wait_it_meets(
    client: MnesticClient, start_waiting: StartWaiting
) -> None:
    job_id = await start_waiting(PLAN)
    handle = client.temporal.get_workflow_handle(job_workflow_id(client.settings.tenant_id, job_id))
    await client.resume_job(job_id, FITTING, outcome="approved", request_id="r1", by="signal")
    await client.resume_job(job_id, FITTING, request_id="r2", by="signal")

    result = await client.wait_for_result(job_id)

    (told,) = (await handle.query(STATUS, result_type=JobStatus)).refused
    assert result.results["again"]["outcome"] == "timeout"
    assert told.startswith("r2: payload: ")
    assert told.endswith('is not of type "integer"')


async def test_an_override_by_the_way_of_the_timeout_needs_no_payload_and_brings_none(
    client: MnesticClient, start_waiting: StartWaiting, rot: Callable[[], None]
) -> None:
    job_id = await start_waiting(PLAN)
    rot()
    with pytest.raises(SnapshotUnverifiedError, match="corrupted"):
        await client.resume_job(job_id, FITTING, outcome="approved")

    with pytest.raises(ResumeRefusedError, match=r'payload: "amount" is a required property'):
        await client.override_job(job_id, {}, reason="lost", outcome="approved")
    await client.override_job(job_id, {}, reason="lost", outcome="timeout")
    result = await client.wait_for_result(job_id)

    assert result.results["approval"]["outcome"] == "timeout"
    assert result.results["approval"]["payload"] is None


async def test_a_cancelled_job_with_a_form_ends(
    client: MnesticClient, start_waiting: StartWaiting
) -> None:
    job_id = await start_waiting(PLAN)

    await client.cancel_job(job_id)

    with pytest.raises(JobFailedError, match="was cancelled"):
        await client.wait_for_result(job_id)
