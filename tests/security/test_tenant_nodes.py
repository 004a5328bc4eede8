"""The wall between tenants, and between agents, in front of a plan's nodes: what they name is in their job's own memory.

One plan has a node of each kind, and names in every field that takes text what the victim's memory is called by.
A new kind or a new field fails until the plan names something there. It runs as an agent of another tenant, and
as another agent of the victim's.
"""

import asyncio
import json
import types
import uuid
from collections.abc import Iterator
from typing import Annotated, Any, Union, get_args, get_origin

import pytest
from pydantic import BaseModel
from temporalio.client import WorkflowFailureError
from temporalio.exceptions import ApplicationError

from mnestic.memory.jobs.agent_job import JobInput, JobProgress, JobResult
from mnestic.memory.jobs.plans import Node, Plan
from mnestic.memory.jobs.templates import as_text
from mnestic.memory.jobs.waits import ForkOrigin
from mnestic.memory.names import job_workflow_id
from mnestic.memory.scope import Scope
from mnestic.starter.client.mnestic_client import MnesticClient
from tests.security.tenants import (
    AGENT,
    FIRST,
    SESSION,
    Known,
    Victim,
    as_tenant,
    leaked,
    rows_of,
    state_of,
)
from tests.starter.case_files import read_cases

pytestmark = [
    pytest.mark.asyncio(loop_scope="module"),
    pytest.mark.usefixtures("shared_worker"),
]
# Where a node is in its plan, and what is a word of ours and no text.
_GRAPH = frozenset({"id", "kind", "next.cases", "next.otherwise", "catch", "on"})


def prying_plan(known: Known, tenant_id: str) -> Plan:
    """The plan of `prying_plan.yaml`, which knows what is known."""
    place = f"{tenant_id}/{AGENT}/{SESSION}"
    words = f"{place} {known.job} {known.wait} {known.snapshot} {known.entry.id} {known.fact.id}"
    objects = {
        "$result": dict(known.result),
        "$scope": {"tenant_id": tenant_id, "agent_id": AGENT, "session_id": SESSION},
    }
    texts = {"place": place, "words": words, "tenant": tenant_id}

    def named(value: Any) -> Any:
        if isinstance(value, dict):
            return {name: named(each) for name, each in value.items()}
        if isinstance(value, list):
            return [named(each) for each in value]
        if value in objects:
            return objects[value]
        for name, text in {
            **texts,
            "job": known.job,
            "wait": known.wait,
            "snapshot": known.snapshot,
        }.items():
            value = value.replace(f"${name}", text) if isinstance(value, str) else value
        return value

    return Plan.model_validate(named(read_cases(__file__, "prying_plan")))


def texts_of(kind: Any, path: str = "") -> Iterator[str]:
    """The fields of a model that take text, by path; lists and mappings are one field."""
    if path in _GRAPH:
        return
    if isinstance(kind, type) and issubclass(kind, BaseModel):
        for name, field in kind.model_fields.items():
            yield from texts_of(field.annotation, f"{path}.{name}".removeprefix("."))
    elif kind is Any or kind is str:
        yield path
    elif get_origin(kind) in {Annotated, Union, types.UnionType, tuple, list}:
        for each in get_args(kind)[: 1 if get_origin(kind) is Annotated else None]:
            yield from texts_of(each, path)
    elif get_origin(kind) is dict:
        yield path


def texts_in(value: Any, path: str = "") -> Iterator[str]:
    """The fields of a document that have text, likewise."""
    if path in _GRAPH:
        return
    yield path
    inside = value.items() if isinstance(value, dict) else ()
    for name, each in inside:
        yield from texts_in(each, f"{path}.{name}".removeprefix("."))
    for each in value if isinstance(value, list | tuple) else ():
        yield from texts_in(each, path)


@pytest.fixture(params=["another tenant", "another agent"])
def prying(request: pytest.FixtureRequest, theirs: MnesticClient) -> tuple[MnesticClient, str]:
    """Who pries: the agent of that name of another tenant, or another agent of the tenant."""
    if request.param == "another tenant":
        return as_tenant(theirs), AGENT
    return as_tenant(theirs, theirs.settings.tenant_id), f"eve-{uuid.uuid4().hex[:6]}"


def plan_of(*nodes: dict[str, Any]) -> Plan:
    return Plan.model_validate({"name": "p", "nodes": nodes})


async def run_to_end(client: MnesticClient, plan: Plan, *, agent_id: str) -> JobResult:
    """What comes of a plan; its waits are resumed."""
    job_id = await client.start_job(plan, agent_id=agent_id, session_id=SESSION)
    if any(node.kind == "wait" for node in plan.nodes):
        async with asyncio.timeout(30):
            while await client.find_open_wait(job_id) is None:  # noqa: ASYNC110 - nobody tells
                await asyncio.sleep(0.05)
        await client.resume_job(job_id)
    return await client.wait_for_result(job_id)


async def failure_of(client: MnesticClient, *, agent_id: str, **begun: Any) -> ApplicationError:
    """How a job fails that somebody starts himself, past the client."""
    tenant_id, job_id = client.settings.tenant_id, f"own-{uuid.uuid4().hex[:6]}"
    scope = Scope(tenant_id=tenant_id, agent_id=agent_id, session_id="fork")
    with pytest.raises(WorkflowFailureError) as failed:
        await client.temporal.execute_workflow(
            "AgentJob",
            JobInput(job_id=job_id, scope=scope, **begun),
            id=job_workflow_id(tenant_id, job_id),
            task_queue=client.settings.task_queue,
        )
    assert isinstance(failed.value.cause, ApplicationError)
    return failed.value.cause


async def seen_by(
    client: MnesticClient, result: JobResult, *, agent_id: str, admin_url: str
) -> str:
    """All that an agent and its job have seen, as text: its rows, its result, and Temporal's history."""
    name = job_workflow_id(client.settings.tenant_id, result.job_id)
    history = await client.temporal.get_workflow_handle(name).fetch_history()
    payloads = str(history.to_json_dict())
    shown = (await client.job_history(result.job_id)).model_dump_json()
    rows = rows_of(admin_url, client.settings.tenant_id, agent_id=agent_id)
    return "\n".join([result.model_dump_json(), shown, payloads, json.dumps(rows)])


async def test_the_plan_names_something_in_each_field_of_each_kind(victim: Victim) -> None:
    plan = prying_plan(victim.known, victim.tenant_id)
    kinds = {
        get_args(kind.model_fields["kind"].annotation)[0]: kind
        for kind in get_args(get_args(Node)[0])
    }
    # Which activity a tool is, on which task queue, is tried with each of ours in test_tenant_calls; a channel that the
    # contract does not give ends the plan, as workflows/jobs/waits/test_events.py tries.
    tried = {"tool": {"activity", "task_queue"}, "wait": {"event.channel", "event.where"}}

    for name, kind in kinds.items():
        named = {
            path
            for node in plan.nodes
            if node.kind == name
            for path in texts_in(node.model_dump(mode="json", exclude_unset=True))
        }
        assert set(texts_of(kind)) - named - tried.get(name, set()) == set(), name


async def test_a_plan_that_names_anothers_memory_finds_and_changes_nothing_of_it(
    prying: tuple[MnesticClient, str], theirs: MnesticClient, victim: Victim, admin_url: str
) -> None:
    client, agent_id = prying
    rows_before = rows_of(admin_url, victim.tenant_id, agent_id=AGENT)
    _, events = await state_of(theirs, victim, admin_url)

    is_of_tenant = client.settings.tenant_id == victim.tenant_id
    # The vault is no agent's memory: all of the tenant may read it.
    await client.memory(agent_id).settings.change(obsidian_context_enabled=not is_of_tenant)

    result = await run_to_end(
        client, prying_plan(victim.known, victim.tenant_id), agent_id=agent_id
    )
    seen = await seen_by(client, result, agent_id=agent_id, admin_url=admin_url)

    found, of_session, thought = (result.results[name] for name in ("find", "of_session", "think"))
    assert (found["records"], found["record_count"], found["notes"]) == ([], 0, [])
    assert (len(found["episode_ids"]), len(of_session["episode_ids"])) == (1, 1), (
        "not its own alone"
    )
    assert (thought["facts"], thought["notes"]) == (0, 0)
    # The agent's own episode repeats the tenant's name, which is indexed in its parts too.
    for part in (victim.tenant_id, victim.tenant_id.removeprefix("t-")):
        seen = seen.replace(part, "<given>")
    assert leaked(seen, victim, given=victim.known) == []
    assert rows_of(admin_url, victim.tenant_id, agent_id=AGENT) == rows_before
    assert (await state_of(theirs, victim, admin_url))[1] == events


async def test_what_looks_like_anothers_result_is_just_that_and_opens_nothing(
    prying: tuple[MnesticClient, str], victim: Victim, admin_url: str
) -> None:
    client, agent_id = prying
    reference = dict(victim.known.result)
    echo = {
        "id": "echo",
        "kind": "tool",
        "activity": "echo",
        "arguments": reference,
        "next": "note",
    }
    note = {"id": "note", "kind": "remember", "next": "end"}

    plan = plan_of(echo, note | {"note": "${memory.results.echo}"})
    result = await run_to_end(client, plan, agent_id=agent_id)
    working = await client.memory(agent_id).working_memory.get(SESSION)
    seen = await seen_by(client, result, agent_id=agent_id, admin_url=admin_url)
    failures = [
        await failure_of(
            client,
            agent_id=agent_id,
            plan=plan_of(note | {"note": f"${{{root}.echo}}"}),
            progress=JobProgress(cursor="note", results={"echo": {**reference, **aside}}),
        )
        for root, aside in (("memory.results", {}), ("results", {"set_aside": True}))
    ]

    assert as_text(reference) in working.scratchpad
    assert leaked(seen.replace(victim.tenant_id, "<given>"), victim, given=victim.known) == []
    for failed in failures:
        assert failed.type == "NotFoundError"
        assert "tool result" in failed.message


async def test_a_fork_of_anothers_job_and_a_message_of_that_name_get_nothing_of_its_memory(
    prying: tuple[MnesticClient, str], victim: Victim, admin_url: str
) -> None:
    client, agent_id = prying
    known = victim.known
    before = rows_of(admin_url, victim.tenant_id, agent_id=AGENT)
    say = {"id": "say", "kind": "emit", "channel": "c", "content": "x", "next": "end"}
    origin = ForkOrigin(
        job_id=known.job, wait_id=known.wait, snapshot_id=known.snapshot, sha256=known.sha256
    )

    failed = await failure_of(
        client,
        agent_id=agent_id,
        plan=plan_of(say),
        progress=JobProgress(cursor="say"),
        origin=origin,
    )
    entry = await client.memory(agent_id).add("Mine.", session_id=SESSION, source_id=FIRST)

    assert failed.type == "NotFoundError"
    assert "snapshot" in failed.message
    assert (await client.memory(agent_id).working_memory.get("fork")).version == 0
    assert (entry.id != known.entry.id, entry.content) == (True, "Mine.")
    assert rows_of(admin_url, victim.tenant_id, agent_id=AGENT) == before
