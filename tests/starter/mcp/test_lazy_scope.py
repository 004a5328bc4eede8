"""The scope of `mnestic mcp`, which connects at the first call."""

import asyncio

from mnestic.memory.errors import DatabaseUnavailableError
from mnestic.starter.client.mnestic_client import MnesticClient
from mnestic.starter.mcp.tool_scope import LazyScope, ToolScope


async def test_calls_share_an_attempt_to_connect_and_the_next_makes_another(
    client: MnesticClient,
) -> None:
    attempts, began, goes_on = list[int](), asyncio.Event(), asyncio.Event()

    async def connect() -> ToolScope:
        attempts.append(len(attempts))
        began.set()
        await goes_on.wait()
        if len(attempts) == 1:
            raise DatabaseUnavailableError(where="postgres", why="no answer")
        return ToolScope(client=client, agent_id="ada")

    scope_of = LazyScope(connect)
    calls = [asyncio.create_task(scope_of()) for _ in range(3)]
    await began.wait()
    calls[0].cancel()
    goes_on.set()
    first, *others = await asyncio.gather(*calls, return_exceptions=True)
    scopes = [await scope_of() for _ in range(2)]

    assert isinstance(first, asyncio.CancelledError)
    assert [type(one) for one in others] == [DatabaseUnavailableError] * 2
    assert [one.agent_id for one in scopes] == ["ada", "ada"]
    assert len(attempts) == 2
