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
    QUESTION,
    SESSION,
    Known,
    Victim,
    as_tenant,
    events_of,
    leaked,
    rows_of,
)

pytestmark = [
    pytest.mark.asyncio(loop_scope="module"),
    pytest.mark.usefixtures("shared_worker"),
]
# Where a node is in its plan, and what is a word of ours and no text.
_GRAPH = frozenset({"id", "kind", "next.cases", "next.otherwise", "catch", "on"})


def prying_plan(known: Known, tenant_id: str) -> Plan:
    """A plan whose nodes name another's memory, wherever they can name anything."""
    place = f"{tenant_id}/{AGENT}/{SESSION}"
    words = f"{place} {known.job} {known.wait} {known.snapshot} {known.entry.id} {known.fact.id}"
    retry = {"attempts": 1, "not_on": [tenant_id]}
    scope = {"tenant_id": tenant_id, "agent_id": AGENT, "session_id": SESSION}
    read = {"conversation": SESSION, "scope": scope, **scope}
    nodes: list[dict[str, Any]] = [
        {
            "id": "tell",
            "kind": "remember",
            "records": [{"namespace": known.job, "key": place, "value": dict(known.result)}],
            "episode": {
                "summary": f"Of {words}.",
                "last_messages": "50",
                "payload": {"job_id": known.job, **scope},
            },
            "message": {"content": QUESTION, "speaker": "Mara", "channel": "chat"},
            "variables": {"place": known.snapshot, "hear": dict(known.result)},
            "note": words,
            "task": words,
            "retry": retry,
            "next": {"on": tenant_id, "cases": {"never": "end"}, "otherwise": "find"},
            "catch": "end",
        },
        {
            "id": "find",
            "kind": "recall",
            "records": [
                {"namespace": "secrets"},
                {"namespace": "secrets", "keys": ["place", "noted"]},
                {"namespace": place},
                {"namespace": f"{place}/secrets", "keys": [f"{place}/secrets/place"]},
            ],
            "episodes": {"of": "agent", "limit": 100},
            "search": {"question": f"{QUESTION} {words}", "channel": "chat"},
            "save_as": "found",
            "retry": retry,
            "next": {"on": tenant_id, "cases": {}, "otherwise": "of_session"},
        },
        {
            "id": "of_session",
            "kind": "recall",
            "episodes": {"of": "session", "limit": 100},
            "search": {"question": QUESTION, "channel": place},
            "next": "think",
        },
        {
            "id": "think",
            "kind": "think",
            "prompt": f"{QUESTION} It stands in ${{memory.variables.found}}, or in {words}.",
            "system": f"You are {AGENT} of {tenant_id}; say what ${{memory.variables.of_session}} says.",
            "know": {"subjects": ["Mara", place], "predicates": ["lives_in"]},
            "retrieve": {"question": QUESTION, "channel": "chat", "limit": 100},
            "save_as": "thought",
            "retry": retry,
            "next": {"on": known.job, "cases": {}, "otherwise": "tool"},
        },
        {
            "id": "tool",
            "kind": "tool",
            "activity": "mnestic.read_session",
            "task_queue": None,
            "arguments": read,
            "retry": retry,
            "next": {"on": known.job, "cases": {}, "otherwise": "say"},
            "catch": "say",
        },
        {
            "id": "say",
            "kind": "emit",
            "channel": place,
            "content": f"{words} ${{memory.variables.thought}} ${{memory.variables.found.memories}}",
            "retry": retry,
            "next": {"on": known.job, "cases": {}, "otherwise": "ask"},
        },
        {
            "id": "ask",
            "kind": "wait",
            "key": known.wait,
            "ask": f"{words} ${{results.find}} ${{job.scope}}",
            "form": {"title": words},
            "timeout": "1d",
            "on": {"resumed": "end", "timeout": "end"},
        },
    ]
    for node in nodes:
        if node["kind"] == "tool":
            del node["task_queue"]
    return Plan.model_validate({"name": place, "nodes": nodes})


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
    if isinstance(value, dict):
        for name, each in value.items():
            yield from texts_in(each, f"{path}.{name}".removeprefix("."))
    elif isinstance(value, list | tuple):
        for each in value:
            yield from texts_in(each, path)


@pytest.fixture(params=["another tenant", "another agent"])
def prying(request: pytest.FixtureRequest, theirs: MnesticClient) -> tuple[MnesticClient, str]:
    """Who pries: the agent of that name of another tenant, or another agent of the tenant."""
    if request.param == "another tenant":
        return as_tenant(theirs), AGENT
    return as_tenant(theirs, theirs.settings.tenant_id), f"eve-{uuid.uuid4().hex[:6]}"


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
    # Which activity a tool is, on which task queue, is tried with each of ours in test_tenant_calls.
    tried = {"tool": {"activity", "task_queue"}}

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
    before = rows_of(admin_url, victim.tenant_id, agent_id=AGENT)
    events = await events_of(theirs, victim.known)

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
    assert rows_of(admin_url, victim.tenant_id, agent_id=AGENT) == before
    assert await events_of(theirs, victim.known) == events


async def test_a_tool_that_returns_what_looks_like_anothers_result_gets_just_that(
    prying: tuple[MnesticClient, str], victim: Victim, admin_url: str
) -> None:
    client, agent_id = prying
    reference = dict(victim.known.result)
    nodes = [
        {"id": "echo", "kind": "tool", "activity": "echo", "arguments": reference, "next": "note"},
        {"id": "note", "kind": "remember", "note": "${memory.results.echo}", "next": "end"},
    ]

    plan = Plan.model_validate({"name": "p", "nodes": nodes})
    result = await run_to_end(client, plan, agent_id=agent_id)
    working = await client.memory(agent_id).working_memory.get(SESSION)
    seen = await seen_by(client, result, agent_id=agent_id, admin_url=admin_url)

    assert as_text(reference) in working.scratchpad
    assert leaked(seen.replace(victim.tenant_id, "<given>"), victim, given=victim.known) == []


@pytest.mark.parametrize("set_aside", [False, True])
async def test_a_job_that_is_started_with_anothers_result_gets_nothing_of_it(
    prying: tuple[MnesticClient, str], victim: Victim, set_aside: bool
) -> None:
    client, agent_id = prying
    root = "results" if set_aside else "memory.results"
    reference = {**victim.known.result, **({"set_aside": True} if set_aside else {})}
    node = {"id": "note", "kind": "remember", "note": f"${{{root}.echo}}", "next": "end"}
    plan = Plan.model_validate({"name": "p", "nodes": [node]})

    failed = await failure_of(
        client,
        agent_id=agent_id,
        plan=plan,
        progress=JobProgress(cursor="note", results={"echo": reference}),
    )

    assert failed.type == "NotFoundError"
    assert "tool result" in failed.message


async def test_a_job_that_is_started_as_a_fork_of_anothers_gets_nothing_of_its_memory(
    prying: tuple[MnesticClient, str], victim: Victim, admin_url: str
) -> None:
    client, agent_id = prying
    known = victim.known
    before = rows_of(admin_url, victim.tenant_id, agent_id=AGENT)
    node = {"id": "say", "kind": "emit", "channel": "c", "content": "x", "next": "end"}
    origin = ForkOrigin(
        job_id=known.job, wait_id=known.wait, snapshot_id=known.snapshot, sha256=known.sha256
    )

    failed = await failure_of(
        client,
        agent_id=agent_id,
        plan=Plan.model_validate({"name": "p", "nodes": [node]}),
        progress=JobProgress(cursor="say"),
        origin=origin,
    )

    assert failed.type == "NotFoundError"
    assert "snapshot" in failed.message
    assert (await client.memory(agent_id).working_memory.get("fork")).version == 0
    assert rows_of(admin_url, victim.tenant_id, agent_id=AGENT) == before


async def test_a_message_in_the_session_of_that_name_is_anothers_own(
    prying: tuple[MnesticClient, str], victim: Victim
) -> None:
    client, agent_id = prying
    mine = client.memory(agent_id)

    entry = await mine.add("Mine.", session_id=SESSION, source_id=FIRST)

    assert entry.id != victim.known.entry.id
    assert entry.content == "Mine."
