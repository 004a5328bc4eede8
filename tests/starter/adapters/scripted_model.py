"""A model of the OpenAI Agents SDK that gives one scripted output after the other."""

import json
from collections.abc import AsyncIterator, Callable
from typing import Any

from agents import Model, ModelResponse, Usage
from openai.types.responses import (
    ResponseFunctionToolCall,
    ResponseOutputMessage,
    ResponseOutputText,
)

Output = ResponseFunctionToolCall | ResponseOutputMessage


def reply(text: str) -> ResponseOutputMessage:
    """A reply in words."""
    part = ResponseOutputText(text=text, annotations=[], type="output_text")
    return ResponseOutputMessage(
        id="m", content=[part], role="assistant", status="completed", type="message"
    )


def call(name: str, **arguments: Any) -> ResponseFunctionToolCall:
    """A call of a tool."""
    return ResponseFunctionToolCall(
        arguments=json.dumps(arguments),
        call_id=f"call-{name}",
        name=name,
        type="function_call",
        id="f",
        status="completed",
    )


class Script(Model):
    """Gives its outputs in turn, some made of the input that the model then has."""

    def __init__(self, *outputs: Output | Callable[[list[Any]], Output]) -> None:
        self.outputs = list(outputs)
        self.inputs: list[list[Any]] = []

    async def get_response(self, *given: Any, **named: Any) -> ModelResponse:
        """The next output."""
        asked = named["input"] if "input" in named else given[1]
        self.inputs.append(asked if isinstance(asked, list) else [{"content": asked}])
        output = self.outputs.pop(0)
        made = output(self.inputs[-1]) if callable(output) else output
        return ModelResponse(output=[made], usage=Usage(), response_id=None)

    def stream_response(self, *_: Any, **__: Any) -> AsyncIterator[Any]:
        """Not part of a script."""
        raise NotImplementedError
