"""Each operation of a contract by each way in: the client, HTTP, MCP and a job's node do the same, and all leave audit rows."""

from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from fastapi import FastAPI

from mnestic.memory.jobs.memory_operations import OPERATIONS, OperationName
from mnestic.memory.jobs.plans import Plan
from mnestic.starter.client.mnestic_client import MnesticClient
from tests.starter.http.conftest import NewKey, opened
from tests.starter.http.test_mcp import serving

AGENT, SESSION = "ada", "s1"
DOCUMENT = {
    "Memory": {
        "short_term": {
            "enabled": True,
            "segments": [{"segment_id": "task", "max_tokens": 1000}],
        },
        "long_term": {
            "enabled": True,
            "storage_backends": [{"backend_id": "main", "type": "postgres"}],
            "schemas": [
                {"schema_id": "audits", "backend": "main", "structure": {"type": "object"}}
            ],
        },
    }
}
# In an order in which each finds what it needs; the audit row of what each reads or writes.
CALLS: dict[OperationName, tuple[dict[str, Any], tuple[str, str]]] = {
    "set_context": (
        {"segment_id": "task", "content": "Audit site 7."},
        ("working.save", SESSION),
    ),
    "get_context": ({"segment_id": "task"}, ("working.load", SESSION)),
    "summarize": ({"segment_id": "task"}, ("working.load", SESSION)),
    "persist": (
        {"schema_id": "audits", "key": "site-7", "value": {"score": 71}},
        ("record.set", "audits/site-7"),
    ),
    "retrieve": ({"schema_id": "audits", "key": "site-7"}, ("record.get", "audits/site-7")),
    "query": ({"schema_id": "audits"}, ("record.query", "audits")),
}


def shown(result: dict[str, Any]) -> Any:
    """What a result says, without times and ids."""
    if "records" in result:
        return [one["value"] for one in result["records"]]
    return result.get("value", result.get("content"))


EXPECTED: dict[str, Any] = {
    **dict.fromkeys(("set_context", "get_context", "summarize"), "Audit site 7."),
    "persist": {"score": 71},
    "retrieve": {"score": 71},
    "query": [{"score": 71}],
}


async def by_client(client: MnesticClient, *_: Any) -> dict[str, Any]:
    memory = await client.contract(AGENT, session_id=SESSION, actor="person")
    return {
        name: (await memory.operate(name, arguments)).model_dump(mode="json")
        for name, (arguments, _) in CALLS.items()
    }


async def by_http(_: MnesticClient, app: FastAPI, new_key: NewKey) -> dict[str, Any]:
    results: dict[str, Any] = {}
    async with opened(app, await new_key()) as http:
        for name, (arguments, _) in CALLS.items():
            session = {"session_id": SESSION} if OPERATIONS[name].of_session else {}
            answer = await http.post(f"/contract/{name}", json=arguments, params=session)
            results[name] = answer.raise_for_status().json()
    return results


async def by_mcp(_: MnesticClient, app: FastAPI, new_key: NewKey) -> dict[str, Any]:
    results: dict[str, Any] = {}
    key = await new_key()
    async with serving(app) as connect, connect(key) as mcp:
        for name, (arguments, _) in CALLS.items():
            session = {"session_id": SESSION} if OPERATIONS[name].of_session else {}
            answer = await mcp.call_tool(name, {**arguments, **session})
            assert answer.structured_content is not None, answer.content
            results[name] = answer.structured_content
    return results


async def by_node(client: MnesticClient, *_: Any) -> dict[str, Any]:
    nodes = [
        {
            "id": f"node_{name}",
            "kind": "memory",
            "operation": name,
            "arguments": arguments,
            "save_as": name,
            "next": following,
        }
        for (name, (arguments, _)), following in zip(
            CALLS.items(), [*(f"node_{name}" for name in [*CALLS][1:]), "end"], strict=True
        )
    ]
    plan = Plan.model_validate({"name": "operations", "nodes": nodes})
    job = await client.start_job(plan, agent_id=AGENT, session_id=SESSION, job_id="j1")
    await client.wait_for_result(job)
    return dict((await client.memory(AGENT).working_memory.get(SESSION)).variables)


Way = Callable[[MnesticClient, FastAPI, NewKey], Awaitable[dict[str, Any]]]
WAYS: dict[str, Way] = {"client": by_client, "HTTP": by_http, "MCP": by_mcp, "a node": by_node}


@pytest.mark.usefixtures("worker")
@pytest.mark.parametrize("way", WAYS)
async def test_each_operation_gives_the_same_by_each_way_and_leaves_an_audit_row(
    client: MnesticClient, app: FastAPI, new_key: NewKey, way: str
) -> None:
    await client.contracts().apply(AGENT, DOCUMENT)

    results = await WAYS[way](client, app, new_key)
    rows, _ = await client.audit().list(agent_id=AGENT, limit=1000)

    assert {name: shown(result) for name, result in results.items()} == EXPECTED
    named = {(row.action, row.target) for row in rows}
    assert {row for _, row in CALLS.values()} - named == set()
