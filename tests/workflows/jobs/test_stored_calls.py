"""The calls of tools are kept inside the workflow task, each once, whatever becomes of the worker."""

from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import psycopg
import pytest
from temporalio import activity
from temporalio.api.enums.v1 import EventType
from temporalio.client import WorkflowHandle
from temporalio.testing import ActivityEnvironment
from temporalio.worker import Worker

from mnestic.activities.clients.local import LocalSummariser
from mnestic.activities.jobs.memories import MemoryActivities, RememberInput
from mnestic.memory.jobs.working_memory import ToolCall, WorkingMemory
from mnestic.memory.jobs.writes import MemoryWrite
from mnestic.memory.operations import Operation
from mnestic.memory.ports import Memory
from mnestic.memory.scope import Scope
from mnestic.starter.client.mnestic_client import MnesticClient
from mnestic.starter.jobs.plans import parse_plan
from mnestic.stores.postgres.jobs.recalls import ScopeRetriever

pytestmark = pytest.mark.usefixtures("worker", "tools")
HandleOf = Callable[[str], WorkflowHandle[Any, Any]]
PLAN = """
name: tools
nodes:
  - {id: first, kind: tool, activity: TOOL, task_queue: QUEUE, arguments: ARGUMENTS, next: second}
  - {id: second, kind: tool, activity: double, task_queue: QUEUE, arguments: "${results.first}", next: end}
"""
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
    async with Worker(
        client.temporal, task_queue=queue_of(client), activities=[double, kept_ahead(memory)]
    ):
        yield


async def test_what_a_tool_gave_is_kept_without_a_task_of_its_own(
    client: MnesticClient, handle_of: HandleOf
) -> None:
    job_id = await start(client, tool="double", arguments="21")
    result = await client.wait_for_result(job_id)

    history = await handle_of(job_id).fetch_history()
    scheduled = [
        event.activity_task_scheduled_event_attributes.activity_type.name
        for event in history.events
        if event.event_type == EventType.EVENT_TYPE_ACTIVITY_TASK_SCHEDULED
    ]
    assert result.results == {"first": 42, "second": 84}
    assert scheduled == ["double", "double", "mnestic.end_job"]
    assert [call.result for call in (await working_memory(client)).tool_calls] == [42, 84]


async def test_a_timeline_names_the_operation_that_kept_a_call_with_its_tool(
    client: MnesticClient,
) -> None:
    job_id = await start(client, tool="double", arguments="21")
    await client.wait_for_result(job_id)

    entries = (await client.job_history(job_id)).entries

    steps = [entry for entry in entries if entry.what == "step"]
    assert [entry.what for entry in entries] == ["started", "step", "step", "ended"]
    assert [step.detail["operations"] for step in steps] == [
        [f"{job_id}/0/1/tool/kept"],
        [f"{job_id}/0/2/tool/kept"],
    ]
    assert {step.source for step in steps} == {"both"}


async def test_a_call_that_a_lost_attempt_kept_is_kept_once(client: MnesticClient) -> None:
    job_id = await start(client, tool="kept_ahead", arguments=WHOSE)
    result = await client.wait_for_result(job_id)

    calls = (await working_memory(client)).tool_calls
    assert result.results == {"first": 21, "second": 42}
    assert [(call.activity, call.result) for call in calls] == [("kept_ahead", 21), ("double", 42)]


async def test_a_call_is_kept_by_an_ordinary_activity_while_the_database_is_held_up(
    client: MnesticClient,
    admin_url: str,
    until: Callable[..., Awaitable[Any]],
    handle_of: HandleOf,
) -> None:
    async def goes_on_as_an_activity() -> bool:
        described = await handle_of(job_id).describe()
        pending = described.raw_description.pending_activities
        return [one.activity_type.name for one in pending] == ["mnestic.remember"]

    async with await psycopg.AsyncConnection.connect(admin_url) as connection:
        await connection.execute("LOCK TABLE mnestic.operation IN SHARE MODE")
        job_id = await start(client, tool="double", arguments="21")
        await until(goes_on_as_an_activity)
    result = await client.wait_for_result(job_id)

    assert result.results == {"first": 42, "second": 84}
    assert [call.result for call in (await working_memory(client)).tool_calls] == [42, 84]


async def start(client: MnesticClient, *, tool: str, arguments: str) -> str:
    text = PLAN.replace("TOOL", tool).replace("QUEUE", queue_of(client))
    plan = parse_plan(text.replace("ARGUMENTS", arguments), source="test")
    return await client.start_job(plan, agent_id="ada", session_id="s1")


def queue_of(client: MnesticClient) -> str:
    return f"{client.settings.task_queue}-tools"


async def working_memory(client: MnesticClient) -> WorkingMemory:
    return await client.memory("ada").working_memory.get("s1")
