"""What Temporal would refuse to carry: the node fails, its `catch` goes on, and the job ends.

Jobs are started past the checks of our client, as anybody may, so that the workflow is on its own.
"""

import asyncio
import re
import uuid
from typing import Any

import pytest
from temporalio.client import WorkflowFailureError

from mnestic.memory.errors import InvalidPlanError
from mnestic.memory.jobs.agent_job import JobInput
from mnestic.memory.jobs.plans import Plan
from mnestic.memory.names import AGENT_JOB, job_workflow_id
from mnestic.memory.scope import Scope
from mnestic.starter.client.mnestic_client import MnesticClient
from mnestic.starter.jobs.plans import parse_plan, require_sound

TEXT = "x" * 16_000
OVER = " ".join(["${input.text}"] * 140)  # 2.2 MB
FAR_OVER = " ".join(["${input.text}"] * 20_000)  # 320 MB
ESCAPED = " ".join(["${input.lines}"] * 100)  # 1.6 MB, and twice that as JSON
WIDE = "\N{GRINNING FACE}" * 256  # 1,024 bytes
FILLED = "fills in more than the 2000000 bytes"
LARGE = "the limit is 2000000; store the content"
TOOL = {"kind": "tool", "activity": "none", "retry": {"attempts": 1}, "queue_timeout": "1s"}

UNSENDABLE: dict[str, tuple[dict[str, Any], str]] = {
    "arguments": (TOOL | {"arguments": {"all": OVER}}, FILLED),
    "arguments that would fill the machine": (TOOL | {"arguments": FAR_OVER}, FILLED),
    "arguments that grow as JSON": (TOOL | {"arguments": ESCAPED}, f"arguments: .*{LARGE}"),
    "a message that grows": (
        {"kind": "remember", "message": {"content": ESCAPED}},
        f"what remember is asked: .*{LARGE}",
    ),
    "a prompt": ({"kind": "think", "prompt": ESCAPED}, f"what think is asked: .*{LARGE}"),
    "a system prompt": ({"kind": "think", "prompt": "?", "system": OVER}, FILLED),
    "a question": ({"kind": "recall", "search": {"question": ESCAPED}}, LARGE),
    "an index": (
        TOOL | {"arguments": "${input.list." + "9" * 5_000 + "}"},
        "999…}: has no '999.*nothing by name",
    ),
    "a branch": (
        {
            "kind": "emit",
            "channel": "c",
            "content": "hello",
            "next": {"on": FAR_OVER, "cases": {}, "otherwise": "end"},
        },
        FILLED,
    ),
    "a task queue of Temporal's SDKs": (TOOL | {"task_queue": "/_sys/mine"}, "keeps for itself"),
    "a long activity": (TOOL | {"activity": WIDE}, "1024 bytes long; at most 1000"),
}


async def run(client: MnesticClient, *nodes: dict[str, Any]) -> dict[str, Any]:
    """Runs a plan that no client of ours has checked; returns its results."""
    tenant, job_id = client.settings.tenant_id, uuid.uuid4().hex[:12]
    handle = await client.temporal.start_workflow(
        AGENT_JOB,
        JobInput(
            job_id=job_id,
            scope=Scope(tenant_id=tenant, agent_id="ada", session_id="s1"),
            plan=Plan.model_validate({"name": "unsendable", "nodes": nodes}),
            inputs={"text": TEXT, "lines": "\n" * 16_000, "list": [1]},
        ),
        id=job_workflow_id(tenant, job_id),
        task_queue=client.settings.task_queue,
    )
    found: dict[str, Any] = await asyncio.wait_for(handle.result(), 60)
    return dict(found["results"])


@pytest.mark.usefixtures("worker")
async def test_a_node_that_cannot_be_sent_is_caught(client: MnesticClient) -> None:
    nodes = [
        {"id": f"n{number}", "next": "end", **node, "catch": f"n{number + 1}"}
        for number, (node, _) in enumerate(UNSENDABLE.values())
    ]
    last = {"kind": "emit", "channel": "c", "content": "ends", "next": "end"}

    results = await run(client, *nodes, {"id": f"n{len(nodes)}", **last})

    assert len(results) == len(nodes) + 1
    for number, (label, (_, why)) in enumerate(UNSENDABLE.items()):
        error = results[f"n{number}"]["error"]
        assert error["type"] in {"InvalidInputError", "PayloadTooLargeError"}, label
        assert re.search(why, error["message"]), label


@pytest.mark.usefixtures("worker")
async def test_a_wait_that_asks_too_much_fails_the_job(client: MnesticClient) -> None:
    wait = {"id": "w", "kind": "wait", "key": "k", "timeout": "1d", "on": {"timeout": "end"}}

    with pytest.raises(WorkflowFailureError) as failed:
        await run(client, wait | {"ask": FAR_OVER})

    assert "node w failed: ${input.text}: fills in more" in str(failed.value.cause)


STATIC = {
    "task_queue: /_sys/mine": "line 4: tool 'first': task_queue: begins with /_sys/",
    f"task_queue: {WIDE}": "line 4: tool 'first': task_queue: is 1024 bytes long",
    "arguments: ${input.list." + "9" * 5_000 + "}": (
        "line 4: node 'first' has a template with the name 999"
    ),
}


@pytest.mark.parametrize("line", STATIC, ids=lambda line: line[:20])
def test_a_plan_that_says_so_is_refused_before_the_start(line: str) -> None:
    text = f"""
name: unsendable
nodes:
  - id: first
    kind: tool
    activity: none
    {line}
    next: end
"""

    with pytest.raises(InvalidPlanError, match=STATIC[line]):
        parse_plan(text, source="test")


def test_a_plan_made_in_python_is_held_to_the_same() -> None:
    node = TOOL | {"id": "first", "next": "end", "activity": WIDE}
    plan = Plan.model_validate({"name": "unsendable", "nodes": [node]})

    with pytest.raises(InvalidPlanError, match="activity: is 1024 bytes long"):
        require_sound(plan)
