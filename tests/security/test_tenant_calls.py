"""The wall between tenants, in front of activities and workflows: what one asks for another is refused."""

import uuid
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
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
from tests.security.tenants import Victim, rows_of

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC).isoformat()
SNAPSHOT = {
    "id": "6c1f8f0e-3a1b-4d55-9b57-6d6e65737469",
    "sha256": "a" * 64,
    "size_bytes": 1,
    "schema_version": 2,
    "memory_revision": 1,
    "message_count": 0,
    "episode_count": 0,
    "record_count": 0,
    "snapshot_at": NOON,
}
WAIT = {
    "wait_id": "j/w1",
    "key": "k",
    "outcomes": ["resumed"],
    "policy": "rebase",
    "deadline": NOON,
    "snapshot": SNAPSHOT,
}
CONTEXT = {"cursor_node": "k", "plan_decision_id": "p"}
# What each activity is asked, beside whose memory it is; what reads its own workflow alone has None.
REPORT = {
    "id": "r",
    "kind": "nightly",
    "agents": 0,
    "counts": {},
    **dict.fromkeys(("scheduled_at", "started_at", "finished_at"), "2026-03-01T00:00:00Z"),
}
ARGUMENTS: Mapping[str, dict[str, Any] | None] = {
    "mnestic.remember": {"write": {"note": "mine now", "records": [
        {"namespace": "secrets", "key": "place", "value": "mine now"}]}},
    "mnestic.recall": {"query": {"records": [{"namespace": "secrets"}]}, "save_as": "found"},
    "mnestic.open_wait": {
        "wait_id": "j/w1", "key": "k", "policy": "rebase", "context": CONTEXT,
        "opened_at": NOON, "deadline": NOON,
    },
    "mnestic.extend_wait": {"wait_id": "j/w1", "request": {"until": NOON}},
    "mnestic.restore": {"wait": WAIT, "restored_at": NOON},
    "mnestic.find_arrival": None,
    "mnestic.fork": {"job_id": "other", "origin": {
        "job_id": "j", "wait_id": "j/w1", "snapshot_id": SNAPSHOT["id"], "sha256": "a" * 64}},
    "mnestic.think": {"prompt": "Where?", "history": 1, "max_tokens": 10, "save_as": "reply"},
    "mnestic.keep_result": {"node": "n", "result": 1},
    "mnestic.load_result": {"ref": {"ref": SNAPSHOT["id"], "sha256": "a" * 64, "size_bytes": 1}},
    "mnestic.end_job": {"plan": "p", "outcome": "completed", "waits": 0},
    "mnestic.read_session": {"conversation": "s1"},
    "mnestic.keep_signals": {"signals": []},
    "mnestic.list_facts": {"select": {"subjects": ["Mara"]}},
    "mnestic.learn_exchange": {"exchange": {"source_id": "e1", "speaker": "Eve", "content": "Hello."}},
    "mnestic.extract": {},
    "mnestic.learn": {},
    "mnestic.embed": {},
    "mnestic.purge_topic": {"forgetting_id": "f", "table": "entry"},
    "mnestic.finish_forgetting": {"forgetting_id": "f"},
    "mnestic.renew_statistics": {"forgetting_id": "f"},
    "mnestic.maintain_agents": {"kind": "nightly", "scheduled_at": "2026-03-01T00:00:00Z"},
    "mnestic.summarise_categories": {"kind": "nightly", "scheduled_at": "2026-03-01T00:00:00Z"},
    "mnestic.summarise_periods": {"kind": "nightly", "scheduled_at": "2026-03-01T00:00:00Z"},
    "mnestic.index_vectors": {"kind": "nightly", "scheduled_at": "2026-03-01T00:00:00Z"},
    "mnestic.vacuum": {"kind": "monthly", "scheduled_at": "2026-03-01T00:00:00Z"},
    "mnestic.reembed_entries": {"kind": "monthly", "scheduled_at": "2026-03-01T00:00:00Z"},
    "mnestic.back_up": {"kind": "backup", "scheduled_at": "2026-03-01T00:00:00Z"},
    "mnestic.finish_maintenance": {"report": REPORT},
}  # fmt: skip
GUARDED = sorted(name for name, asked in ARGUMENTS.items() if asked is not None)


def registered(memory: PostgresMemory) -> dict[str, Callable[..., Any]]:
    """All activities of this package, by name."""
    given = activities_of(memory, model=LocalChatModel(), summariser=LocalSummariser())
    given += maintenance_activities(memory, admin_url="")  # which refuses before it connects
    return {str(activity._Definition.must_from_callable(each).name): each for each in given}


def input_for(tenant_id: str, name: str) -> dict[str, Any]:
    """What an activity is asked about the memory of a tenant's agent `ada`."""
    scope = {"tenant_id": tenant_id, "agent_id": "ada", "session_id": "s1"}
    operation = {"key": f"j/0/1/{name}", "name": name, "job_id": "j"}
    return {"scope": scope, "operation": operation, **scope, **(ARGUMENTS[name] or {})}


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
    client: MnesticClient, memory: PostgresMemory, inputs: dict[str, Any], *, workflow_id: str
) -> dict[str, str]:
    """How each call of a workflow of that id ends."""
    given = list(registered(memory).values())
    queue = f"{client.settings.task_queue}-calls"
    async with Worker(client.temporal, task_queue=queue, workflows=[Calls], activities=given):
        outcomes: dict[str, str] = await client.temporal.execute_workflow(
            Calls.run, inputs, id=workflow_id, task_queue=queue
        )
    return outcomes


def test_each_activity_has_a_call_here(memory: PostgresMemory) -> None:
    assert set(registered(memory)) == set(ARGUMENTS)


async def test_an_activity_refuses_what_a_workflow_of_another_tenant_asks(
    client: MnesticClient, memory: PostgresMemory, victim: Victim, admin_url: str
) -> None:
    theirs, mine = victim.tenant_id, client.settings.tenant_id
    before = rows_of(admin_url, theirs)

    inputs = {name: input_for(theirs, name) for name in GUARDED}
    outcomes = await calls(client, memory, inputs, workflow_id=f"job/{mine}/calls")

    assert outcomes == dict.fromkeys(GUARDED, "ForeignTenantError")
    assert rows_of(admin_url, theirs) == before


@pytest.mark.parametrize("workflow_id", ["refund-{}", "job/{}", "job/{}/a/b", "other/{}/a"])
async def test_a_workflow_whose_id_names_no_tenant_is_held_to_the_workers(
    client: MnesticClient, memory: PostgresMemory, victim: Victim, workflow_id: str
) -> None:
    theirs, mine = victim.tenant_id, client.settings.tenant_id
    name = "mnestic.list_facts"
    workflow_id = workflow_id.format(theirs)

    foreign = await calls(client, memory, {name: input_for(theirs, name)}, workflow_id=workflow_id)
    own = await calls(client, memory, {name: input_for(mine, name)}, workflow_id=workflow_id)

    assert foreign == {name: "ForeignTenantError"}
    assert own == {name: "done"}


async def test_a_worker_without_a_tenant_refuses_a_workflow_whose_id_names_none(
    client: MnesticClient, memory: PostgresMemory
) -> None:
    temporal = await Client.connect(client.endpoints.temporal_address, plugins=[MnesticPlugin()])
    name, queue = "mnestic.list_facts", f"{client.settings.task_queue}-calls"
    inputs = {name: input_for(client.settings.tenant_id, name)}

    given = list(registered(memory).values())
    async with Worker(temporal, task_queue=queue, workflows=[Calls], activities=given):
        outcomes = await temporal.execute_workflow(
            Calls.run, inputs, id=f"refund-{uuid.uuid4().hex}", task_queue=queue
        )

    assert outcomes == {name: "ForeignTenantError"}


async def test_a_workflow_reaches_the_memory_of_its_own_tenant(
    client: MnesticClient, memory: PostgresMemory
) -> None:
    mine = client.settings.tenant_id
    names = ("mnestic.remember", "mnestic.list_facts")

    outcomes = await calls(
        client,
        memory,
        {name: input_for(mine, name) for name in names},
        workflow_id=f"job/{mine}/own",
    )

    assert outcomes == dict.fromkeys(names, "done")


def test_a_tenant_is_read_from_the_ids_of_our_workflows_alone() -> None:
    assert tenant_of_workflow("job/acme/j1") == "acme"
    assert tenant_of_workflow("inbox/acme/ada") == "acme"
    assert tenant_of_workflow("ingest/acme/ada") == "acme"
    assert tenant_of_workflow("forget/acme/f1") == "acme"
    assert tenant_of_workflow("jobs/acme/j1") is None
    assert tenant_of_workflow("job/acme") is None
    assert tenant_of_workflow("job/acme/j1/x") is None
    assert tenant_of_workflow("x job/acme/j1") is None


@pytest.mark.usefixtures("worker")
@pytest.mark.parametrize(
    "kind", ["AgentJob", "AgentInbox", "IngestMessages", "ForgetTopic", "Maintenance"]
)
async def test_a_workflow_that_is_given_another_tenant_fails_at_once(
    client: MnesticClient, victim: Victim, admin_url: str, kind: str
) -> None:
    theirs, mine = victim.tenant_id, client.settings.tenant_id
    before = rows_of(admin_url, theirs)
    scope = {"tenant_id": theirs, "agent_id": "ada", "session_id": "s1"}
    plan = {"name": "p", "nodes": [{"id": "a", "kind": "remember", "note": "n", "next": "end"}]}
    given = {"job_id": "j", "scope": scope, "plan": plan, "forgetting_id": "f", **scope}
    given["kind"] = "nightly"

    with pytest.raises(WorkflowFailureError) as failed:
        await client.temporal.execute_workflow(
            kind, given, id=f"job/{mine}/{kind}", task_queue=client.settings.task_queue
        )

    cause = failed.value.cause
    assert isinstance(cause, ApplicationError)
    assert cause.type == "ForeignTenantError"
    assert rows_of(admin_url, theirs) == before


@pytest.mark.parametrize("name", sorted(set(ARGUMENTS) - OWN_TOOLS))
async def test_a_plan_that_names_one_of_our_activities_is_refused(
    client: MnesticClient, name: str
) -> None:
    node = {"id": "steal", "kind": "tool", "activity": name, "arguments": {}, "next": "end"}
    plan = Plan.model_validate({"name": "p", "nodes": [node]})

    with pytest.raises(InvalidPlanError, match=f"'steal': activity: {name} is no tool"):
        await client.start_job(plan, agent_id="ada", session_id="s1")


@pytest.mark.usefixtures("worker")
async def test_a_job_that_was_started_with_such_a_plan_fails_at_that_node(
    client: MnesticClient, victim: Victim, admin_url: str
) -> None:
    theirs, mine = victim.tenant_id, client.settings.tenant_id
    before = rows_of(admin_url, theirs)
    names = sorted(set(ARGUMENTS) - OWN_TOOLS)
    nodes = [
        {
            "id": f"n{number}",
            "kind": "tool",
            "activity": name,
            "arguments": input_for(theirs, name),
            "next": "end",
            "catch": f"n{number + 1}" if number + 1 < len(names) else "end",
        }
        for number, name in enumerate(names)
    ]
    scope = {"tenant_id": mine, "agent_id": "ada", "session_id": "s1"}
    given = {"job_id": "j", "scope": scope, "plan": {"name": "p", "nodes": nodes}}

    result = await client.temporal.execute_workflow(
        "AgentJob", given, id=f"job/{mine}/j", task_queue=client.settings.task_queue
    )

    errors = {node: found["error"]["type"] for node, found in result["results"].items()}
    assert errors == {node["id"]: "InvalidInputError" for node in nodes}
    assert rows_of(admin_url, theirs) == before


@pytest.mark.usefixtures("worker")
async def test_a_tool_of_ours_works_in_the_jobs_own_scope_whatever_the_plan_says(
    client: MnesticClient, victim: Victim, admin_url: str
) -> None:
    theirs = victim.tenant_id
    before = rows_of(admin_url, theirs)
    node = {
        "id": "read",
        "kind": "tool",
        "activity": "mnestic.read_session",
        "arguments": input_for(theirs, "mnestic.read_session"),
        "next": "end",
    }
    plan = Plan.model_validate({"name": "p", "nodes": [node]})

    job_id = await client.start_job(plan, agent_id="eve", session_id="s1")
    with pytest.raises(JobFailedError, match="no conversation session"):
        await client.wait_for_result(job_id)

    assert rows_of(admin_url, theirs) == before
