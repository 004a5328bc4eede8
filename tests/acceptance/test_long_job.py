"""A job of many waits goes on in new runs, so that its history stays short."""

import pytest

from mnestic.memory.names import job_workflow_id
from mnestic.starter.client import MnesticClient
from mnestic.starter.plans import parse_plan

WAITS = 600  # more than one run takes before Temporal suggests a new one
LOOP = """
name: loop
nodes:
  - id: turn
    kind: wait
    key: turn
    timeout: 1d
    on: {resumed: keep, timeout: end}
  - id: keep
    kind: remember
    message: {content: "${results.turn.payload.text}"}
    next: {on: "${results.turn.payload.last}", cases: {"true": end}, otherwise: turn}
"""


@pytest.mark.acceptance
@pytest.mark.usefixtures("worker")
async def test_a_job_of_many_waits_goes_on_in_new_runs(client: MnesticClient) -> None:
    job_id = await client.start_job(
        parse_plan(LOOP, source="test"), agent_id="ada", session_id="s1"
    )
    handle = client.temporal.get_workflow_handle(job_workflow_id(client.settings.tenant_id, job_id))
    first_run = (await handle.describe()).run_id

    for number in range(1, WAITS + 1):
        payload = {"text": str(number), "last": number == WAITS}
        await client.resume_job(job_id, payload, request_id=f"r{number}", by="signal")
    result = await client.wait_for_result(job_id)

    state = await client.memory("ada").working_memory("s1")
    last = await handle.describe()
    assert [message.content for message in state.messages] == [
        str(number) for number in range(1, WAITS + 1)
    ]
    assert result.waits == WAITS
    assert last.run_id != first_run
    assert last.history_length < 4096
    early = await client.resume_job(job_id, {"text": "1"}, request_id="r1")
    assert early is not None
    assert early.wait_id == f"{job_id}/w1"
