"""MCP over HTTP: what a client may do follows from its key; every tool has a case in `mcp_tools.py`."""

import json
import re
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any

import httpx2
import pytest
from fastapi import FastAPI
from mcp import Client, MCPError
from mcp.client.streamable_http import streamable_http_client
from mcp_types import INVALID_PARAMS

from mnestic.memory.access.api_keys import ACTIONS
from mnestic.starter.client.mnestic_client import MnesticClient
from mnestic.starter.http.app import make_app
from mnestic.starter.jobs.plans import parse_plan
from mnestic.starter.tenants import Tenants
from tests.starter.http.conftest import NewKey, opened
from tests.starter.http.mcp_tools import CASES, EACH
from tests.starter.http.routes import PLAN, denied_target
from tests.starter.mcp.task_requests import TaskExtension, TaskRequest, about

ORIGIN = "http://127.0.0.1:8321"
Connect = Callable[..., AbstractAsyncContextManager[Client]]


@asynccontextmanager
async def serving(app: FastAPI) -> AsyncIterator[Connect]:
    """Runs the application; what it yields connects with a key."""

    @asynccontextmanager
    async def connect(
        key: str, address: str = "/mcp", mode: str = "2026-07-28", **options: Any
    ) -> AsyncIterator[Client]:
        async with opened(app, key) as http:
            transport = streamable_http_client(f"{ORIGIN}{address}", http_client=http)
            async with Client(transport, mode=mode, **options) as client:
                yield client

    async with app.router.lifespan_context(app):
        yield connect


async def posted(app: FastAPI, key: str | None, path: str, **more: str) -> httpx2.Response:
    """The answer to a request that does not get as far as a tool."""
    async with opened(app, key) as http:
        return await http.post(f"{ORIGIN}{path}", content="{}", headers=more)


def target_of(path: str, tool: str) -> str:
    """What the audit log says of the call of a case that is denied."""
    return denied_target(f"tools/call {tool}", tool, CASES[path][tool].get("arguments", {}))


async def refusal(client: Client, path: str, tool: str) -> str:
    result = await client.call_tool(tool, CASES[path][tool].get("arguments", {}))
    assert result.is_error
    return str(getattr(result.content[0], "text", ""))


@pytest.mark.parametrize("path", CASES)
async def test_without_a_valid_key_nothing_is_answered(
    app: FastAPI, invalid_keys: dict[str, str | None], path: str
) -> None:
    answers = {why: await posted(app, key, path) for why, key in invalid_keys.items()}

    assert {why: answer.status_code for why, answer in answers.items()} == dict.fromkeys(
        invalid_keys, 401
    )
    assert {answer.headers["WWW-Authenticate"] for answer in answers.values()} == {"Bearer"}


async def test_a_key_for_other_actions_is_refused(
    app: FastAPI, new_key: NewKey, client: MnesticClient
) -> None:
    keys = {one: await new_key(actions=tuple(set(ACTIONS) - {one})) for one in ACTIONS}

    refusals, expected = {}, {}
    async with serving(app) as connect:
        for path, tool in EACH:
            action = CASES[path][tool]["action"]
            async with connect(keys[action], path) as mcp:
                why = await refusal(mcp, path, tool)
            (latest, *_), _ = await client.audit().list(denied=True, limit=1)
            is_named = f"does not allow the action {action}" in why
            refusals[path, tool] = (is_named, latest.target, latest.actor)
            actor = f"key/{keys[action].split('.')[-2]}"
            expected[path, tool] = (True, target_of(path, tool), actor)

    assert refusals == expected


async def test_a_key_for_other_agents_is_refused(
    app: FastAPI, new_key: NewKey, client: MnesticClient
) -> None:
    await client.memory("ada").add("Mara lives in Porto.")
    key = await new_key(agents=("bert", "ad", "adam*"))

    refusals = {}
    async with serving(app) as connect:
        for path, tool in EACH:
            async with connect(key, f"{path}?agent_id=ada") as mcp:
                why = await refusal(mcp, path, tool)
            refusals[path, tool] = "is not for the agent ada" in why
    denied, _ = await client.audit().list(denied=True)

    assert refusals == dict.fromkeys(EACH, True)
    assert sorted((one.target, one.agent_id) for one in denied) == sorted(
        (target_of(path, tool), "ada") for path, tool in EACH
    )


async def test_resources_need_the_same_rights(app: FastAPI, new_key: NewKey) -> None:
    readable, theirs = await new_key(actions=("read",)), await new_key(agents=("bert",))

    async with serving(app) as connect:
        async with connect(readable) as mcp:
            facts = await mcp.read_resource("mnestic://ada/facts")
            with pytest.raises(MCPError, match="does not allow the action jobs") as forbidden:
                await mcp.read_resource("mnestic://ada/jobs")
        async with connect(theirs) as mcp:
            with pytest.raises(MCPError, match="no agent"):
                await mcp.read_resource("mnestic://ada/facts")

    assert '"facts"' in str(facts.contents)
    assert forbidden.value.code == INVALID_PARAMS


async def test_a_key_for_several_agents_lists_and_reads_the_resources_of_each(
    app: FastAPI, new_key: NewKey, client: MnesticClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mnestic.starter.http.mcp_endpoints._AGENTS", 1)
    for agent in ("ada", "bert", "cleo"):
        await client.memory(agent).add("Mara lives in Porto.")
    key = await new_key(agents=("ada", "cl*"), actions=("read",))

    listed, cursor = list[str](), None
    async with serving(app) as connect, connect(key) as mcp:
        while not listed or cursor is not None:
            page = await mcp.list_resources(cursor=cursor)
            listed += [str(one.uri) for one in page.resources]
            cursor = page.next_cursor
        facts = await mcp.read_resource("mnestic://cleo/facts")
        with pytest.raises(MCPError, match="not for the agent bert"):
            await mcp.read_resource("mnestic://bert/facts")

    assert listed == [
        f"mnestic://{agent}/{name}"
        for agent in ("ada", "cleo")
        for name in ("categories", "facts", "jobs")
    ]
    assert '"facts"' in str(facts.contents)


async def test_an_address_that_names_no_agent_is_refused(app: FastAPI, new_key: NewKey) -> None:
    key = await new_key(agents=("*",))
    expected = {
        "/mcp": r"agent_id is missing.*\?agent_id=",
        "/mcp?agent_id=": "agent_id",
        "/mcp?agent_id=no%20id": "agent_id",
        "/mcp?agent=ada": "'agent' is not known",
    }

    why = {}
    async with serving(app) as connect:
        for address in expected:
            async with connect(key, address) as mcp:
                why[address] = (await refusal(mcp, "/mcp", "recall")).replace(":", "")

    for address, says in expected.items():
        assert re.search(says, why[address]), address


async def test_a_task_needs_the_scope_jobs_and_its_name_in_the_header(
    app: FastAPI, new_key: NewKey, monkeypatch: pytest.MonkeyPatch
) -> None:
    reading, job = await new_key(actions=("read",)), await new_key(actions=("jobs",))
    methods, extensions = ("get", "update", "cancel"), [TaskExtension()]

    codes = {}
    async with (
        serving(app) as connect,
        connect(reading, extensions=extensions) as reader,
        connect(job, extensions=extensions) as worker,
    ):
        for method in methods:
            with pytest.raises(MCPError, match="does not allow the action jobs") as forbidden:
                await about(reader, method, "no-such-job", inputResponses={})
            with pytest.raises(MCPError, match="no job no-such-job") as absent:
                await about(worker, method, "no-such-job", inputResponses={})
            with monkeypatch.context() as patch:
                patch.setattr(TaskRequest, "name_param", None)
                with pytest.raises(MCPError, match="mcp-name") as unnamed:
                    await about(worker, method, "no-such-job", inputResponses={})
            codes[method] = (forbidden.value.code, absent.value.code, unnamed.value.code)

    assert codes == dict.fromkeys(methods, (-32602, -32602, -32020))


async def test_a_job_of_another_agent_does_not_exist_and_asking_for_it_is_in_the_audit_log(
    app: FastAPI, new_key: NewKey, client: MnesticClient
) -> None:
    plan = parse_plan(json.dumps(PLAN), source="test")
    job_id = await client.start_job(plan, agent_id="ada", session_id="s")
    key = await new_key(agents=("bert",))

    async with serving(app) as connect, connect(key, extensions=[TaskExtension()]) as mcp:
        with pytest.raises(MCPError, match=f"no job {job_id}"):
            await about(mcp, "get", job_id)
        with pytest.raises(MCPError, match=f"no job {job_id}"):
            await mcp.read_resource(f"mnestic://bert/jobs/{job_id}")
        resumed = await mcp.call_tool("resume_job", {"job_id": job_id})
    denied, _ = await client.audit().list(denied=True)

    assert f"no job {job_id}" in str(resumed.content)
    assert {(one.agent_id, one.action, one.target) for one in denied} == {
        ("ada", "access.denied", target)
        for target in ("tasks/get", "resources/read", "tools/call resume_job")
    }


async def test_other_host_names_and_methods_are_refused(app: FastAPI, new_key: NewKey) -> None:
    key = await new_key()

    async with serving(app), opened(app, key) as http:
        host = await http.post(f"{ORIGIN}/mcp", json={}, headers={"Host": "elsewhere.example"})
        origin = await http.post(
            f"{ORIGIN}/mcp", json={}, headers={"Origin": "http://elsewhere.example"}
        )
        stream = await http.get(f"{ORIGIN}/mcp")
        large = await http.post(f"{ORIGIN}/mcp", content=b" " * (8 * 2**20 + 1))

    assert (host.status_code, origin.status_code) == (421, 403)
    assert (stream.status_code, stream.headers["Allow"]) == (405, "POST")
    assert (large.status_code, large.headers["Content-Type"]) == (413, "application/problem+json")


async def test_pages_of_an_origin_that_a_setting_names_call_it(
    tenants: Tenants, new_key: NewKey
) -> None:
    key, theirs = await new_key(), "https://app.example"
    headers = {"Origin": theirs, "Access-Control-Request-Method": "POST"}
    asked = "Authorization, Content-Type, MCP-Protocol-Version, Mcp-Method, Mcp-Name"

    found = {}
    for origins in ((), (theirs,)):
        app = make_app(tenants, origins=origins)
        async with serving(app), opened(app, key) as http:
            preflight = await http.options(
                f"{ORIGIN}/mcp", headers={**headers, "Access-Control-Request-Headers": asked}
            )
            answer = await posted(
                app, key, "/mcp", **{**headers, "Content-Type": "application/json"}
            )
        allowed = answer.headers.get("Access-Control-Allow-Origin")
        found[origins] = (preflight.is_success, answer.status_code, allowed)

    assert found[()] == (False, 403, None)
    assert found[theirs,] == (True, 400, theirs)  # the request itself is none


async def test_each_tool_has_a_case(app: FastAPI, new_key: NewKey) -> None:
    found = {}

    async with serving(app) as connect:
        for path in CASES:
            async with connect(await new_key(), path, mode="legacy") as client:
                capability = client.server_capabilities.tools
                assert not (capability and capability.list_changed)  # so nobody holds a stream open
                found[path] = {tool.name for tool in (await client.list_tools()).tools}

    assert found == {path: set(tools) for path, tools in CASES.items()}


async def test_what_is_done_with_a_key_is_counted_and_in_the_audit_log(
    app: FastAPI, new_key: NewKey, client: MnesticClient
) -> None:
    key = await new_key()

    async with serving(app) as connect, connect(key) as mcp:
        await mcp.call_tool("recall", {"question": "Where does Mara live?"})
    async with opened(app, await new_key(agents=("*",))) as http:
        metrics = (await http.get("/metrics")).text
    found, _ = await client.audit().list(key_id=key.split(".")[-2])

    assert [(one.agent_id, one.action) for one in found] == [("ada", "entry.search")]
    assert 'mnestic_retrieval_seconds_count{mode="hybrid"} 1.0' in metrics
    assert 'mnestic_retrievals_empty_total{mode="hybrid"} 1.0' in metrics
