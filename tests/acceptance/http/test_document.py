"""The OpenAPI document and the server agree: whatever a request has, its answer is one that the document names."""

import asyncio
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx2
import pytest

from mnestic.memory.access.api_keys import ACTIONS
from mnestic.starter.client.mnestic_client import MnesticClient

pytestmark = pytest.mark.acceptance

RUNNER = str(Path(sys.executable).with_name("st"))
CONFIGURATION = str(Path(__file__).with_name("schemathesis.toml"))


@pytest.mark.usefixtures("worker")
async def test_each_answer_is_one_that_the_document_names(
    processes: Any, start_api: Callable[[], tuple[Any, str]], client: MnesticClient
) -> None:
    issued = await client.api_keys().create(agents=["*"], actions=ACTIONS)
    _, url = await asyncio.to_thread(start_api)

    async with (
        httpx2.AsyncClient() as http
    ):  # which has the document written, so that it is there when it is read
        (await http.get(f"{url}/openapi.json", timeout=60)).raise_for_status()

    done = await asyncio.to_thread(
        processes.run,
        *(RUNNER, "--config-file", CONFIGURATION, "run", f"{url}/openapi.json"),
        env={"MNESTIC_KEY": issued.text},
        limit_s=900,
    )

    assert done.code == 0, done.out
    assert "unresolvable reference" not in done.out
