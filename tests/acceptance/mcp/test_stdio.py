"""`mnestic mcp` as a client starts it: a process that speaks over standard input and output, beside `mnestic up`."""

import os
import sys
from pathlib import Path
from typing import Any

import pytest
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client

from tests.acceptance.mcp.guide import STDIO, settings_of

pytestmark = pytest.mark.acceptance


@pytest.mark.parametrize("mode", ["legacy", "auto"])
async def test_a_client_remembers_and_recalls_by_the_settings_of_the_guide(
    start_up: Any, root: Path, tmp_path: Path, mode: str
) -> None:
    up = start_up(tmp_path)
    settings = settings_of(root, STDIO)
    server = StdioServerParameters(
        command=str(Path(sys.executable).with_name(settings["command"])),
        args=settings["args"],
        env={**os.environ, "MNESTIC_DATA_DIR": str(up.data)},
    )

    async with Client(stdio_client(server), mode=mode) as client:
        await client.call_tool("remember", {"text": "The spare key is under the fern."})
        recalled = await client.call_tool("recall", {"question": "Where is the spare key?"})
        templates = await client.list_resource_templates()
        facts = await client.read_resource("mnestic://ada/facts")

    assert recalled.structured_content is not None
    assert recalled.structured_content["memories"][0]["text"] == "The spare key is under the fern."
    assert len(templates.resource_templates) == 5
    assert '"facts"' in str(facts.contents)
