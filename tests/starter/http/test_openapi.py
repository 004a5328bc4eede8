"""The OpenAPI document names the key, the problems and the headers that each operation has."""

from collections.abc import Iterator
from typing import Any

from fastapi import FastAPI
from jsonschema_rs import Draft202012Validator as Validator

from tests.starter.http.routes import CASES
from tests.starter.http.test_idempotency import WRITES

PROBES = {"GET /v1/health", "GET /v1/health/ready"}  # which need no key


def references(value: Any) -> Iterator[str]:
    """All references of a document."""
    if isinstance(value, dict):
        yield from (found for name, found in value.items() if name == "$ref")
        for member in value.values():
            yield from references(member)
    elif isinstance(value, list):
        for item in value:
            yield from references(item)


def operations_of(routes: FastAPI) -> dict[str, Any]:
    """The operations, as `routes.py` names them."""
    return {
        f"{method.upper()} {path}": operation
        for path, methods in routes.openapi()["paths"].items()
        for method, operation in methods.items()
    }


def test_each_reference_leads_to_a_schema(routes: FastAPI) -> None:
    document = routes.openapi()

    places = {tuple(one.removeprefix("#/components/").split("/")) for one in references(document)}

    assert {("schemas", "Problem"), ("responses", "401")} <= places
    for kind, name in places:
        assert name in document["components"][kind]


def test_each_operation_with_a_key_says_so_and_what_it_may_answer(routes: FastAPI) -> None:
    found = operations_of(routes)

    assert {name for name, one in found.items() if "security" not in one} == PROBES
    assert {name for name, one in found.items() if "401" not in one["responses"]} == PROBES
    for name, operation in found.items():
        has_body = CASES[name].body is not None
        assert ({"400", "413"} <= set(operation["responses"])) == has_body
        assert {"500", "503"} <= set(operation["responses"])


def test_an_idempotency_key_is_named_where_it_has_an_effect(routes: FastAPI) -> None:
    taking = {
        name
        for name, operation in operations_of(routes).items()
        if "Idempotency-Key" in {one["name"] for one in operation.get("parameters", ())}
    }

    assert taking == set(WRITES)


def test_each_request_and_each_result_has_an_example_that_fits_its_schema(routes: FastAPI) -> None:
    document = routes.openapi()
    for name, operation in operations_of(routes).items():
        result = next(one for status, one in operation["responses"].items() if status < "300")
        for described in (operation.get("requestBody", {}), result):
            for media, content in described.get("content", {}).items():
                assert "example" in content, f"{name} has no example ({media})"
                schema = {**content.get("schema", {}), "components": document["components"]}
                problems = [
                    one.message for one in Validator(schema).iter_errors(content["example"])
                ]
                assert problems == [], f"{name} ({media})"
