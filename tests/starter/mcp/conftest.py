"""A client of the Model Context Protocol on a server in the same process, with real Postgres and Temporal."""

import uuid
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any

import pytest
from mcp import Client

from mnestic.starter.client.mnestic_client import MnesticClient
from mnestic.starter.mcp.server import Profile, build_server
from mnestic.starter.mcp.tool_scope import ToolScope

Connect = Callable[..., AbstractAsyncContextManager[Client]]


@pytest.fixture
def connect(client: MnesticClient) -> Connect:
    @asynccontextmanager
    async def connected(
        agent_id: str, profile: Profile = "memory", **options: Any
    ) -> AsyncIterator[Client]:
        async def scope_of(*_: object) -> ToolScope:
            return ToolScope(client=client, agent_id=agent_id)

        async with Client(build_server(scope_of, profile=profile), **options) as opened:
            yield opened

    return connected


@pytest.fixture
def agent() -> str:
    """An agent that only this test has."""
    return f"agent-{uuid.uuid4().hex[:8]}"
