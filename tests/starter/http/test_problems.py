"""How refused requests are answered: one shape, with the id of the request."""

import gzip
import logging
from typing import Any

import httpx2
import pytest
from fastapi import FastAPI

from mnestic.memory import errors
from mnestic.starter.http.app import make_app
from mnestic.starter.http.problems import status_of
from mnestic.starter.settings import Settings
from mnestic.starter.tenants import Tenants
from tests.starter.case_files import read_cases
from tests.starter.http.conftest import NewKey, opened


@pytest.mark.parametrize(("params", "path", "value"), read_cases(__file__, "invalid_values"))
async def test_an_invalid_value_is_named(
    app: FastAPI, new_key: NewKey, params: dict[str, Any], path: str, value: str | None
) -> None:
    async with opened(app, await new_key(agents=("ada", "*"))) as http:
        answer = await http.get("/v1/retrieve", params={"agent_id": "ada", **params})

    problem = answer.json()
    assert answer.status_code == 422
    assert answer.headers["Content-Type"] == "application/problem+json"
    assert problem["instance"] == f"urn:uuid:{answer.headers['X-Request-Id']}"
    assert (problem["type"], problem["status"]) == ("urn:mnestic:problem:invalid-input", 422)
    (invalid,) = problem["errors"]
    assert (invalid["path"], invalid["value"]) == (path, value)
    assert invalid["allowed"]


@pytest.mark.parametrize(
    ("body", "content_type", "status", "why"),
    [
        (b'{"messages": }', "application/json", 422, "body: is no JSON from character 13 on"),
        (
            b'{"messages": []}',
            "application/x-www-form-urlencoded",
            422,
            "`Content-Type: application/",
        ),
        (b'{"messages": "caf\xe9"}', "application/json", 400, "the body is not UTF-8"),
        (b"[" * 1000, "application/json", 400, "the body is nested deeper than 64 levels"),
        (b"9" * 5_000, "application/json", 400, "the body has a number with too many digits"),
    ],
    ids=["no JSON", "as curl sends it", "Latin-1", "deep", "a long number"],
)
async def test_a_body_that_cannot_be_read_is_refused_with_the_remedy(
    http: httpx2.AsyncClient, body: bytes, content_type: str, status: int, why: str
) -> None:
    answer = await http.post("/v1/ingest", content=body, headers={"Content-Type": content_type})

    problem = answer.json()
    assert (answer.status_code, why in problem["detail"]) == (status, True)
    assert problem["detail"] == why if status == 400 else problem["errors"][0]["path"] == "body"


async def test_a_compressed_body_is_refused_with_the_remedy(http: httpx2.AsyncClient) -> None:
    body = gzip.compress(b'{"messages": []}')
    headers = {"Content-Type": "application/json", "Content-Encoding": "gzip"}

    answer = await http.post("/v1/ingest", content=body, headers=headers)

    assert (answer.status_code, answer.headers["Accept-Encoding"]) == (415, "identity")
    assert "send it as it is" in answer.json()["detail"]


async def test_a_method_that_a_path_does_not_take_is_answered_with_those_that_it_does(
    http: httpx2.AsyncClient,
) -> None:
    answer = await http.put("/v1/memory/facts")

    assert (answer.status_code, answer.headers["Allow"]) == (405, "GET, HEAD, POST")
    assert answer.headers["Content-Type"] == "application/problem+json"


def test_each_error_has_a_status() -> None:
    def leaves(kind: type[errors.MnesticError]) -> list[type[errors.MnesticError]]:
        return [kind, *(leaf for sub in kind.__subclasses__() for leaf in leaves(sub))]

    statuses = {kind: status_of(kind.__new__(kind)) for kind in leaves(errors.MnesticError)[1:]}

    assert statuses[errors.StoredValueError] == 500
    assert statuses[errors.TemporalUnavailableError] == 503
    assert statuses[errors.InvalidPlanError] == 422
    assert all(
        400 <= status < 500 or status == 501
        for kind, status in statuses.items()
        if issubclass(kind, errors.RefusedError)
    )


async def test_a_failure_is_answered_and_logged_without_its_text(
    settings: Settings, tenants: Tenants, new_key: NewKey, caplog: pytest.LogCaptureFixture
) -> None:
    app = make_app(tenants)

    @app.get("/v1/broken")
    async def broken() -> None:
        raise RuntimeError(settings.tenant_id)

    with caplog.at_level(logging.INFO, logger="mnestic.http"):
        async with opened(app, await new_key()) as http:
            answer = await http.get("/v1/broken")

    assert answer.status_code == 500
    assert settings.tenant_id not in answer.text
    assert settings.tenant_id not in " ".join(record.message for record in caplog.records)
    assert {"a request failed", "answered a request"} <= {one.message for one in caplog.records}


async def test_a_key_for_several_agents_needs_one_named(app: FastAPI, new_key: NewKey) -> None:
    async with opened(app, await new_key(agents=("ada*",))) as http:
        answer = await http.get("/v1/retrieve", params={"q": "Porto"})

    assert (answer.status_code, answer.json()["errors"][0]["path"]) == (422, "query.agent_id")
