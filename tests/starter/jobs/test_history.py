"""Timelines of real jobs, with and without Temporal's history."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager
from typing import Any

import pytest
from temporalio import workflow
from temporalio.api.common.v1 import WorkflowExecution
from temporalio.api.workflowservice.v1 import DeleteWorkflowExecutionRequest
from temporalio.client import WorkflowHandle
from temporalio.common import SearchAttributeKey, SearchAttributePair, TypedSearchAttributes
from temporalio.worker import Worker

from mnestic.memory.jobs.agent_job import JobInput
from mnestic.memory.jobs.timeline import JobTimeline
from mnestic.memory.jobs.waits import ResumeRequest
from mnestic.memory.names import AGENT_JOB, RESUME, job_workflow_id
from mnestic.memory.scope import Scope
from mnestic.starter.client.mnestic_client import MnesticClient
from mnestic.starter.jobs.plans import parse_plan
from tests.job_states import until_state

PLAN = """
name: greeting
nodes:
  - {id: note, kind: remember, records: [{namespace: p, key: name, value: Mara}], next: approval}
  - {id: approval, kind: wait, key: approval, timeout: 21d, on: {resumed: say, timeout: end}}
  - {id: say, kind: emit, channel: chat, content: "Hello Mara", next: end}
"""
FAILING = """
name: failing
nodes: [{id: bad, kind: tool, activity: no.such, attempts: 2, next: end}]
"""


@workflow.defn(name="GoesOn")
class GoesOn:
    """A workflow of somebody's own, which goes on in a new run once."""

    @workflow.run
    async def run(self, runs: int) -> None:
        if runs > 1:
            workflow.continue_as_new(runs - 1)


@pytest.fixture
async def goes_on(client: MnesticClient) -> AsyncIterator[WorkflowHandle[Any, Any]]:
    """A workflow of somebody's own, under the id of the job `mine`."""
    queue = f"own-{client.settings.task_queue}"
    owner = SearchAttributePair(SearchAttributeKey.for_keyword("AgentId"), "ada")
    async with Worker(client.temporal, task_queue=queue, workflows=[GoesOn]):
        yield await client.temporal.start_workflow(
            "GoesOn",
            3,
            id=job_workflow_id(client.settings.tenant_id, "mine"),
            task_queue=queue,
            search_attributes=TypedSearchAttributes([owner]),
        )


async def _forget(client: MnesticClient, handle: WorkflowHandle[Any, Any]) -> None:
    """Deletes the first run from Temporal, as its retention does."""
    first = WorkflowExecution(workflow_id=handle.id, run_id=handle.first_execution_run_id or "")
    await client.temporal.workflow_service.delete_workflow_execution(
        DeleteWorkflowExecutionRequest(namespace="default", workflow_execution=first)
    )


def _told(timeline: JobTimeline) -> list[tuple[str, str]]:
    return [(entry.what, entry.source) for entry in timeline.entries]


@pytest.mark.usefixtures("worker")
async def test_a_node_that_is_being_tried_again_is_told_with_its_last_failure(
    client: MnesticClient,
) -> None:
    plan = parse_plan(FAILING.replace("attempts: 2", "attempts: 1000"), source="test")
    job_id = await client.start_job(plan, agent_id="ada", session_id="s1")

    step: dict[str, Any] = {}
    async with asyncio.timeout(30):
        while step.get("attempts", 1) == 1 or "cause" not in step:
            await asyncio.sleep(0.05)
            step = (await client.job_history(job_id)).entries[-1].detail
    await client.cancel_job(job_id)

    assert (step["node"], step["state"]) == ("bad", "running")
    assert "no.such" in step["cause"]


@pytest.mark.usefixtures("worker")
async def test_a_job_that_temporal_does_not_know_is_told_from_the_rows(
    client: MnesticClient,
) -> None:
    plan = parse_plan(PLAN, source="test")
    settings = client.settings
    scope = Scope(tenant_id=settings.tenant_id, agent_id="ada", session_id="s1")
    handle = await client.temporal.start_workflow(
        AGENT_JOB,
        JobInput(job_id="j1", scope=scope, plan=plan),
        id=f"elsewhere/{settings.tenant_id}",
        task_queue=settings.task_queue,
    )
    await handle.signal(RESUME, ResumeRequest(request_id="r1"))
    await handle.result()

    timeline = await client.job_history("j1")

    assert not timeline.complete
    assert _told(timeline) == [
        ("step", "rows"),
        ("wait_opened", "rows"),
        ("restored", "rows"),
        ("step", "rows"),
        ("ended", "rows"),
    ]
    assert timeline.entries[2].detail["request_id"] == "r1"
    assert timeline.entries[-1].detail["outcome"] == "completed"


@pytest.mark.acceptance  # the server takes half a minute to delete a run
async def test_the_runs_that_temporal_keeps_are_told_without_the_others(
    client: MnesticClient, goes_on: WorkflowHandle[Any, Any]
) -> None:
    await goes_on.result()
    timeline = await client.job_history("mine")
    whole = [entry.what for entry in timeline.entries]
    await _forget(client, goes_on)

    async with asyncio.timeout(120):
        while timeline.complete:
            await asyncio.sleep(1)
            timeline = await client.job_history("mine")

    assert whole == ["started", "continued", "continued", "ended"]
    assert [entry.what for entry in timeline.entries] == whole[1:]


async def test_a_job_is_told_from_both_until_it_is_resumed_or_cancelled(
    client: MnesticClient, run_worker: Callable[[], AbstractAsyncContextManager[None]]
) -> None:
    plan = parse_plan(PLAN, source="test")
    jobs = [
        await client.start_job(plan, agent_id="ada", session_id=name, job_id=name) for name in "ab"
    ]
    unbegun = await client.job_history("a")
    async with run_worker():
        for job_id in jobs:
            await until_state(client, job_id)
        await client.resume_job("a", {"word": "dear"}, request_id="r1", by="signal", any_wait=True)
        await client.wait_for_result("a")
        await client.cancel_job("b")
        await until_state(client, "b", "cancelled")
        resumed, cancelled = [await client.job_history(job_id) for job_id in jobs]

    assert [entry.what for entry in unbegun.entries] == ["started"]
    assert unbegun.entries[0].detail["plan"] == "greeting"
    assert resumed.complete
    assert _told(resumed) == [
        ("started", "temporal"),
        ("step", "both"),
        ("wait_opened", "both"),
        ("requested", "temporal"),
        ("restored", "both"),
        ("step", "both"),
        ("ended", "both"),
    ]
    asked, restored = resumed.entries[3].detail, resumed.entries[4].detail
    assert (asked["via"], asked["request_id"]) == ("signal", "r1")
    assert (restored["wait_id"], restored["request_id"]) == ("a/w1", "r1")
    asked_to_end, ended = cancelled.entries[-2:]
    assert (asked_to_end.what, "by" in asked_to_end.detail) == ("cancel_requested", True)
    assert (ended.detail["outcome"], ended.source) == ("cancelled", "both")
