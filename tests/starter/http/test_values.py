"""Values of requests that no memory can have: each is refused, and none makes the server fail."""

import json
from collections.abc import Iterator
from typing import Any

import httpx2
import pytest
from fastapi import FastAPI

from tests.starter.case_files import read_cases
from tests.starter.http.conftest import NewKey, opened
from tests.starter.http.routes import CASES
from tests.starter.http.test_openapi import operations_of

REFUSED: list[Any] = read_cases(__file__, "refused_values")
JSON = {"Content-Type": "application/json"}
LONG_AGO, AT_THE_END = "0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00"
NO_TIMES = ("0", "1767225600", "2026-11-27", "2026-11-27T09:00", LONG_AGO, AT_THE_END)


def with_other_texts(value: Any, text: str) -> Iterator[Any]:
    """A body once for each of its texts, with another one instead."""
    if isinstance(value, str):
        yield text
    elif isinstance(value, dict):
        for name, member in value.items():
            yield from ({**value, name: other} for other in with_other_texts(member, text))
    elif isinstance(value, list):
        for at, item in enumerate(value):
            yield from (
                [*value[:at], other, *value[at + 1 :]] for other in with_other_texts(item, text)
            )


@pytest.mark.parametrize("text", ["\0", "a\ud800"], ids=["nul", "half of a pair"])
async def test_a_text_that_cannot_be_stored_is_refused(
    app: FastAPI, new_key: NewKey, text: str
) -> None:
    answers = {}
    async with opened(app, await new_key(agents=("*",))) as http:
        for name, case in CASES.items():
            method, path = name.split(" ")
            params = {} if case.of_tenant else {"agent_id": "ada"}
            for body in with_other_texts(case.body, text) if not case.of_job else ():
                answer = await http.request(
                    method,
                    path.format(**case.path),
                    params=params,
                    content=json.dumps(body),
                    headers=JSON,
                )
                answers[f"{name} {body!r}"] = answer.status_code, "holds" in answer.text

    assert len(answers) > len(CASES) / 3
    assert set(answers.values()) == {(422, True)}, answers


async def test_a_time_that_is_none_is_refused(app: FastAPI, new_key: NewKey) -> None:
    statuses = {}
    async with opened(app, await new_key()) as http:
        for name, operation in operations_of(app).items():
            for parameter in operation.get("parameters", ()):
                if "date-time" in json.dumps(parameter["schema"]):
                    for text in NO_TIMES:
                        params = {**CASES[name].params, parameter["name"]: text}
                        answer = await http.get(name.removeprefix("GET "), params=params)
                        statuses[name, parameter["name"], text] = answer.status_code

    assert {name for name, *_ in statuses} == {
        "GET /v1/items",
        "GET /v1/retrieve",
        "GET /v1/memory/facts",
    }
    assert set(statuses.values()) == {422}, statuses


@pytest.mark.parametrize("number", ["1e400", "-1e400", "NaN", "1e18", "0"])
async def test_a_wait_is_not_extended_by_what_is_no_time(
    http: httpx2.AsyncClient, number: str
) -> None:
    started = await http.post("/v1/jobs", json=CASES["POST /v1/jobs"].body)

    answer = await http.post(
        f"/v1/jobs/{started.json()['job_id']}/extend",
        content=f'{{"by_seconds": {number}}}',
        headers=JSON,
    )

    assert answer.status_code == 422
    assert "by_seconds" in answer.json()["detail"]


async def test_what_a_method_of_the_client_refuses_is_named_as_in_the_request(
    app: FastAPI, new_key: NewKey
) -> None:
    paths = {}
    async with opened(app, await new_key(agents=("*",))) as http:
        for place, name, content in REFUSED:
            method, path = name.split(" ")
            of_agent = not path.startswith(("/v1/audit", "/v1/schedules", "/v1/maintenance"))
            params = {**({"agent_id": "ada"} if of_agent else {}), **content.get("params", {})}
            answer = await http.request(method, path, params=params, json=content.get("json"))
            paths[place] = answer.json()["errors"][0]["path"]

    assert paths == {place: place for place, *_ in REFUSED}


async def test_a_message_of_no_time_is_refused(http: httpx2.AsyncClient) -> None:
    (message,) = CASES["POST /v1/ingest"].body["messages"]
    for at in (0, 1767225600, True, *NO_TIMES):
        answer = await http.post("/v1/ingest", json={"messages": [{**message, "at": at}]})

        assert answer.status_code == 422, at
        assert answer.json()["errors"][0]["path"] == "body.messages.0.at", at
