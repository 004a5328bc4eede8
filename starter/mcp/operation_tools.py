"""The operations of the agent's contract as tools: one for each of the table."""

from collections.abc import Awaitable, Callable
from inspect import Parameter, Signature
from typing import Annotated, Any

from mcp.server.mcpserver.tools import Tool
from pydantic import Field, ValidationError

from mnestic.memory.access.api_keys import Action
from mnestic.memory.jobs.memory_operations import OPERATIONS, MemoryOperation
from mnestic.memory.scope import Id
from mnestic.starter.mcp.memory_tools import READS, REPLACES, Call
from mnestic.starter.mcp.strict_tools import strict_tool
from mnestic.starter.mcp.tool_scope import ScopeOf, tool

_SESSION = Annotated[Id, Field(description="The session whose segment it is.")]


class OperationTools:
    """The tools, for the agent that the transport names."""

    def __init__(self, scope_of: ScopeOf) -> None:
        self._scope_of = scope_of

    def tools(self) -> list[Tool]:
        """The tools."""
        return [self._tool(operation) for operation in OPERATIONS.values()]

    def _tool(self, operation: MemoryOperation) -> Tool:
        action: Action = "write" if operation.writes else "read"

        async def run(ctx: Call, session_id: str | None = None, **arguments: Any) -> Any:
            memory = (await self._scope_of(ctx.request_context, action)).memory
            return await memory.operations.do(operation.name, arguments, session_id=session_id)

        async def note_malformed(ctx: Call, arguments: dict[str, Any]) -> None:
            memory = (await self._scope_of(ctx.request_context, action)).memory
            session_id = arguments.get("session_id")
            await memory.operations.note_malformed(operation.name, arguments, session_id=session_id)

        run.__name__, run.__doc__ = operation.name, operation.summary
        signature = _signature(operation)  # what the tool's schema is made of
        vars(run)["__signature__"] = signature
        run.__annotations__ = {one.name: one.annotation for one in signature.parameters.values()}
        made = strict_tool(tool(run), REPLACES if operation.writes else READS)
        fields = {name: getattr(made, name) for name in Tool.model_fields}
        return _OperationTool(**fields, note_malformed=tool(note_malformed))


class _OperationTool(Tool):
    """A tool whose malformed calls leave an audit row."""

    note_malformed: Callable[[Any, dict[str, Any]], Awaitable[None]] = Field(exclude=True)

    async def run(
        self, arguments: dict[str, Any], context: Any, convert_result: bool = False
    ) -> Any:
        try:
            self.fn_metadata.validate_arguments(arguments)
        except ValidationError:
            await self.note_malformed(context, arguments)
        return await super().run(arguments, context, convert_result)


def _signature(operation: MemoryOperation) -> Signature:
    """The signature of a function with the arguments of an operation."""
    fields = operation.arguments.model_fields
    parameters = [Parameter("ctx", Parameter.KEYWORD_ONLY, annotation=Call)]
    if operation.of_session:
        parameters.append(Parameter("session_id", Parameter.KEYWORD_ONLY, annotation=_SESSION))
    parameters += [
        Parameter(
            name,
            Parameter.KEYWORD_ONLY,
            annotation=Annotated[
                field.annotation, *field.metadata, Field(description=field.description)
            ],
            default=Parameter.empty
            if field.is_required()
            else field.get_default(call_default_factory=True),
        )
        for name, field in fields.items()
    ]
    return Signature(parameters, return_annotation=operation.result)
