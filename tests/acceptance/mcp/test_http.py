"""`/mcp` of the HTTP API beside `mnestic up`, as a client reaches it by the guide."""

from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx2
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from tests.acceptance.mcp.guide import HTTP, made_key, settings_of

pytestmark = pytest.mark.acceptance


@pytest.mark.parametrize("mode", ["legacy", "auto"])
async def test_a_client_remembers_and_recalls_by_the_settings_of_the_guide(
    start_up: Any, mnestic: str, root: Path, tmp_path: Path, mode: str
) -> None:
    up = start_up(tmp_path, "--no-worker")
    settings = settings_of(root, HTTP)
    url = up.running.document["api"] + urlsplit(settings["url"]).path
    key = made_key(root, mnestic, up.data)
    headers = {name: value.replace("KEY", key) for name, value in settings["headers"].items()}

    async with (
        httpx2.AsyncClient(headers=headers) as http,
        Client(streamable_http_client(url, http_client=http), mode=mode) as client,
    ):
        await client.call_tool("remember", {"text": "The spare key is under the fern."})
        recalled = await client.call_tool("recall", {"question": "Where is the spare key?"})
        facts = await client.read_resource("mnestic://ada/facts")

    assert recalled.structured_content is not None
    assert recalled.structured_content["memories"][0]["text"] == "The spare key is under the fern."
    assert '"facts"' in str(facts.contents)
