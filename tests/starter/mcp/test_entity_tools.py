import uuid
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from typing import Any

import pytest
from mcp import Client

from mnestic.starter.client.mnestic_client import MnesticClient

Connect = Callable[..., AbstractAsyncContextManager[Client]]

IDA = {"name": "Ida", "entityType": "person", "observations": ["Ida sails on Sundays."]}
YARD = {"name": "Norsk Yard", "entityType": "company", "observations": []}
WORKS = {"from": "Ida", "to": "Norsk Yard", "relationType": "works for"}


@pytest.fixture
def agent() -> str:
    return f"agent-{uuid.uuid4().hex[:8]}"


async def call(client: Client, name: str, **arguments: Any) -> dict[str, Any]:
    result = await client.call_tool(name, arguments)
    assert not result.is_error, result.content
    assert result.structured_content is not None
    return result.structured_content


async def test_entities_relations_and_observations_are_read_back(
    connect: Connect, agent: str
) -> None:
    async with connect(agent, "entities") as client:
        created = await call(client, "create_entities", entities=[IDA, YARD])
        again = await call(client, "create_entities", entities=[IDA])
        await call(client, "create_relations", relations=[WORKS])
        twice = await call(client, "create_relations", relations=[WORKS])
        new = {"entityName": "Ida", "contents": ["Ida sails on Sundays.", "Ida has a red boat."]}
        added = await call(client, "add_observations", observations=[new])
        graph = await call(client, "read_graph")
        one = await call(client, "open_nodes", names=["Ida"])
        found = await call(client, "search_nodes", query="Who has a red boat?")

    assert [entity["name"] for entity in created["entities"]] == ["Ida", "Norsk Yard"]
    assert (again["entities"], twice["relations"]) == ([], [])
    assert added["results"] == [{"entityName": "Ida", "addedObservations": ["Ida has a red boat."]}]
    ida = {**IDA, "observations": ["Ida sails on Sundays.", "Ida has a red boat."]}
    relation = {"from": "Ida", "to": "Norsk Yard", "relationType": "works_for"}
    assert sorted(graph["entities"], key=lambda one: one["name"]) == [ida, YARD]
    assert (graph["relations"], graph["isCut"]) == ([relation], False)
    assert (one["entities"], one["relations"]) == ([ida], [])
    assert [entity["name"] for entity in found["entities"]] == ["Ida"]


async def test_a_relation_of_any_script_is_read_back(connect: Connect, agent: str) -> None:
    relations = [
        {"from": "Ida", "to": "Norsk Yard", "relationType": name}
        for name in ("ÜBER!", "любит", "पसंद है")
    ]

    async with connect(agent, "entities") as client:
        await call(client, "create_relations", relations=relations)
        graph = await call(client, "read_graph")
        twice = await call(client, "create_relations", relations=relations)
        deleted = await call(client, "delete_relations", relations=relations)

    stored = {relation["relationType"] for relation in graph["relations"]}
    assert stored == {"über", "любит", "पसंद_है"}
    assert (twice["relations"], deleted["facts"]) == ([], 3)


async def test_what_is_deleted_is_gone_and_observations_are_in_the_archive(
    connect: Connect, agent: str, client: MnesticClient
) -> None:
    async with connect(agent, "entities") as mcp:
        await call(mcp, "create_entities", entities=[IDA, YARD])
        await call(mcp, "create_relations", relations=[WORKS])
        unwanted = {"entityName": "Ida", "observations": ["Ida sails on Sundays."]}
        observed = await call(mcp, "delete_observations", deletions=[unwanted])
        related = await call(mcp, "delete_relations", relations=[WORKS])
        removed = await call(mcp, "delete_entities", entityNames=["Ida"])
        graph = await call(mcp, "read_graph")

    archived, _ = await client.memory(agent).entries.list_archived()
    assert observed == {"observations": 1, "facts": 0}
    assert related == {"observations": 0, "facts": 1}
    assert removed == {"observations": 0, "facts": 1}
    assert graph["entities"] == [YARD]
    assert [one.entry.content for one in archived] == ["Ida sails on Sundays."]


async def test_an_observation_of_nobody_adds_nothing(connect: Connect, agent: str) -> None:
    known, unknown = ({"entityName": name, "contents": ["Rows."]} for name in ("Ida", "Nobody"))

    async with connect(agent, "entities") as client:
        await call(client, "create_entities", entities=[IDA])
        refused = await client.call_tool("add_observations", {"observations": [known, unknown]})
        graph = await call(client, "open_nodes", names=["Ida"])

    assert refused.is_error
    assert "no entity Nobody" in str(refused.content)
    assert graph["entities"][0]["observations"] == IDA["observations"]
