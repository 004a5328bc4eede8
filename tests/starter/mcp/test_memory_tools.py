import pytest
from mcp import MCPError
from mcp_types import INVALID_PARAMS

from mnestic.memory.jobs.memory_operations import OPERATIONS
from mnestic.starter.client.mnestic_client import MnesticClient
from tests.starter.mcp.conftest import Connect

READS = {"recall", "context", "list_facts", "get_memory", "list_readers", "list_waiting_jobs"}
READS |= {name for name, operation in OPERATIONS.items() if not operation.writes}
REPLACES = {"forget", "update_memory", "delete_memory", "set_readers", "remove_readers"}
REPLACES |= {*OPERATIONS} - READS


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


@pytest.mark.parametrize("mode", ["legacy", "2026-07-28"])
async def test_the_resources_of_the_agent_are_listed_and_can_be_read(
    connect: Connect, client: MnesticClient, agent: str, mode: str
) -> None:
    await client.memory(agent).add("Mara lives in Porto.")
    (known,), _ = await client.list_agents(agent_id=agent)

    async with connect(agent, mode=mode) as mcp:
        listed = (await mcp.list_resources()).resources
        templates = (await mcp.list_resource_templates()).resource_templates
        texts = [str(await mcp.read_resource(one.uri)) for one in listed]

    names = ["categories", "facts", "jobs"]
    assert [(str(one.uri), one.name) for one in listed] == [
        (f"mnestic://{agent}/{name}", name) for name in names
    ]
    modified = [one.annotations.last_modified for one in listed if one.annotations]
    assert modified == [known.last_written_at.isoformat()] * 2 + [None]
    assert [one.title for one in listed] == [f"{name.capitalize()} of {agent}" for name in names]
    assert {one.mime_type for one in (*listed, *templates)} == {"application/json"}
    assert all(one.title and one.description for one in templates)
    assert all(f'"{name}"' in text for name, text in zip(names, texts, strict=True))


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
