"""The official runner of the protocol, against `/mcp` behind the gate with the runner's fixtures beside our tools."""

import asyncio
import json
import re
import shutil
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
import uvicorn
from mcp.server.mcpserver import MCPServer
from starlette.types import ASGIApp, Receive, Scope, Send

from mnestic.memory.access.api_keys import ACTIONS
from mnestic.starter.client.mnestic_client import MnesticClient
from mnestic.starter.http.app import make_app
from mnestic.starter.settings import Settings
from mnestic.starter.tenants import Tenants
from tests.acceptance.mcp.conformance import fixtures, input_fixtures

pytestmark = [
    pytest.mark.nightly,
    pytest.mark.skipif(shutil.which("npx") is None, reason="the runner needs Node.js"),
]
RUNNER = "@modelcontextprotocol/conformance@0.2.0-alpha.12"
NODE = "node@24"  # the runner needs it
REVISION = "2026-07-28"
REQUIRED = frozenset(
    {
        "caching",
        "completion-complete",
        "dns-rebinding-protection",
        *(
            f"input-required-result-{name}"
            for name in (
                "basic-elicitation",
                "basic-list-roots",
                "basic-sampling",
                "capability-check",
                "ignore-extra-params",
                "missing-input-response",
                "multi-round",
                "multiple-input-requests",
                "non-tool-request",
                "request-state",
                "result-type",
                "tampered-state",
                "unsupported-methods",
                "validate-input",
            )
        ),
        *(f"prompts-{name}" for name in ("list", "get-simple", "get-with-args")),
        *(f"prompts-{name}" for name in ("get-embedded-resource", "get-with-image")),
        *(f"resources-{name}" for name in ("list", "read-text", "read-binary", "templates-read")),
        "sep-2164-resource-not-found",
        "server-sse-multiple-streams",
        "server-stateless",
        "tools-list",
        *(f"tools-call-{name}" for name in ("simple-text", "image", "audio", "embedded-resource")),
        *(f"tools-call-{name}" for name in ("mixed-content", "error", "with-progress")),
    }
)
# Not scored, and passed.
BEYOND = frozenset({"http-header-validation", "tasks-status-notifications"})
# Not scored: they call tools of their own that become tasks, or tools with other schemas.
WITHOUT_FIXTURES = frozenset(
    {
        "http-custom-header-server-validation",
        "json-schema-2020-12",
        *(f"tasks-{name}" for name in ("capability-negotiation", "dispatch-and-envelope")),
        *(f"tasks-{name}" for name in ("lifecycle", "mrtr-composition", "mrtr-input")),
        *(f"tasks-{name}" for name in ("request-headers", "request-state-removal")),
        *(f"tasks-{name}" for name in ("required-task-error", "wire-fields")),
    }
)


class WithKey:
    """Sends a key, since the runner has none."""

    def __init__(self, app: ASGIApp, key: str) -> None:
        self._app, self._header = app, (b"authorization", f"Bearer {key}".encode())

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            scope = {**scope, "headers": [*scope["headers"], self._header]}
        await self._app(scope, receive, send)


def add_fixtures(server: MCPServer[Any]) -> None:
    """What the runner calls, beside our tools."""
    for tool in (*fixtures.TOOLS, *input_fixtures.TOOLS):
        server.add_tool(tool, structured_output=False)
    for prompt in input_fixtures.PROMPTS:
        server.prompt()(prompt)
    fixtures.add_resources(server)
    fixtures.add_prompts(server)


@asynccontextmanager
async def serving(app: ASGIApp) -> AsyncIterator[str]:
    """The address of an application, for as long as a block."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        server = uvicorn.Server(uvicorn.Config(app, lifespan="on", log_config=None))
        running = asyncio.create_task(server.serve(sockets=[listener]))
        try:
            yield f"http://localhost:{listener.getsockname()[1]}"
        finally:
            server.should_exit = True
            await running


async def run_runner(url: str, folder: Path) -> str:
    """Runs every scenario of the revision, and returns what the runner printed."""
    runner = await asyncio.create_subprocess_exec(
        *("npx", "--yes", "-p", NODE, "-p", RUNNER, "conformance", "server", "--url", url),
        *("--requirements", REVISION, "--output-dir", str(folder)),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    out, _ = await runner.communicate()
    return out.decode()


def outcomes(folder: Path) -> tuple[set[str], set[str]]:
    """The scenarios that passed, and those that did not."""
    passed, failed = set(), set()
    for file in folder.glob("server-*/checks.json"):
        name = re.sub(r"^server-(.+)-20\d\d-.*$", r"\1", file.parent.name)
        checks = json.loads(file.read_text(encoding="utf-8"))
        (failed if any(one["status"] == "FAILURE" for one in checks) else passed).add(name)
    return passed, failed


async def test_the_official_runner_passes_all_that_the_revision_requires(
    client: MnesticClient, settings: Settings, tmp_path: Path
) -> None:
    issued = await client.api_keys().create(agents=["ada"], actions=ACTIONS)

    async with await Tenants.connect(settings) as tenants:
        app = make_app(tenants)
        add_fixtures(app.state.mcp.servers["/mcp"])
        async with serving(WithKey(app, issued.text)) as origin:
            out = await run_runner(f"{origin}/mcp", tmp_path)
    passed, failed = outcomes(tmp_path)

    assert (passed, failed) == (REQUIRED | BEYOND, WITHOUT_FIXTURES), out
