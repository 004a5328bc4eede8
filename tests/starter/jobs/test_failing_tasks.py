"""Workflow tasks that keep failing are told of, by kind and without what the failure says."""

import asyncio
import time
from collections.abc import AsyncIterator

import pytest
from temporalio import workflow
from temporalio.common import SearchAttributeKey, SearchAttributePair, TypedSearchAttributes
from temporalio.worker import Worker

from mnestic.memory.names import job_workflow_id
from mnestic.starter.client.mnestic_client import MnesticClient
from mnestic.starter.health.checkup import check_all
from mnestic.starter.jobs.failing_tasks import count_failing_workflows


@workflow.defn(name="Breaks")
class Breaks:
    """Its code fails, whatever it is given."""

    @workflow.run
    async def run(self) -> None:
        raise RuntimeError("Mara lives in Utrecht")


@pytest.fixture
async def broken(client: MnesticClient) -> AsyncIterator[None]:
    """The job `broken`, whose code fails on the worker that runs."""
    values = {"TenantId": client.settings.tenant_id, "AgentId": "ada", "SessionId": "s1"}
    pairs = [SearchAttributePair(SearchAttributeKey.for_keyword(k), v) for k, v in values.items()]
    queue = client.settings.task_queue
    async with Worker(client.temporal, task_queue=queue, workflows=[Breaks]):
        handle = await client.temporal.start_workflow(
            Breaks.run,
            id=job_workflow_id(client.settings.tenant_id, "broken"),
            task_queue=queue,
            search_attributes=TypedSearchAttributes(pairs),
        )
        yield
        await handle.terminate()


@pytest.mark.usefixtures("broken")
async def test_a_job_whose_code_fails_says_so_and_quotes_nothing(
    client: MnesticClient,
) -> None:
    deadline = time.monotonic() + 30
    while not (failing := (await client.describe_job("broken")).failing):
        assert time.monotonic() < deadline
        await asyncio.sleep(0.1)

    (line,) = failing
    assert line.startswith("workflow task, attempt ")
    assert line.endswith(
        "RuntimeError (workflow_worker_unhandled_failure); a mended worker goes on with it"
    )


@pytest.mark.acceptance
@pytest.mark.usefixtures("broken")
async def test_doctor_counts_workflows_whose_tasks_fail_of_its_tenant_alone(
    client: MnesticClient,
) -> None:
    deadline = time.monotonic() + 150
    while not await count_failing_workflows(client.temporal, tenant_id=client.settings.tenant_id):
        assert time.monotonic() < deadline
        await asyncio.sleep(1)

    (found,) = (one for one in await check_all(client.settings) if one.part == "workflow tasks")

    assert not found.ok
    assert found.found.startswith("1 running workflows of tenant")
    assert await count_failing_workflows(client.temporal, tenant_id="another") == 0
