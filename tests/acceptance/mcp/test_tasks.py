"""A job as a task, over both transports: it waits, is answered as the guide shows, and ends."""

import json
import os
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx2
import pytest
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client

from tests.acceptance.mcp.guide import HTTP, STDIO, UPDATE, json_of, made_key, settings_of
from tests.starter.mcp.approval import PLAN
from tests.starter.mcp.task_requests import TaskExtension, about, started, until

pytestmark = pytest.mark.acceptance


async def answered(client: Client, update: dict[str, Any]) -> dict[str, Any]:
    """The end of a task that was answered."""
    task_id = update["taskId"]
    await started(client, plan=PLAN, session_id=task_id, job_id=task_id)
    waiting = await until(client, task_id, "input_required")
    assert list(waiting["inputRequests"]) == list(update["inputResponses"])
    await about(client, "update", task_id, inputResponses=update["inputResponses"])
    return await until(client, task_id, "completed")


async def test_a_job_that_waits_is_resumed_through_its_task_over_both_transports(
    start_up: Any, mnestic: str, root: Path, tmp_path: Path
) -> None:
    up = start_up(tmp_path)
    update = json_of(root, UPDATE)
    another = json.loads(json.dumps(update).replace("4711", "4712"))
    stdio, over_http = settings_of(root, STDIO), settings_of(root, HTTP)
    server = StdioServerParameters(
        command=mnestic,
        args=stdio["args"],
        env={**os.environ, "MNESTIC_DATA_DIR": str(up.data)},
    )
    url = up.running.document["api"] + urlsplit(over_http["url"]).path
    headers = {"Authorization": f"Bearer {made_key(root, mnestic, up.data)}"}

    async with Client(stdio_client(server), extensions=[TaskExtension()]) as client:
        first = await answered(client, update)
    async with (
        httpx2.AsyncClient(headers=headers) as http,
        Client(
            streamable_http_client(url, http_client=http), extensions=[TaskExtension()]
        ) as client,
    ):
        second = await answered(client, another)
        seen = await about(client, "get", update["taskId"])

    for task in (first, second):
        results = task["result"]["structuredContent"]["results"]
        assert results["approval"]["payload"] == {"by": "Ida"}
    assert seen["result"] == first["result"]
