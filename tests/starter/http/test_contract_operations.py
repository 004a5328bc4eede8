"""Each operation of a contract by each way in: the client, HTTP, MCP and a job's node do the same, and all leave audit rows, whatever is refused."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Any

import pytest
from fastapi import FastAPI

from mnestic.memory.errors import RefusedError
from mnestic.memory.jobs.memory_operations import OPERATIONS, OperationName, access_of
from mnestic.memory.jobs.plans import Plan
from mnestic.memory.ports import Memory
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
                {
                    "schema_id": "audits",
                    "backend": "main",
                    "structure": {"properties": {"score": {"type": "number"}}},
                }
            ],
        },
        "shared": {
            "enabled": True,
            "pubsub": {"enabled": True, "channels": [{"channel": "news", "pattern": "seo.*"}]},
            "namespaces": [
                {"namespace": "seo:audit", "access_level": "admin", "agents_allowed": [AGENT]}
            ],
        },
        "vector": {
            "enabled": True,
            "collections": [
                {
                    "collection_id": "guides",
                    "metadata_schema": {"properties": {"topic": {"type": "string"}}},
                }
            ],
        },
        "graph": {
            "enabled": True,
            "nodes": [{"type": "Task", "properties": ["title"]}],
            "edges": [{"type": "NEEDS", "from_node": "Task", "to_node": "Task"}],
            "queries": [
                {"query_id": "tasks", "cypher": "MATCH (t:Task) RETURN t.id ORDER BY t.id"}
            ],
        },
    }
}
SPACE, SHARED = {"namespace": "seo:audit"}, {"namespace": "seo:audit", "key": "site-7"}
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
    "publish": ({"channel": "seo.title", "event": {"page": "/"}}, ("memory.publish", "seo.title")),
    "list_events": ({"channel": "seo.*"}, ("event.list", "seo.*")),
    "set_shared": ({**SHARED, "value": {"score": 71}}, ("shared.set", "seo:audit/site-7")),
    "get_shared": (SHARED, ("shared.get", "seo:audit/site-7")),
    "list_shared": (SPACE, ("shared.list", "seo:audit")),
    "lock": (SHARED, ("shared.lock", "seo:audit/site-7")),
    "unlock": ({**SHARED, "token": None}, ("shared.unlock", "seo:audit/site-7")),
    "delete_shared": (SHARED, ("shared.delete", "seo:audit/site-7")),
    "grant": ({**SPACE, "selector": "guest", "level": "read"}, ("shared.grant", "seo:audit/guest")),
    "list_grants": (SPACE, ("shared.list_grants", "seo:audit")),
    "revoke": ({**SPACE, "selector": "guest"}, ("shared.revoke", "seo:audit/guest")),
    "drop_namespace": (SPACE, ("shared.drop", "seo:audit")),
    "upsert_node": ({"node_type": "Task", "node_id": "T1"}, ("graph.put", "t1")),
    "upsert_edge": (
        {"edge_type": "NEEDS", "source": "T1", "target": "T1"},
        ("graph.put", "t1/t1"),
    ),
    "neighbours": ({"node_id": "T1"}, ("graph.list", "t1")),
    "paths": ({"source": "T1", "target": "T1"}, ("memory.paths", "T1/T1")),
    "subgraph": ({"node_id": "T1"}, ("graph.list", "t1")),
    "query_graph": ({"query_id": "tasks"}, ("graph.load", "*")),
    "delete_edge": (
        {"edge_type": "NEEDS", "source": "T1", "target": "T1"},
        ("graph.end", "t1/t1"),
    ),
    "delete_node": ({"node_id": "T1"}, ("graph.end", "t1")),
    "upsert": (
        {"collection": "guides", "doc": {"id": "titles", "content": "Titles are short."}},
        ("document.put", "guides/titles"),
    ),
    "search": (
        {"query": "How long is a title?", "collection": "guides"},
        ("document.search", "guides"),
    ),
    "embed": ({"text": "a title"}, ("memory.embed", "")),
    "delete_document": (
        {"collection": "guides", "document_id": "titles"},
        ("document.remove", "guides/titles"),
    ),
}
LEVELS: dict[OperationName, int] = {
    **dict.fromkeys(("get_shared", "list_shared", "list_grants"), 1),
    **dict.fromkeys(("set_shared", "lock", "unlock", "delete_shared"), 2),
    **dict.fromkeys(("grant", "revoke", "drop_namespace"), 3),
}


NODE, EDGE = (
    {"node_type": "Task", "node_id": "T2"},
    {"edge_type": "NEEDS", "source": "T1", "target": "T2"},
)
GUIDES, DOC = {"collection": "guides"}, {"id": "a", "content": "A guide."}
TASK, SITE, NONE = {"segment_id": "task"}, {"schema_id": "audits", "key": "site-7"}, "none"
# What is refused, with the target of its audit row and the error that the row names.
INVALID, KEPT_OUT, NOT_FOUND = "InvalidInputError", "KeptOutError", "NotFoundError"
DENIED = "AccessDeniedError"
REFUSED: tuple[tuple[OperationName, dict[str, Any], str, str], ...] = (
    ("set_context", {"segment_id": NONE, "content": "Hello."}, "s1/none", INVALID),
    ("set_context", {**TASK, "content": 7}, "s1/task", INVALID),
    ("set_context", {**TASK, "content": "Otilia called."}, "s1/task", KEPT_OUT),
    ("get_context", {"segment_id": NONE}, "s1/none", INVALID),
    ("get_context", {"segment_id": ""}, "s1/", INVALID),
    ("summarize", {"segment_id": NONE}, "s1/none", INVALID),
    ("summarize", {"segment_id": "x" * 999}, f"s1/{'x' * 256}", INVALID),
    ("persist", {**SITE, "schema_id": NONE, "value": {}}, "none/site-7", INVALID),
    ("persist", {**SITE, "value": {"score": "much"}}, "audits/site-7", INVALID),
    ("persist", {**SITE, "value": {}, "ttl_seconds": -1}, "audits/site-7", INVALID),
    ("persist", {**SITE, "value": {"by": "Otilia"}}, "audits/site-7", KEPT_OUT),
    ("retrieve", {**SITE, "schema_id": NONE}, "none/site-7", INVALID),
    ("retrieve", {**SITE, "key": NONE}, "audits/none", NOT_FOUND),
    ("retrieve", {**SITE, "key": ""}, "audits/", INVALID),
    ("query", {"schema_id": NONE}, "none", INVALID),
    ("query", {"schema_id": "audits", "filter": {"limit": 0}}, "audits", INVALID),
    ("publish", {"channel": "other", "event": {}}, "other", DENIED),
    ("publish", {"channel": "news", "event": 7}, "news", INVALID),
    ("publish", {"channel": "news", "event": {"by": "Otilia"}}, "news", KEPT_OUT),
    ("list_events", {"channel": "*"}, "*", DENIED),
    ("list_events", {"channel": "news", "after": 99}, "news", INVALID),
    ("set_shared", {**SHARED, "value": {"by": "Otilia"}}, "seo:audit/site-7", KEPT_OUT),
    ("set_shared", {**SHARED, "value": None}, "seo:audit/site-7", INVALID),
    ("set_shared", {**SHARED, "value": 1, "token": 5}, "seo:audit/site-7", "LockLostError"),
    (
        "set_shared",
        {**SHARED, "value": 1, "expected_version": 5},
        "seo:audit/site-7",
        "StaleVersionError",
    ),
    ("get_shared", SHARED, "seo:audit/site-7", NOT_FOUND),
    ("lock", {**SHARED, "timeout_ms": None}, "seo:audit/site-7", INVALID),
    ("lock", {**SHARED, "timeout_ms": 0}, "seo:audit/site-7", INVALID),
    ("grant", {**SPACE, "selector": "guest", "level": "all"}, "seo:audit/guest", INVALID),
    ("upsert_node", {**NODE, "node_type": "Team"}, "T2", INVALID),
    ("upsert_node", {**NODE, "node_id": ""}, "", INVALID),
    ("upsert_node", {**NODE, "properties": {"title": "Call Otilia"}}, "T2", KEPT_OUT),
    ("upsert_edge", EDGE, "T1/T2", INVALID),
    ("upsert_edge", {**EDGE, "properties": 7}, "T1/T2", INVALID),
    ("delete_node", {"node_id": "..."}, "...", INVALID),
    ("delete_edge", {**EDGE, "edge_type": NONE}, "T1/T2", INVALID),
    ("neighbours", {"node_id": "T1", "direction": "up"}, "T1", INVALID),
    ("paths", {"source": "T1", "target": "T2", "max_length": 99}, "T1/T2", INVALID),
    ("subgraph", {"node_id": "T1", "depth": 99}, "T1", INVALID),
    ("query_graph", {"query_id": NONE}, "none", INVALID),
    ("query_graph", {"query_id": "tasks", "parameters": {"a": 1}}, "tasks", INVALID),
    ("upsert", {"collection": NONE, "doc": {"id": "a", "content": "b"}}, "none/a", INVALID),
    ("upsert", {**GUIDES, "doc": {"id": "a", "content": ""}}, "guides/a", INVALID),
    ("upsert", {**GUIDES, "doc": {**DOC, "metadata": {"topic": 7}}}, "guides/a", INVALID),
    ("upsert", {**GUIDES, "doc": {**DOC, "metadata": {"by": "Otilia"}}}, "guides/a", KEPT_OUT),
    ("search", {"query": "b", "collection": NONE}, "none", INVALID),
    ("search", {**GUIDES, "query": "b", "filter": {"field": "a..b"}}, "guides", INVALID),
    ("embed", {"text": ""}, "", INVALID),
    ("delete_document", {"collection": NONE, "document_id": "a"}, "none/a", INVALID),
    ("delete_document", {**GUIDES, "document_id": "a"}, "guides/a", NOT_FOUND),
)


LISTS = {"records": "value", "events": "payload", "results": "content", "grants": "level"}


def shown(result: dict[str, Any]) -> Any:
    """What a result says, without times and ids."""
    for name, field in LISTS.items():
        if name in result:
            return [one[field] for one in result[name]]
    if "nodes" in result:
        return _shown_graph(result)
    if "vector" in result:
        return len(result["vector"])
    names = ("value", "content", "channel", "strategy", "count", "level", "predicate", "name", "id")
    return next(result[name] for name in names if name in result)


def _shown_graph(result: dict[str, Any]) -> Any:
    """The rows of a query, the names of nodes, or how many were deleted."""
    if "rows" in result or isinstance(result["nodes"], int):
        return result.get("rows", result)
    return [one["name"] for one in result["nodes"]]


EXPECTED: dict[str, Any] = {
    **dict.fromkeys(("set_context", "get_context", "summarize"), "Audit site 7."),
    "persist": {"score": 71},
    "retrieve": {"score": 71},
    "query": [{"score": 71}],
    "publish": "seo.title",
    "list_events": [{"page": "/"}],
    "set_shared": {"score": 71},
    "get_shared": {"score": 71},
    "list_shared": [{"score": 71}],
    "lock": "optimistic",
    "unlock": 0,
    "delete_shared": 1,
    "grant": "read",
    "list_grants": ["admin", "read"],
    "revoke": 1,
    "drop_namespace": 0,
    "upsert_node": "T1",
    "upsert_edge": "NEEDS",
    "neighbours": ["T1"],
    "paths": ["T1"],
    "subgraph": ["T1"],
    "query_graph": [["T1"]],
    "delete_edge": {"nodes": 0, "edges": 1},
    "delete_node": {"nodes": 1, "edges": 0},
    **dict.fromkeys(("upsert", "delete_document"), "titles"),
    "search": ["Titles are short."],
    "embed": 256,
}
Calls = Sequence[tuple[OperationName, dict[str, Any]]]
Results = list[dict[str, Any] | None]  # None where a call was refused
SPACES = ("none", "read", "write", "admin")
# Each operation of shared memory in each namespace, and whether the level there is enough.
BY_LEVEL: tuple[tuple[OperationName, dict[str, Any], bool], ...] = tuple(
    (name, CALLS[name][0] | {"namespace": space}, held >= needed)
    for held, space in enumerate(SPACES)
    for name, needed in LEVELS.items()
)


async def by_client(client: MnesticClient, _app: FastAPI, _new: NewKey, calls: Calls) -> Results:
    memory = await client.contract(AGENT, session_id=SESSION, actor="person")
    results: Results = []
    for name, arguments in calls:
        try:
            results.append((await memory.operate(name, arguments)).model_dump(mode="json"))
        except RefusedError:
            results.append(None)
    return results


async def by_http(_: MnesticClient, app: FastAPI, new_key: NewKey, calls: Calls) -> Results:
    results: Results = []
    async with opened(app, await new_key()) as http:
        for name, arguments in calls:
            session = {"session_id": SESSION} if OPERATIONS[name].of_session else {}
            answer = await http.post(f"/v1/contract/{name}", json=arguments, params=session)
            results.append(answer.json() if answer.is_success else None)
    return results


async def by_mcp(_: MnesticClient, app: FastAPI, new_key: NewKey, calls: Calls) -> Results:
    results: Results = []
    key = await new_key()
    async with serving(app) as connect, connect(key) as mcp:
        for name, arguments in calls:
            session = {"session_id": SESSION} if OPERATIONS[name].of_session else {}
            answer = await mcp.call_tool(name, {**arguments, **session})
            results.append(answer.structured_content)
    return results


async def by_node(client: MnesticClient, _app: FastAPI, _new: NewKey, calls: Calls) -> Results:
    ids = [*(f"n{number}" for number in range(len(calls))), "end"]
    nodes = [
        {"id": ids[number], "kind": "memory", "operation": name, "arguments": arguments}
        | {"save_as": ids[number], "next": ids[number + 1], "catch": ids[number + 1]}
        for number, (name, arguments) in enumerate(calls)
    ]
    plan = Plan.model_validate({"name": "operations", "nodes": nodes})
    job = await client.start_job(plan, agent_id=AGENT, session_id=SESSION, job_id="j1")
    await client.wait_for_result(job)
    saved = (await client.memory(AGENT).working_memory.get(SESSION)).variables
    return [saved.get(name) for name in ids[:-1]]


Way = Callable[[MnesticClient, FastAPI, NewKey, Calls], Awaitable[Results]]
WAYS: dict[str, Way] = {"client": by_client, "HTTP": by_http, "MCP": by_mcp, "a node": by_node}
ACTORS = {"client": "person", "HTTP": "key/", "MCP": "key/", "a node": "job/j1"}


async def rows_of(client: MnesticClient, way: str) -> list[tuple[str, str, str | None]]:
    """The audit rows of operations in their order; each names who, and a job's its place in the run."""
    rows, _ = await client.audit().list(agent_id=AGENT, limit=1000)
    own = [row for row in reversed(rows) if row.action.startswith("memory.")]
    assert all(row.actor.startswith(ACTORS[way]) for row in own)
    assert len({row.operation_key for row in own}) == (len(own) if way == "a node" else 1)
    others = {row.reason for row in rows if row not in own}
    assert not any((reason or "").startswith("refused") for reason in others)
    return [(row.action, row.target, row.reason) for row in own]


@pytest.mark.usefixtures("worker")
@pytest.mark.parametrize("way", WAYS)
async def test_each_operation_gives_the_same_by_each_way_and_leaves_an_audit_row(
    client: MnesticClient, app: FastAPI, new_key: NewKey, way: str
) -> None:
    await client.contracts().apply(AGENT, DOCUMENT)
    calls = [(name, arguments) for name, (arguments, _) in CALLS.items()]

    results = await WAYS[way](client, app, new_key, calls)
    rows, _ = await client.audit().list(agent_id=AGENT, limit=1000)

    assert {
        name: result and shown(result) for name, result in zip(CALLS, results, strict=True)
    } == EXPECTED
    assert {row for _, row in CALLS.values()} <= {(row.action, row.target) for row in rows}
    assert await rows_of(client, way) == [
        (*access_of(name, arguments, session_id=SESSION), None) for name, arguments in calls
    ]


@pytest.mark.usefixtures("worker")
@pytest.mark.parametrize("way", WAYS)
async def test_each_operation_that_is_refused_leaves_one_audit_row_by_each_way(
    client: MnesticClient, memory: Memory, app: FastAPI, new_key: NewKey, way: str
) -> None:
    await client.contracts().apply(AGENT, DOCUMENT)
    async with memory.transaction(
        tenant_id=client.settings.tenant_id, agent_id=AGENT, actor="test", write=True
    ) as transaction:
        await transaction.forgetting.begin("f1", "Otilia", entries=())
        await transaction.suppression_list.add("f1", "Otilia")

    results = await WAYS[way](client, app, new_key, [one[:2] for one in REFUSED])

    assert results == [None] * len(REFUSED)
    assert await rows_of(client, way) == [
        (f"memory.{name}", target, f"refused: {error}") for name, _, target, error in REFUSED
    ]


@pytest.mark.usefixtures("worker")
@pytest.mark.acceptance
@pytest.mark.parametrize("way", ["HTTP", "MCP", "a node"])
async def test_without_a_contract_each_operation_leaves_one_audit_row_too(
    client: MnesticClient, app: FastAPI, new_key: NewKey, way: str
) -> None:
    calls = [(name, arguments) for name, (arguments, _) in CALLS.items()]

    results = await WAYS[way](client, app, new_key, calls)

    def error(name: OperationName) -> str:
        if way != "a node":
            return NOT_FOUND
        return DENIED if name in {"publish", "list_events", *LEVELS} else INVALID

    assert results == [None] * len(calls)
    assert await rows_of(client, way) == [
        (*access_of(name, arguments, session_id=SESSION), f"refused: {error(name)}")
        for name, arguments in calls
    ]


async def share_spaces(client: MnesticClient) -> None:
    """Gives the agent a level in each of some namespaces that have a record."""
    for agent in (AGENT, "keeper"):
        levels = {name: name if agent == AGENT else "admin" for name in SPACES}
        grants = [
            {"namespace": name, "access_level": level, "agents_allowed": [agent]}
            for name, level in levels.items()
            if level != "none"
        ]
        document = {"Memory": {"shared": {"enabled": True, "namespaces": grants}}}
        await client.contracts().apply(agent, document)
    keeper = await client.contract("keeper")
    for name in SPACES:
        await keeper.set_shared(name, "site-7", {"score": 71})


@pytest.mark.usefixtures("worker")
@pytest.mark.parametrize("way", WAYS)
async def test_each_operation_of_shared_memory_is_refused_below_its_level_by_each_way(
    client: MnesticClient, app: FastAPI, new_key: NewKey, way: str
) -> None:
    await share_spaces(client)

    results = await WAYS[way](client, app, new_key, [one[:2] for one in BY_LEVEL])

    assert [result is not None for result in results] == [one[2] for one in BY_LEVEL]
    assert await rows_of(client, way) == [
        (*access_of(name, arguments), None if may else f"refused: {DENIED}")
        for name, arguments, may in BY_LEVEL
    ]
