"""Tools that refuse arguments which they do not have: one that is misspelt would change nothing, and nobody would see it.

The SDK ignores such arguments.
"""

from collections.abc import Awaitable, Callable
from typing import Any

from mcp.server.mcpserver.tools import Tool
from mcp_types import ToolAnnotations
from pydantic import create_model


def strict_tool(call: Callable[..., Awaitable[Any]], annotations: ToolAnnotations) -> Tool:
    """The tool of a method; its input schema says that there are no other arguments."""
    made = Tool.from_function(call, annotations=annotations)
    arguments = made.fn_metadata.arg_model
    strict = create_model(
        arguments.__name__, __base__=arguments, __cls_kwargs__={"extra": "forbid"}
    )
    return made.model_copy(
        update={
            "parameters": strict.model_json_schema(by_alias=True),
            "fn_metadata": made.fn_metadata.model_copy(update={"arg_model": strict}),
        }
    )
