"""`mnestic mcp`: serve an agent's memory to a client of the Model Context Protocol."""

from contextlib import AsyncExitStack
from typing import Annotated, Literal

import typer

from mnestic.starter.cli.connection import connect_client
from mnestic.starter.cli.output import run
from mnestic.starter.cli.overrides import command_settings


def mcp(
    agent: Annotated[str, typer.Option(help="The agent whose memory is served.")],
    profile: Annotated[
        Literal["memory", "entities"],
        typer.Option(help="The tools: those of Mnestic, or those of the reference memory server."),
    ] = "memory",
    reader: Annotated[
        str | None, typer.Option(help="Serve what this reader may read, and write nothing.")
    ] = None,
) -> None:
    """Serve an agent's memory and jobs to an MCP client, over standard input and output."""
    from mnestic.memory.scope import check_id
    from mnestic.starter.logs import configure_logs
    from mnestic.starter.mcp.server import build_server
    from mnestic.starter.mcp.tool_scope import LazyScope, ToolScope

    check_id(agent, what="agent")
    configure_logs(command_settings())

    async def serve() -> None:
        async with AsyncExitStack() as stack:

            async def connect() -> ToolScope:
                client = await stack.enter_async_context(await connect_client())
                return ToolScope(client=client, agent_id=agent, reader=reader)

            # At the first call, so that the handshake waits for nothing.
            await build_server(LazyScope(connect), profile=profile).run_stdio_async()

    run(serve())
