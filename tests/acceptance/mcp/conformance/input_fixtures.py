"""What the official runner calls to see a server ask for input: tools and a prompt that take several rounds."""

from collections.abc import Mapping
from typing import Any

from mcp import MCPError
from mcp.server.mcpserver import Context
from mcp_types import (
    MISSING_REQUIRED_CLIENT_CAPABILITY,
    ClientCapabilities,
    CreateMessageRequest,
    CreateMessageRequestParams,
    CreateMessageResult,
    ElicitRequest,
    ElicitRequestFormParams,
    ElicitResult,
    InputRequiredResult,
    ListRootsRequest,
    ListRootsResult,
    MissingRequiredClientCapabilityErrorData,
    SamplingCapability,
    SamplingMessage,
    TextContent,
)

Call = Context[Any, Any]
_ROUND_1, _ROUND_2 = "round 1", "round 2"


def test_input_required_result_elicitation(ctx: Call) -> str | InputRequiredResult:
    """Wants a name."""
    name = _accepted(ctx, "user_name", "name")
    if name is None:
        return InputRequiredResult(
            input_requests={"user_name": _field("What is your name?", "name")}
        )
    return f"Hello, {name}!"


def test_input_required_result_sampling(ctx: Call) -> str | InputRequiredResult:
    """Wants a message of a model."""
    sampled = _responses(ctx).get("capital_question")
    if not isinstance(sampled, CreateMessageResult):
        question = _message("What is the capital of France?")
        return InputRequiredResult(input_requests={"capital_question": question})
    return str(getattr(sampled.content, "text", ""))


def test_input_required_result_list_roots(ctx: Call) -> str | InputRequiredResult:
    """Wants the roots."""
    roots = _responses(ctx).get("client_roots")
    if not isinstance(roots, ListRootsResult):
        return InputRequiredResult(input_requests={"client_roots": ListRootsRequest()})
    return ", ".join(str(root.uri) for root in roots.roots)


def test_input_required_result_capabilities(ctx: Call) -> str | InputRequiredResult:
    """Wants what the client can give."""
    capabilities = ctx.client_capabilities or ClientCapabilities()
    wanted: dict[str, Any] = {}
    if capabilities.elicitation is not None:
        wanted["user_name"] = _field("What is your name?", "name")
    if capabilities.sampling is not None:
        wanted["greeting"] = _message("Generate a greeting")
    if wanted and not _responses(ctx):
        return InputRequiredResult(input_requests=wanted)
    return "done"


def test_missing_capability(ctx: Call) -> str:
    """Needs sampling."""
    capabilities = ctx.client_capabilities or ClientCapabilities()
    if capabilities.sampling is None:
        needed = ClientCapabilities(sampling=SamplingCapability())
        data = MissingRequiredClientCapabilityErrorData(required_capabilities=needed)
        raise MCPError(
            MISSING_REQUIRED_CLIENT_CAPABILITY,
            "sampling is needed",
            data.model_dump(by_alias=True, exclude_none=True),
        )
    return "done"


def test_input_required_result_prompt(ctx: Call) -> str | InputRequiredResult:
    """Wants its context."""
    context = _accepted(ctx, "user_context", "context")
    if context is None:
        wanted = _field("What context should the prompt use?", "context")
        return InputRequiredResult(input_requests={"user_context": wanted})
    return f"Use {context}."


def test_input_required_result_request_state(ctx: Call) -> str | InputRequiredResult:
    """Wants a confirmation, and its state back."""
    return _confirmed(ctx)


def test_input_required_result_tampered_state(ctx: Call) -> str | InputRequiredResult:
    """The same."""
    return _confirmed(ctx)


def test_input_required_result_multiple_inputs(ctx: Call) -> str | InputRequiredResult:
    """Wants three things at once."""
    wanted: dict[str, Any] = {
        "user_name": _field("What is your name?", "name"),
        "greeting": _message("Generate a greeting", max_tokens=50),
        "client_roots": ListRootsRequest(),
    }
    if not wanted.keys() <= _responses(ctx).keys():
        return InputRequiredResult(input_requests=wanted, request_state=_ROUND_1)
    return "done"


def test_input_required_result_multi_round(ctx: Call) -> str | InputRequiredResult:
    """Wants one thing after another."""
    if ctx.request_state == _ROUND_2 and (color := _accepted(ctx, "step2", "color")):
        return f"Your color is {color}."
    if ctx.request_state == _ROUND_1 and _accepted(ctx, "step1", "name"):
        wanted = {"step2": _field("Step 2: What is your favorite color?", "color")}
        return InputRequiredResult(input_requests=wanted, request_state=_ROUND_2)
    wanted = {"step1": _field("Step 1: What is your name?", "name")}
    return InputRequiredResult(input_requests=wanted, request_state=_ROUND_1)


def _confirmed(ctx: Call) -> str | InputRequiredResult:
    if _accepted(ctx, "confirm", "ok") is None or ctx.request_state != _ROUND_1:
        wanted = {"confirm": _field("Please confirm", "ok", kind="boolean")}
        return InputRequiredResult(input_requests=wanted, request_state=_ROUND_1)
    return "state-ok"


def _responses(ctx: Call) -> Mapping[str, Any]:
    return ctx.input_responses or {}


def _accepted(ctx: Call, key: str, field: str) -> Any:
    answer = _responses(ctx).get(key)
    if not isinstance(answer, ElicitResult) or answer.action != "accept":
        return None
    return (answer.content or {}).get(field)


def _field(message: str, name: str, *, kind: str = "string") -> ElicitRequest:
    schema = {"type": "object", "properties": {name: {"type": kind}}, "required": [name]}
    return ElicitRequest(params=ElicitRequestFormParams(message=message, requested_schema=schema))


def _message(text: str, *, max_tokens: int = 100) -> CreateMessageRequest:
    message = SamplingMessage(role="user", content=TextContent(text=text))
    return CreateMessageRequest(
        params=CreateMessageRequestParams(messages=[message], max_tokens=max_tokens)
    )


TOOLS = (
    test_input_required_result_elicitation,
    test_input_required_result_sampling,
    test_input_required_result_list_roots,
    test_input_required_result_capabilities,
    test_missing_capability,
    test_input_required_result_request_state,
    test_input_required_result_tampered_state,
    test_input_required_result_multiple_inputs,
    test_input_required_result_multi_round,
)
PROMPTS = (test_input_required_result_prompt,)
