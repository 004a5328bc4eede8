"""The wall between tenants, in front of activities and workflows: what one asks for another is refused."""

import uuid
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from temporalio import activity, workflow
from temporalio.client import Client, WorkflowFailureError
from temporalio.common import RetryPolicy
from temporalio.exceptions import ActivityError, ApplicationError
from temporalio.worker import Worker

from mnestic.activities.clients.local import LocalChatModel, LocalSummariser
from mnestic.memory.errors import InvalidPlanError, JobFailedError
from mnestic.memory.jobs.plans import Plan
from mnestic.memory.names import OWN_TOOLS, tenant_of_workflow
from mnestic.starter.client.mnestic_client import MnesticClient
from mnestic.starter.maintenance_wiring import maintenance_activities
from mnestic.stores.postgres.memory import PostgresMemory
from mnestic.worker import activities_of
from mnestic.workflows.plugin import MnesticPlugin
from tests.security.activity_cases import ACTIVITIES, asked
from tests.security.tenants import Victim, rows_of

GUARDED = sorted(set(ACTIVITIES) - {"mnestic.find_arrival"})  # which reads its own workflow alone


def registered(memory: PostgresMemory) -> dict[str, Callable[..., Any]]:
    """All activities of this package, by name."""
    given = activities_of(memory, model=LocalChatModel(), summariser=LocalSummariser())
    given += maintenance_activities(memory, admin_url="")  # which refuses before it connects
    return {str(activity._Definition.must_from_callable(each).name): each for each in given}


@workflow.defn(name="Calls", sandboxed=False)  # else each worker imports all of this module anew
class Calls:
    """Calls activities, as a workflow of anybody's on the task queue can, and tells how each failed."""

    @workflow.run
    async def run(self, inputs: dict[str, Any]) -> dict[str, str]:
        return {name: await self._outcome(name, value) for name, value in inputs.items()}

    async def _outcome(self, name: str, value: Any) -> str:
        try:
            await workflow.execute_activity(
                name,
                value,
                start_to_close_timeout=timedelta(seconds=30),
                retry_policy=RetryPolicy(maximum_attempts=1),
            )
        except ActivityError as error:
            cause = error.cause
            return str(cause.type) if isinstance(cause, ApplicationError) else str(cause)
        return "done"


async def calls(
    client: MnesticClient,
    memory: PostgresMemory,
    inputs: dict[str, Any],
    *,
    workflow_id: str,
    temporal: Client | None = None,
) -> dict[str, str]:
    """How each call of a workflow of that id ends."""
    given = list(registered(memory).values())
    queue, temporal = f"{client.settings.task_queue}-calls", temporal or client.temporal
    async with Worker(temporal, task_queue=queue, workflows=[Calls], activities=given):
        outcomes: dict[str, str] = await temporal.execute_workflow(
            Calls.run, inputs, id=workflow_id, task_queue=queue
        )
    return outcomes


async def test_an_activity_serves_a_workflow_of_its_own_tenant_alone(
    client: MnesticClient, memory: PostgresMemory, victim: Victim, admin_url: str
) -> None:
    theirs, mine = victim.tenant_id, client.settings.tenant_id
    before = rows_of(admin_url, theirs)

    inputs = {name: asked(name, theirs) for name in GUARDED}
    outcomes = await calls(client, memory, inputs, workflow_id=f"job/{mine}/calls")

    own = {name: asked(name, mine) for name in ("mnestic.remember", "mnestic.list_facts")}
    reached = await calls(client, memory, own, workflow_id=f"job/{mine}/own")

    assert set(registered(memory)) == set(ACTIVITIES), "an activity has no call here"
    assert outcomes == dict.fromkeys(GUARDED, "ForeignTenantError")
    assert reached == dict.fromkeys(own, "done")
    assert rows_of(admin_url, theirs) == before


async def test_a_workflow_whose_id_names_no_tenant_is_held_to_the_workers(
    client: MnesticClient, memory: PostgresMemory, victim: Victim
) -> None:
    theirs, name = victim.tenant_id, "mnestic.list_facts"
    foreign, own = ({name: asked(name, each)} for each in (theirs, client.settings.tenant_id))
    workflow_id, denied = f"refund-{uuid.uuid4().hex}", {name: "ForeignTenantError"}
    nobody = await Client.connect(client.endpoints.temporal_address, plugins=[MnesticPlugin()])

    assert await calls(client, memory, foreign, workflow_id=f"job/{theirs}") == denied
    assert await calls(client, memory, own, workflow_id=workflow_id) == {name: "done"}
    assert await calls(client, memory, own, workflow_id=workflow_id, temporal=nobody) == denied


def test_a_tenant_is_read_from_the_ids_of_our_workflows_alone() -> None:
    for kind in ("job", "inbox", "ingest", "forget"):
        assert tenant_of_workflow(f"{kind}/acme/x1") == "acme"
    for other in ("jobs/acme/j1", "job/acme", "job/acme/j1/x", "x job/acme/j1"):
        assert tenant_of_workflow(other) is None


@pytest.mark.usefixtures("worker")
async def test_a_workflow_that_is_given_another_tenant_fails_at_once(
    client: MnesticClient, victim: Victim, admin_url: str
) -> None:
    theirs, mine = victim.tenant_id, client.settings.tenant_id
    before = rows_of(admin_url, theirs)
    scope = {"tenant_id": theirs, "agent_id": "ada", "session_id": "s1"}
    plan = {"name": "p", "nodes": [{"id": "a", "kind": "remember", "note": "n", "next": "end"}]}
    given = {"job_id": "j", "scope": scope, "plan": plan, "forgetting_id": "f", **scope}
    given["kind"] = "nightly"

    for kind in ("AgentJob", "AgentInbox", "IngestMessages", "ForgetTopic", "Maintenance"):
        with pytest.raises(WorkflowFailureError) as failed:
            await client.temporal.execute_workflow(
                kind, given, id=f"job/{mine}/{kind}", task_queue=client.settings.task_queue
            )
        assert isinstance(failed.value.cause, ApplicationError)
        assert failed.value.cause.type == "ForeignTenantError"
    assert rows_of(admin_url, theirs) == before


@pytest.mark.usefixtures("worker")
async def test_a_plan_calls_none_of_our_activities_but_tools_in_the_jobs_own_scope(
    client: MnesticClient, victim: Victim, admin_url: str
) -> None:
    theirs, mine = victim.tenant_id, client.settings.tenant_id
    before = rows_of(admin_url, theirs)
    names = sorted(set(ACTIVITIES) - OWN_TOOLS)
    nodes = [
        {
            "id": f"n{number}",
            "kind": "tool",
            "activity": name,
            "arguments": asked(name, theirs),
            "next": "end",
            "catch": f"n{number + 1}" if number + 1 < len(names) else "end",
        }
        for number, name in enumerate(names)
    ]
    scope = {"tenant_id": mine, "agent_id": "ada", "session_id": "s1"}
    given = {"job_id": "j", "scope": scope, "plan": {"name": "p", "nodes": nodes}}
    read = {"id": "read", "kind": "tool", "activity": "mnestic.read_session", "next": "end"}
    read["arguments"] = asked("mnestic.read_session", theirs)
    reading = Plan.model_validate({"name": "p", "nodes": [read]})

    with pytest.raises(InvalidPlanError) as refused:
        await client.start_job(Plan.model_validate(given["plan"]), agent_id="ada", session_id="s1")
    result = await client.temporal.execute_workflow(  # past the client
        "AgentJob", given, id=f"job/{mine}/j", task_queue=client.settings.task_queue
    )
    job_id = await client.start_job(reading, agent_id="eve", session_id="s1")
    with pytest.raises(JobFailedError, match="no conversation session"):
        await client.wait_for_result(job_id)

    assert [
        name for name in names if f"activity: {name} is no tool" not in str(refused.value)
    ] == []
    errors = {node: found["error"]["type"] for node, found in result["results"].items()}
    assert errors == {node["id"]: "InvalidInputError" for node in nodes}
    assert rows_of(admin_url, theirs) == before
