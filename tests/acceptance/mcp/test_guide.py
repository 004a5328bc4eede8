"""`mnestic mcp` and `/mcp` beside `mnestic up`, as a client reaches them by the settings of the guide."""

import json
import os
import shlex
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx2
import pytest
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client

from tests.acceptance.processes import Up
from tests.starter.mcp.approval import PLAN
from tests.starter.mcp.task_requests import TaskExtension, about, started, until

pytestmark = pytest.mark.acceptance

Connect = Callable[..., AbstractAsyncContextManager[Client]]


@pytest.fixture(scope="module")
def up(start_up: Any, tmp_path_factory: pytest.TempPathFactory) -> Up:
    up: Up = start_up(tmp_path_factory.mktemp("mcp"))
    return up


@pytest.fixture(scope="module")
def guide(root: Path) -> Callable[[str, int], str]:
    """Gives a block of the guide, by its language and place."""
    page = (root / "docs" / "mcp.md").read_text(encoding="utf-8")
    return lambda language, place: page.split(f"```{language}\n")[place].split("```")[0]


@pytest.fixture(scope="module")
def connections(up: Up, guide: Callable[[str, int], str], mnestic: str) -> dict[str, Connect]:
    """Connects by the settings of each transport, with the key of the command that the guide shows."""
    stdio, http = (json.loads(guide("json", place))["mcpServers"]["memory"] for place in (1, 3))
    _, *words = shlex.split(guide("sh", 2))
    key = next(word for word in up.command(*words, "--json").out.replace('"', " ").split() if word.startswith("mnk."))  # fmt: skip
    assert Path(mnestic).name == stdio["command"]

    def over_stdio(**options: Any) -> Client:
        env = {**os.environ, "MNESTIC_DATA_DIR": str(up.data)}
        server = StdioServerParameters(command=mnestic, args=stdio["args"], env=env)
        return Client(stdio_client(server), **options)

    @asynccontextmanager
    async def over_http(**options: Any) -> AsyncIterator[Client]:
        headers = {name: value.replace("KEY", key) for name, value in http["headers"].items()}
        url = up.running.document["api"] + urlsplit(http["url"]).path
        async with (
            httpx2.AsyncClient(headers=headers) as sender,
            Client(streamable_http_client(url, http_client=sender), **options) as client,
        ):
            yield client

    return {"stdio": over_stdio, "http": over_http}


def test_the_settings_of_each_client_name_the_same_server(
    guide: Callable[[str, int], str],
) -> None:
    local, code, remote = (json.loads(guide("json", place)) for place in (1, 2, 3))
    server, http = local["mcpServers"]["memory"], remote["mcpServers"]["memory"]
    add, add_http = (shlex.split(guide("sh", place)) for place in (1, 3))

    assert code["servers"]["memory"] == {"type": "stdio", **server}
    of_claude = ["claude", "mcp", "add", "--transport"]
    assert add == [*of_claude, "stdio", "memory", "--", server["command"], *server["args"]]
    header = [f"{name}: {value}" for name, value in http["headers"].items()]
    assert add_http == [*of_claude, http["type"], "memory", http["url"], "--header", *header]


@pytest.mark.parametrize("mode", ["legacy", "auto"])
@pytest.mark.parametrize("transport", ["stdio", "http"])
async def test_a_client_remembers_and_recalls(
    connections: dict[str, Connect], transport: str, mode: str
) -> None:
    text = f"The {transport} key for {mode} is under the fern."
    async with connections[transport](mode=mode) as client:
        await client.call_tool("remember", {"text": text})
        recalled = await client.call_tool("recall", {"question": f"Where is {transport} key?"})
        templates = await client.list_resource_templates()
        resources = (await client.list_resources()).resources
        facts = await client.read_resource("mnestic://ada/facts")

    assert recalled.structured_content is not None
    assert text in [memory["text"] for memory in recalled.structured_content["memories"]]
    assert len(templates.resource_templates) == 5
    assert "mnestic://ada/facts" in {str(one.uri) for one in resources}
    assert '"facts"' in str(facts.contents)


async def test_a_job_that_waits_is_resumed_through_its_task_over_both_transports(
    connections: dict[str, Connect], guide: Callable[[str, int], str]
) -> None:
    results = {}
    for transport, number in (("stdio", "4711"), ("http", "4712")):
        update = json.loads(guide("json", 4).replace("4711", number))
        task_id = update["taskId"]
        async with connections[transport](extensions=[TaskExtension()]) as client:
            await started(client, plan=PLAN, session_id=task_id, job_id=task_id)
            waiting = await until(client, task_id, "input_required")
            assert list(waiting["inputRequests"]) == list(update["inputResponses"])
            await about(client, "update", task_id, inputResponses=update["inputResponses"])
            results[task_id] = (await until(client, task_id, "completed"))["result"]
            seen = {task_id: (await about(client, "get", task_id))["result"] for task_id in results}

    assert seen == results
    for result in results.values():
        assert result["structuredContent"]["results"]["approval"]["payload"] == {"by": "Ida"}
