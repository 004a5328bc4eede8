"""The tools of readers: who may read what is said in a session or a channel from then on."""

from typing import Annotated

from mcp.server.mcpserver.tools import Tool
from pydantic import Field

from mnestic.memory.sharing.readers import DefaultKind, ReaderDefault, ReaderDefaults, Readers
from mnestic.starter.mcp.memory_tools import READS, REPLACES, Call
from mnestic.starter.mcp.strict_tools import strict_tool
from mnestic.starter.mcp.tool_scope import ScopeOf, tool

Kind = Annotated[DefaultKind, Field(description="Whether it is a session or a channel.")]
Named = Annotated[str, Field(description="Its id or name; of what `remember` adds, channel mcp.")]


class ReaderTools:
    """The tools, for the agent that the transport names."""

    def __init__(self, scope_of: ScopeOf) -> None:
        self._scope_of = scope_of

    def tools(self) -> list[Tool]:
        """The tools."""
        calls = (
            (self.set_readers, REPLACES),
            (self.list_readers, READS),
            (self.remove_readers, REPLACES),
        )
        return [strict_tool(call, annotations) for call, annotations in calls]

    @tool
    async def set_readers(
        self,
        ctx: Call,
        *,
        kind: Kind,
        name: Named,
        readers: Annotated[Readers, Field(description="Ids and patterns such as user.sales.*.")],
    ) -> ReaderDefault:
        """Sets who may read what is said in a session or a channel from now on."""
        memory = (await self._scope_of(ctx.request_context, "write")).memory
        return await memory.readers.set(kind, name, readers)

    @tool
    async def list_readers(self, ctx: Call) -> ReaderDefaults:
        """Lists the sessions and channels that have readers."""
        memory = (await self._scope_of(ctx.request_context, "read")).memory
        return ReaderDefaults(items=await memory.readers.list())

    @tool
    async def remove_readers(self, ctx: Call, *, kind: Kind, name: Named) -> ReaderDefaults:
        """Has everybody read what is said there from now on, and lists who still has readers; what was said before keeps its readers."""
        memory = (await self._scope_of(ctx.request_context, "write")).memory
        await memory.readers.remove(kind, name)
        return ReaderDefaults(items=await memory.readers.list())
