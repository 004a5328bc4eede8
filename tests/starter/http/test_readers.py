"""Readers over HTTP and MCP: each way of reading an agent's memory, as one person may read it, gives nothing that others said in private."""

import re
from itertools import product
from typing import Any

import pytest
from fastapi import FastAPI
from fastapi.routing import APIRoute
from mcp import MCPError

from mnestic.memory.knowledge.entries import EntryQuery
from mnestic.starter.client.memory_client import MemoryClient
from mnestic.starter.client.mnestic_client import MnesticClient
from mnestic.starter.http.app import ROUTERS
from mnestic.starter.http.pages.live import LIVE
from mnestic.starter.http.pages.site import ROUTERS as PAGES
from tests.reader_episode import ROLES, SHORT, STRANGER, leaks, tell
from tests.starter.http.conftest import NewKey, opened
from tests.starter.http.mcp_tools import CASES as TOOLS
from tests.starter.http.pages.conftest import browsing
from tests.starter.http.routes import CASES
from tests.starter.http.test_mcp import serving

AGENT = "clinic"
ASKING = [(ROLES["anna"], SHORT[0]), (ROLES["dan"], SHORT[1]), (STRANGER, SHORT[2])]


@pytest.fixture
async def clinic(client: MnesticClient, worker: None) -> MemoryClient:  # noqa: ARG001 - it learns
    memory = await tell(client, AGENT)
    await memory.records.set("safe", "password", "heron-22")
    await memory.readers.set("channel", "penicillin", ["user.admin.eve"])
    await memory.contexts.summarize()
    return memory


@pytest.fixture
async def hidden(clinic: MemoryClient) -> dict[str, str]:
    """Ids of what only Dan and Eve may read, and of what only Ben and Eve may."""
    entries, _ = await clinic.entries.list(EntryQuery(speaker="Eve"))
    facts, _ = await clinic.facts.list(subject="Ben", predicate="lives_in")
    return {
        "entry": next(one.id for one in entries if "heron" in one.content),
        "fact": next(fact.id for fact in facts if fact.object == "Lelystad"),
    }


def reading() -> list[APIRoute]:
    """The routes and the pages that are read; streams for open pages carry no data."""
    routes = [one for router in (*ROUTERS, *PAGES) for one in router.routes]
    return [
        one
        for one in routes
        if isinstance(one, APIRoute) and "GET" in one.methods and not one.path.startswith(LIVE)
    ]


def parameters_of(route: Any) -> set[str]:
    """The names of what a route takes in its query."""
    own = {field.alias for field in route.query_params}
    return own.union(*map(parameters_of, route.dependencies))


@pytest.mark.acceptance
async def test_each_route_that_is_read_gives_a_reader_nothing_of_others(
    app: FastAPI, new_key: NewKey, hidden: dict[str, str]
) -> None:
    found, opening = {}, set()
    key = await new_key(agents=("*",))
    async with browsing(app, key) as http:
        http.headers["Authorization"] = f"Bearer {key}"
        for route, (reader, question) in product(reading(), ASKING):
            name = f"GET {route.path}"
            asked = {"q": question, "expect": hidden["entry"], "expected": "heron-22"}
            asked |= {"agent_id": AGENT, "subject": "Ben", "name": "Ben"}
            params = {
                **(CASES[name].params if name in CASES else {}),
                **{one: asked[one] for one in asked.keys() & parameters_of(route.dependant)},
                "reader": reader,
            }
            secret = hidden["fact" if "fact" in route.path else "entry"]
            answer = await http.get(re.sub(r"{\w+}", secret, route.path), params=params)
            opening |= {name} if "opens at eight" in answer.text else set()
            if leaked := leaks(answer.text, reader, but=f"{question} heron-22"):
                found[name, reader] = leaked

    assert found == {}
    assert {"GET /v1/context", "GET /v1/memory/export", "GET /ui/memory/entries"} <= opening


async def stored(clinic: MemoryClient) -> tuple[Any, ...]:
    """How much there is, and for whom; a row that was returned may have grown by when."""
    left_out = {"entries": {"row_bytes"}, "searches": True}
    statistics = (await clinic.stats()).model_dump(exclude=left_out)
    return statistics, await clinic.readers.list()


@pytest.mark.acceptance
async def test_each_tool_and_resource_gives_a_reader_nothing_of_others(
    app: FastAPI, new_key: NewKey, clinic: MemoryClient, hidden: dict[str, str]
) -> None:
    found, opening = {}, set()
    before = await stored(clinic)
    key = await new_key(agents=("*",))
    async with serving(app) as connect:
        for path, (reader, question) in product(TOOLS, ASKING):
            async with connect(key, f"{path}?agent_id={AGENT}&reader={reader}") as mcp:
                texts = {}
                for tool in (await mcp.list_tools()).tools:
                    case = TOOLS[path][tool.name]
                    given = {"question": question, "query": question, "memory_id": hidden["entry"]}
                    given |= {"subject": "Ben", "names": ["Ben", "Eve", "Anna"]}
                    known = given.keys() & tool.input_schema["properties"].keys()
                    arguments = case.get("arguments", {}) | {one: given[one] for one in known}
                    result = await mcp.call_tool(tool.name, arguments)
                    texts[tool.name] = result.model_dump_json()
                for name in ("categories", "facts", "facts/Ben") if path == "/mcp" else ():
                    read = await mcp.read_resource(f"mnestic://{AGENT}/{name}")
                    texts[name] = read.model_dump_json()
                with pytest.raises(MCPError, match="jobs are the agent's own"):
                    await mcp.read_resource(f"mnestic://{AGENT}/jobs")
            opening |= {name for name, text in texts.items() if "opens at eight" in text}
            found |= {
                (name, reader): leaked
                for name, text in texts.items()
                if (leaked := leaks(text, reader, but=question))
            }

    assert found == {}
    assert await stored(clinic) == before
    assert {"context", "read_graph", "categories"} <= opening


async def test_an_address_with_two_readers_or_a_bad_one_is_refused(
    app: FastAPI, new_key: NewKey
) -> None:
    key, refusals = await new_key(), {}
    async with serving(app) as connect:
        for query in ("reader=a&reader=b", "reader=two+words", "readers=a"):
            async with connect(key, f"/mcp?{query}") as mcp:
                refused = await mcp.call_tool("recall", {"question": "Who?"})
            refusals[query] = str(getattr(refused.content[0], "text", ""))

    assert "reader: has 2 values; give one" in refusals["reader=a&reader=b"]
    assert "reader" in refusals["reader=two+words"]
    assert "there are agent_id and reader" in refusals["readers=a"]


async def test_readers_of_a_channel_are_set_over_http_and_by_tools(
    app: FastAPI, new_key: NewKey, client: MnesticClient
) -> None:
    key, path = await new_key(), "/v1/memory/readers"
    default = {"kind": "channel", "name": "hr", "readers": ["user.hr.*"]}
    async with opened(app, key) as http:
        was_set = await http.put(path, json=default)
        listed = await http.get(path)
        bad = await http.put(path, json={**default, "readers": ["two words"]})
    ada = client.memory("ada")
    await ada.add("Ida leaves in June.", channel="hr")
    async with opened(app, key) as http:
        removed = await http.delete(path, params={"kind": "channel", "name": "hr"})
    async with serving(app) as connect, connect(key) as mcp:
        of_session = {"kind": "session", "name": "added", "readers": ["user.ben"]}
        tool = await mcp.call_tool("set_readers", of_session)
        await mcp.call_tool("remember", {"text": "My knee hurts."})
        by_tool = await mcp.call_tool("list_readers", {})
        left = await mcp.call_tool("remove_readers", {"kind": "session", "name": "added"})
        await mcp.call_tool("remember", {"text": "I am Ida.", "readers": ["user.ida"]})
    await ada.add("The office has a garden.", channel="hr")

    assert (was_set.json(), removed.json()) == (default, {"kind": "channel", "name": "hr"})
    assert listed.json() == {"items": [default]}
    assert bad.status_code == 422
    assert tool.structured_content == of_session
    assert by_tool.structured_content == {"items": [of_session]}
    assert left.structured_content == {"items": []}
    seen = {}
    for reader in ("user.ben", "user.hr.ida", "user.ida"):
        entries, _ = await client.memory("ada", reader=reader).entries.list(EntryQuery())
        seen[reader] = {one.content for one in entries} - {"The office has a garden."}
    assert seen == {
        "user.ben": {"My knee hurts."},
        "user.hr.ida": {"Ida leaves in June."},
        "user.ida": {"I am Ida."},
    }
