import re
import uuid
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from typing import Any

import pytest
from mcp import Client, MCPError
from mcp_types import INVALID_PARAMS

from mnestic.starter.client.mnestic_client import MnesticClient
from tests.starter.case_files import read_cases

Connect = Callable[..., AbstractAsyncContextManager[Client]]

READS = {"recall", "context", "list_facts", "get_memory", "list_waiting_jobs"}
REPLACES = {"forget", "update_memory", "delete_memory"}


@pytest.fixture
def agent() -> str:
    return f"agent-{uuid.uuid4().hex[:8]}"


async def call(client: Client, name: str, **arguments: Any) -> dict[str, Any]:
    result = await client.call_tool(name, arguments)
    assert not result.is_error, result.content
    assert result.structured_content is not None
    return result.structured_content


async def refusal(client: Client, name: str, **arguments: Any) -> str:
    result = await client.call_tool(name, arguments)
    assert result.is_error
    return str(getattr(result.content[0], "text", ""))


@pytest.mark.parametrize("mode", ["legacy", "2026-07-28"])
async def test_the_default_profile_says_what_each_tool_does(
    connect: Connect, agent: str, mode: str
) -> None:
    async with connect(agent, mode=mode) as client:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}

    assert set(tools) == READS | REPLACES | {"remember", "start_job", "resume_job"}
    for name, tool in tools.items():
        assert tool.annotations is not None
        assert tool.annotations.read_only_hint is (name in READS)
        assert bool(tool.annotations.destructive_hint) is (name in REPLACES)
        assert tool.output_schema is not None
        assert tool.description
        assert all("description" in field for field in tool.input_schema["properties"].values())
        assert tool.input_schema["additionalProperties"] is False


async def test_one_memory_is_read_corrected_and_deleted(connect: Connect, agent: str) -> None:
    async with connect(agent) as client:
        own = await call(client, "remember", text="The boiler is serviced in May.")
        stored = await call(
            client, "remember", text="The spare key is under the fren.", speaker="Ida"
        )
        memory = {"memory_id": stored["id"]}
        text = "The spare key is under the fern."
        changed = await call(
            client, "update_memory", **memory, text=text, tags=["house"], pinned=True
        )
        read = await call(client, "get_memory", **memory)
        boiler = await call(client, "get_memory", memory_id=own["id"])
        recalled = await call(client, "recall", question="Where is the spare key?")
        block = await call(client, "context", question="Where is the spare key?", max_tokens=300)
        nobody = await call(client, "recall", question="Who won the regatta?")
        nothing = await refusal(client, "update_memory", **memory)
        deleted = await call(client, "delete_memory", **memory)
        gone = await refusal(client, "get_memory", **memory)

    assert changed == read
    assert (read["text"], read["tags"], read["pinned"]) == (text, ["house"], True)
    (memory_found,) = recalled["memories"]
    assert (memory_found["text"], memory_found["speaker"]) == (text, "Ida")
    assert (memory_found["score"] > 0.5, memory_found["archived"]) == (True, False)
    assert boiler["speaker"] == agent
    assert "under the fern" in block["text"]
    assert 0 < block["tokens"] <= 300
    assert nobody == {"memories": []}
    assert "no change is given" in nothing
    assert deleted == {"id": stored["id"], "facts": []}
    assert f"no entry {stored['id']}" in gone


@pytest.mark.usefixtures("worker")
async def test_forgetting_takes_a_preview_and_its_confirmation(
    connect: Connect, agent: str
) -> None:
    async with connect(agent) as client:
        await call(client, "remember", text="Project Heron starts in June.")
        unconfirmed = await refusal(client, "forget", topic="Project Heron", confirm="0" * 32)
        preview = await call(client, "forget", topic="Project Heron")
        still = await call(client, "recall", question="When does Project Heron start?")
        done = await call(client, "forget", topic="Project Heron", confirm=preview["confirm"])
        gone = await call(client, "recall", question="When does Project Heron start?")

    assert "what would go has changed; look again" in unconfirmed
    assert [item["text"] for item in preview["items"]] == ["Project Heron starts in June."]
    assert (preview["done"], done["done"]) == (False, True)
    assert len(still["memories"]) == 1
    assert gone["memories"] == []


async def test_facts_come_in_pages_and_as_of_a_time(
    connect: Connect, agent: str, client: MnesticClient
) -> None:
    for place in ("Ghent", "Oslo"):
        await client.memory(agent).facts.add("Ida", "lives_in", place)
    await client.memory(agent).facts.add("Ida", "likes", "chess")

    async with connect(agent) as mcp:
        first = await call(mcp, "list_facts", subject="Ida", limit=1)
        second = await call(mcp, "list_facts", subject="Ida", limit=1, cursor=first["cursor"])
        lives = await call(mcp, "list_facts", predicate="lives_in")

    objects = {fact["object"] for page in (first, second) for fact in page["facts"]}
    assert objects == {"Oslo", "chess"}
    assert second["cursor"] is None
    assert [fact["object"] for fact in lives["facts"]] == ["Oslo"]


@pytest.mark.parametrize(
    ("name", "arguments", "says"),
    read_cases(__file__, "refusals"),
)
async def test_a_bad_argument_is_an_error_that_names_it(
    connect: Connect, agent: str, name: str, arguments: dict[str, Any], says: str
) -> None:
    async with connect(agent) as client:
        assert re.search(says, await refusal(client, name, **arguments))


@pytest.mark.parametrize(
    ("uri", "says"),
    [
        ("mnestic://somebody-else/facts", "no agent"),
        ("mnestic://{agent}/jobs/nobody-started-it", "no job"),
        ("mnestic://{agent}/nothing", "Unknown resource"),
    ],
)
async def test_a_resource_that_is_not_there_has_invalid_parameters(
    connect: Connect, agent: str, uri: str, says: str
) -> None:
    async with connect(agent) as mcp:
        with pytest.raises(MCPError, match=says) as absent:
            await mcp.read_resource(uri.format(agent=agent))

    assert absent.value.code == INVALID_PARAMS
