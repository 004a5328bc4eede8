"""What the official runner calls and Mnestic does not have: its tools, prompts and resources, added to our server."""

import asyncio
import base64
from typing import Any

from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.utilities.types import Audio, Image
from mcp_types import (
    Completion,
    EmbeddedResource,
    ImageContent,
    TextContent,
    TextResourceContents,
)

PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg=="
)
WAV = base64.b64decode("UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAAAAA==")


def test_simple_text() -> str:
    """Returns a text."""
    return "This is a simple text response for testing."


def test_image_content() -> Image:
    """Returns an image."""
    return Image(data=PNG, format="png")


def test_audio_content() -> Audio:
    """Returns a sound."""
    return Audio(data=WAV, format="wav")


def test_embedded_resource() -> EmbeddedResource:
    """Returns a resource."""
    return _embedded(
        "test://embedded-resource", "text/plain", "This is an embedded resource content."
    )


def test_multiple_content_types() -> list[TextContent | ImageContent | EmbeddedResource]:
    """Returns several kinds of content."""
    return [
        TextContent(text="Multiple content types test:"),
        Image(data=PNG, format="png").to_image_content(),
        _embedded(
            "test://mixed-content-resource", "application/json", '{"test":"data","value":123}'
        ),
    ]


def test_error_handling() -> str:
    """Fails."""
    raise ValueError("This tool intentionally returns an error for testing")


async def test_tool_with_progress(ctx: Context[Any, Any]) -> str:
    """Reports progress."""
    for progress in (0, 50, 100):
        await ctx.report_progress(progress, 100)
        await asyncio.sleep(0.05)
    return "done"


def greet(name: str) -> str:
    """Greets."""
    return f"Hello, {name}!"


def add_resources(server: MCPServer[Any]) -> None:
    """Resources, and a template of them."""

    @server.resource("test://static-text", mime_type="text/plain")
    def static_text() -> str:
        """A text."""
        return "This is the content of the static text resource."

    @server.resource("test://static-binary", mime_type="image/png")
    def static_binary() -> bytes:
        """An image."""
        return PNG

    @server.resource("test://template/{id}/data", mime_type="application/json")
    def template(id: str) -> str:  # noqa: A002 - the runner's name
        """A resource of the template."""
        return f'{{"id":"{id}","templateTest":true,"data":"Data for ID: {id}"}}'


def add_prompts(server: MCPServer[Any]) -> None:
    """Prompts, and completions of their arguments."""

    @server.prompt()
    def test_simple_prompt() -> str:
        """A prompt."""
        return "This is a simple prompt for testing."

    @server.prompt()
    def test_prompt_with_arguments(arg1: str, arg2: str) -> str:
        """A prompt with arguments."""
        return f"Prompt with arguments: arg1='{arg1}', arg2='{arg2}'"

    @server.prompt()
    def test_prompt_with_embedded_resource(resourceUri: str) -> list[Any]:  # noqa: N803 - the runner's name
        """A prompt with a resource."""
        quoted = _embedded(resourceUri, "text/plain", "Embedded resource content for testing.")
        return [quoted, TextContent(text="Please process the embedded resource above.")]

    @server.prompt()
    def test_prompt_with_image() -> list[Any]:
        """A prompt with an image."""
        image = Image(data=PNG, format="png").to_image_content()
        return [image, TextContent(text="Please analyze the image above.")]

    @server.completion()
    async def complete(_ref: Any, argument: Any, _context: Any) -> Completion:
        """Completes any argument with one value."""
        return Completion(values=[f"{argument.value}is"], total=1, has_more=False)


def _embedded(uri: str, mime_type: str, text: str) -> EmbeddedResource:
    contents = TextResourceContents(uri=uri, mime_type=mime_type, text=text)
    return EmbeddedResource(resource=contents)


TOOLS = (
    test_simple_text,
    test_image_content,
    test_audio_content,
    test_embedded_resource,
    test_multiple_content_types,
    test_error_handling,
    test_tool_with_progress,
    greet,
)
