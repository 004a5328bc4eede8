"""A job of many waits goes on in new runs, so that no run's history grows with the waits."""

from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import NamedTuple

import pytest
from temporalio.api.enums.v1 import EventType
from temporalio.api.history.v1 import HistoryEvent

from mnestic.memory.names import job_workflow_id
from mnestic.starter.client.mnestic_client import MnesticClient
from mnestic.starter.jobs.plans import read_plan

WAITS = 450  # more than one run takes before Temporal suggests a new one
MOST_EVENTS = 4096 + 64  # where Temporal suggests it, and what is under way then
MOST_BYTES = 4 * 2**20
LOOP = read_plan(Path(__file__).with_name("loop.yaml"))


class Run(NamedTuple):
    """One run's history: its size, and how many waits were opened in it."""

    events: int
    size_bytes: int
    waits: int


def read_run(events: Sequence[HistoryEvent]) -> Run:
    return Run(
        events=len(events),
        size_bytes=sum(event.ByteSize() for event in events),
        waits=sum(
            b'"mnestic.open_wait"' in payload.data
            for event in events
            if event.event_type == EventType.EVENT_TYPE_MARKER_RECORDED
            for payload in event.marker_recorded_event_attributes.details["data"].payloads
        ),
    )


async def runs_of(client: MnesticClient, job_id: str) -> AsyncIterator[Run]:
    """Every run of the job, the last first, by following each to the one before."""
    workflow_id, run_id = job_workflow_id(client.settings.tenant_id, job_id), None
    while run_id is None or run_id:
        handle = client.temporal.get_workflow_handle(workflow_id, run_id=run_id)
        history = await handle.fetch_history()
        started = history.events[0].workflow_execution_started_event_attributes
        yield read_run(history.events)
        run_id = started.continued_execution_run_id


@pytest.mark.nightly
@pytest.mark.usefixtures("worker")
async def test_no_run_of_a_job_of_many_waits_has_a_long_history(client: MnesticClient) -> None:
    job_id = await client.start_job(LOOP, agent_id="ada", session_id="s1")

    for number in range(1, WAITS + 1):
        payload = {"text": str(number), "last": number == WAITS}
        await client.resume_job(
            job_id, payload, request_id=f"r{number}", by="signal", any_wait=True
        )
    result = await client.wait_for_result(job_id)

    state = await client.memory("ada").working_memory.get("s1")
    runs = [run async for run in runs_of(client, job_id)]
    assert [message.content for message in state.messages] == [
        str(number) for number in range(1, WAITS + 1)
    ]
    assert result.waits == sum(run.waits for run in runs) == WAITS
    assert len(runs) > 1
    assert max(run.events for run in runs) <= MOST_EVENTS
    assert max(run.size_bytes for run in runs) <= MOST_BYTES
    assert min(run.waits for run in runs) > 0
    early = await client.resume_job(job_id, {"text": "1", "last": False}, request_id="r1")
    assert early is not None
    assert early.wait_id == f"{job_id}/w1"
