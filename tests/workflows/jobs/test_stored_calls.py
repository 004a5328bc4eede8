"""The calls of tools are kept inside the workflow task, each once, whatever becomes of the worker."""

from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import pytest
from temporalio import activity
from temporalio.api.enums.v1 import EventType
from temporalio.testing import ActivityEnvironment
from temporalio.worker import Worker

from mnestic.activities.clients.local import LocalSummariser
from mnestic.activities.jobs.memories import MemoryActivities, RememberInput
from mnestic.memory.jobs.working_memory import ToolCall
from mnestic.memory.jobs.writes import MemoryWrite
from mnestic.memory.operations import Operation
from mnestic.memory.ports import Memory
from mnestic.memory.scope import Scope
from mnestic.starter.client.mnestic_client import MnesticClient
from mnestic.stores.postgres.jobs.recalls import ScopeRetriever
from tests.workflows.conftest import Jobs, plan_of

pytestmark = pytest.mark.usefixtures("worker", "tools")
PLAN = plan_of("tools")
WHOSE = "{scope: '${job.scope}', operation: '${job.operation}'}"


@activity.defn(name="double")
async def double(number: int) -> int:
    """Twice the number."""
    return 2 * number


def kept_ahead(memory: Memory) -> Callable[..., Awaitable[int]]:
    """A tool whose call has been kept by an attempt that was lost, when its result comes."""

    @activity.defn(name="kept_ahead")
    async def call(arguments: dict[str, Any]) -> int:
        operation = Operation.model_validate(arguments["operation"])
        kept = operation.model_copy(update={"key": f"{operation.key}/kept", "name": "remember"})
        asked = RememberInput(
            scope=Scope.model_validate(arguments["scope"]),
            operation=kept,
            write=MemoryWrite(),
            tool_call=ToolCall(
                id=operation.key, activity="kept_ahead", arguments=arguments, result=21
            ),
        )
        as_sent = RememberInput.model_validate_json(asked.model_dump_json())
        activities = MemoryActivities(memory, ScopeRetriever(), LocalSummariser())
        await ActivityEnvironment().run(activities.remember, as_sent)
        return 21

    return call


@pytest.fixture
async def tools(client: MnesticClient, memory: Memory) -> AsyncIterator[None]:
    """A worker of the tools."""
    queue = f"{client.settings.task_queue}-tools"
    activities = [double, kept_ahead(memory)]
    async with Worker(client.temporal, task_queue=queue, activities=activities):
        yield


async def start(jobs: Jobs, tool: str = "double", arguments: str = "21") -> str:
    queue = f"{jobs.settings.task_queue}-tools"
    text = PLAN.replace("TOOL", tool).replace("QUEUE", queue)
    return await jobs.start(text.replace("ARGUMENTS", arguments))


async def calls(client: MnesticClient) -> list[tuple[str, Any]]:
    """The calls in working memory, with their results."""
    state = await client.memory("ada").working_memory.get("s1")
    return [(call.activity, call.result) for call in state.tool_calls]


async def test_what_a_tool_gave_is_kept_without_a_task_of_its_own_and_told_with_its_tool(
    jobs: Jobs,
) -> None:
    job_id = await start(jobs)
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


async def test_a_call_that_a_lost_attempt_kept_is_kept_once(jobs: Jobs) -> None:
    result = await jobs.wait_for_result(await start(jobs, "kept_ahead", WHOSE))

    assert result.results == {"first": 21, "second": 42}
    assert await calls(jobs) == [("kept_ahead", 21), ("double", 42)]
