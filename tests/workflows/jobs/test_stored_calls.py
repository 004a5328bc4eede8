"""The calls of tools are kept inside the workflow task, each once, whatever becomes of the worker."""

from collections.abc import AsyncIterator
from typing import Any

import pytest
from temporalio import activity
from temporalio.api.enums.v1 import EventType
from temporalio.worker import Worker

from mnestic.starter.client.mnestic_client import MnesticClient
from tests.workflows.conftest import Jobs, plan_of

pytestmark = pytest.mark.usefixtures("worker", "tools")
PLAN = plan_of("tools")


@activity.defn(name="double")
async def double(number: int) -> int:
    """Twice the number."""
    return 2 * number


@pytest.fixture
async def tools(client: MnesticClient) -> AsyncIterator[None]:
    """A worker of the tools."""
    queue = f"{client.settings.task_queue}-tools"
    async with Worker(client.temporal, task_queue=queue, activities=[double]):
        yield


async def calls(client: MnesticClient) -> list[tuple[str, Any]]:
    """The calls in working memory, with their results."""
    state = await client.memory("ada").working_memory.get("s1")
    return [(call.activity, call.result) for call in state.tool_calls]


async def test_what_a_tool_gave_is_kept_without_a_task_of_its_own_and_told_with_its_tool(
    jobs: Jobs,
) -> None:
    job_id = await jobs.start(PLAN.replace("QUEUE", f"{jobs.settings.task_queue}-tools"))
    result = await jobs.wait_for_result(job_id)

    history = await jobs.handle(job_id).fetch_history()
    scheduled = [
        event.activity_task_scheduled_event_attributes.activity_type.name
        for event in history.events
        if event.event_type == EventType.EVENT_TYPE_ACTIVITY_TASK_SCHEDULED
    ]
    entries = (await jobs.job_history(job_id)).entries
    steps = [entry for entry in entries if entry.what == "step"]
    assert result.results == {"first": 42, "second": 84}
    assert scheduled == ["double", "double", "mnestic.end_job"]
    assert await calls(jobs) == [("double", 42), ("double", 84)]
    assert [entry.what for entry in entries] == ["started", "step", "step", "ended"]
    assert [step.detail["operations"] for step in steps] == [
        [f"{job_id}/0/1/tool/kept"],
        [f"{job_id}/0/2/tool/kept"],
    ]
    assert {step.source for step in steps} == {"both"}
