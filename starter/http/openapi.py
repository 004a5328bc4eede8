"""The OpenAPI document: what FastAPI reads from the routes, with examples, the API key and the problems that a route may answer.

These follow from what an operation is: whether it needs a key, has a body, is a write.
"""

from collections.abc import Iterator, Mapping
from functools import cached_property
from http import HTTPStatus
from pathlib import Path
from types import MappingProxyType
from typing import Any

import yaml
from fastapi import FastAPI, Request, Response
from pydantic.json_schema import models_json_schema
from pydantic_core import to_json

from mnestic.starter.http.gate import PUBLIC
from mnestic.starter.http.problems import MEDIA_TYPE, RETRY_AFTER_S, Problem

_EXAMPLES = Path(__file__).with_name("examples.yaml")
_SCHEMAS = "#/components/schemas/{model}"
_API_KEY = "ApiKey"
_SCHEME = {
    "type": "http",
    "scheme": "bearer",
    "description": "A key of `mnestic keys create`. It says the tenant, the agents and the actions.",
}
_PROBLEMS: Mapping[int, str] = MappingProxyType(
    {
        400: "The body cannot be read",
        401: "No valid API key",
        403: "The API key does not allow it",
        404: "There is no such thing",
        409: "It conflicts with what is stored",
        410: "Events after that number are no longer stored",
        413: "The body is too large",
        415: "The body is compressed",
        422: "A value is malformed",
        429: "A budget is used up, or too many streams are open",
        500: "The server failed; its log names the request",
        501: "This server is not set up for it",
        503: "A service does not answer; try again after `Retry-After` seconds",
    }
)
_RETRIED = frozenset({429, 503})
_OF_FASTAPI = ("HTTPValidationError", "ValidationError")  # its own answer to a malformed value


class MnesticApi(FastAPI):
    """The application, with its whole document at `/openapi.json`."""

    def setup(self) -> None:
        """Adds the document as bytes: anybody may ask for it, and to write it takes 20 ms."""

        async def document(_: Request) -> Response:
            return Response(self._bytes, media_type="application/json")

        assert self.openapi_url is not None
        self.add_route(self.openapi_url, document, include_in_schema=False)
        super().setup()

    @cached_property
    def _bytes(self) -> bytes:
        return to_json(self.openapi())

    def openapi(self) -> dict[str, Any]:
        """The document, made once."""
        if self.openapi_schema is None:
            _complete(super().openapi())
        assert self.openapi_schema is not None
        return self.openapi_schema


def _complete(document: dict[str, Any]) -> None:
    components = document.setdefault("components", {})
    schemas = components.setdefault("schemas", {})
    for name in _OF_FASTAPI:
        schemas.pop(name, None)
    _, problem = models_json_schema([(Problem, "serialization")], ref_template=_SCHEMAS)
    schemas.update(problem["$defs"])
    components["securitySchemes"] = {_API_KEY: _SCHEME}
    components["responses"] = {str(status): _problem(status) for status in _PROBLEMS}
    examples = yaml.safe_load(_EXAMPLES.read_text(encoding="utf-8"))
    for path, operations in document["paths"].items():
        for method, operation in operations.items():
            if path not in PUBLIC:
                operation["security"] = [{_API_KEY: []}]
            if "requestBody" in operation:
                _say_whether_required(operation["requestBody"], schemas)
            _add_examples(operation, examples.get(f"{method.upper()} {path}", {}))
            for status in sorted(_statuses(method, operation)):
                _add_problem(operation["responses"], status)


def _say_whether_required(body: dict[str, Any], schemas: Mapping[str, Any]) -> None:
    """A body without required members may be absent."""
    (content,) = body["content"].values()
    schema = schemas[content["schema"]["$ref"].rpartition("/")[2]]
    body["required"] = "required" in schema


def _add_examples(operation: dict[str, Any], example: Mapping[str, Any]) -> None:
    """Gives a request and its result an example."""
    (result,) = (answer for status, answer in operation["responses"].items() if status < "300")
    described = {"request": operation.get("requestBody", {}), "response": result}
    for name, one in described.items():
        for content in one.get("content", {}).values():
            if name in example:
                content["example"] = example[name]


def _statuses(method: str, operation: Mapping[str, Any]) -> Iterator[int]:
    """What an operation may answer beside its result."""
    yield from (500, 503)
    if "security" in operation:
        yield from (401, 403, 404, 422, 429, 501)
        if method != "get" or "jobs" in operation["tags"]:
            yield 409
    if "requestBody" in operation:
        yield from (400, 413, 415)
    if "streams" in operation["tags"]:
        yield 410


def _add_problem(responses: dict[str, Any], status: int) -> None:
    own = responses.get(str(status))
    if own is None or status == HTTPStatus.UNPROCESSABLE_ENTITY:  # FastAPI has one of its own
        responses[str(status)] = {"$ref": f"#/components/responses/{status}"}
    else:
        own["content"] |= _problem(status)["content"]


def _problem(status: int) -> dict[str, Any]:
    """The answer with a problem."""
    example = Problem(
        type="about:blank",
        title=HTTPStatus(status).phrase,
        status=status,
        detail=_PROBLEMS[status],
        instance="urn:uuid:0d4c7f0e-5a3b-4c55-9d0b-0f3a1f0c9a35",
    )
    content = {
        "schema": {"$ref": _SCHEMAS.format(model=Problem.__name__)},
        "example": example.model_dump(mode="json"),
    }
    answer = {"description": _PROBLEMS[status], "content": {MEDIA_TYPE: content}}
    if status in _RETRIED:
        seconds = {"type": "integer", "minimum": 1, "example": RETRY_AFTER_S}
        answer["headers"] = {"Retry-After": {"description": "Seconds", "schema": seconds}}
    return answer
