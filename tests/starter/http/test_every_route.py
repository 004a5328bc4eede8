"""What holds for every route: an absent body, unknown parameters, HEAD, other origins, and paths from before versions."""

import asyncio
from typing import Any

import httpx2
from fastapi import FastAPI

from mnestic.starter.http.app import make_app
from mnestic.starter.http.calls import stored_name
from mnestic.starter.tenants import Tenants
from tests.starter.http.conftest import NewKey, opened
from tests.starter.http.routes import CASES, Case
from tests.starter.http.test_openapi import operations_of

GETS = {name: case for name, case in CASES.items() if name.startswith("GET ")}


async def send(http: httpx2.AsyncClient, name: str, **given: Any) -> httpx2.Response:
    """The request of a case, of agent ada, with what is given instead."""
    (method, path), case = name.split(" "), CASES[name]
    params = {**agent_of(case), **case.params, **given.pop("params", {})}
    method = given.pop("method", method)
    return await http.request(method, path.format(**case.path), params=params, **given)


def agent_of(case: Case) -> dict[str, str]:
    """The parameter that names the agent of a case, if it is of one."""
    return {} if case.of_tenant or case.of_job or case.action is None else {"agent_id": "ada"}


async def test_a_body_without_required_members_may_be_absent(app: FastAPI, new_key: NewKey) -> None:
    optional = {
        name
        for name, one in operations_of(app).items()
        if not one.get("requestBody", {}).get("required", True)
    }
    absent, empty = {}, {}
    async with opened(app, await new_key(agents=("*",))) as http:
        for name in optional:
            answers = [await send(http, name), await send(http, name, json={})]
            absent[name], empty[name] = [(one.status_code, problem_of(one)) for one in answers]

    assert absent == empty
    assert {"POST /v1/summarize", "POST /v1/jobs/{job_id}/resume"} <= optional


def problem_of(answer: httpx2.Response) -> Any:
    """What an answer says is wrong, if anything."""
    return answer.json().get("detail") if answer.is_error else None


async def test_a_parameter_that_no_route_has_is_refused(app: FastAPI, new_key: NewKey) -> None:
    found = {}
    async with opened(app, await new_key(agents=("*",))) as http:
        for name, case in CASES.items():
            answer = await send(http, name, params={"limmit": "5"}, json=case.body)
            (problem,) = answer.json().get("errors") or ({},)
            found[name] = (problem.get("path"), problem.get("allowed", "").endswith("there are "))

    assert found == dict.fromkeys(CASES, ("query.limmit", False))


async def test_head_is_answered_as_get_without_the_body(app: FastAPI, new_key: NewKey) -> None:
    found, expected = {}, {}
    async with opened(app, await new_key(agents=("*",))) as http, asyncio.timeout(30):
        for name in GETS:
            is_stream = "streams" in operations_of(app)[name]["tags"]
            head = await send(http, name, method="HEAD")
            answer = head if is_stream else await send(http, name)
            found[name] = (head.status_code, head.headers["Content-Type"], head.content)
            expected[name] = (answer.status_code, answer.headers["Content-Type"], b"")

    assert found == expected


async def test_other_origins_read_answers_if_a_setting_names_them(
    tenants: Tenants, new_key: NewKey
) -> None:
    key, theirs = await new_key(), "https://app.example"
    asked = {
        "Access-Control-Request-Method": "POST",
        "Access-Control-Request-Headers": "Authorization",
    }
    named = {}
    for origins in ((), (theirs,)):
        app = make_app(tenants, origins=origins)
        for origin in (theirs, "https://other.example"):
            async with opened(app, key) as http, opened(app, None) as stranger:
                answer = await http.get("/v1/items", headers={"Origin": origin})
                preflight = await stranger.options(
                    "/v1/ingest", headers={"Origin": origin, **asked}
                )
            allowed = [
                one.headers.get("Access-Control-Allow-Origin") for one in (answer, preflight)
            ]
            named[origins, origin] = (*allowed, answer.status_code, preflight.is_success)

    assert named.pop(((theirs,), theirs)) == (theirs, theirs, 200, True)
    assert set(named.values()) == {(None, None, 200, False)}


async def test_paths_from_before_there_were_versions_lead_to_those_of_today(
    app: FastAPI, new_key: NewKey
) -> None:
    found, expected = {}, {}
    async with opened(app, await new_key(agents=("bert",))) as http:
        for name, case in CASES.items():
            method, path = name.split(" ")
            answers = []
            for one in (earlier(path), path):
                answer = await http.request(
                    method,
                    one.format(**case.path),
                    params=agent_of(case) | case.params,
                    json=case.body,
                )
                answers.append((answer.status_code, problem_of(answer)))
            found[earlier(path), method], expected[earlier(path), method] = answers

    assert found == expected
    assert {status for status, _ in found.values()} == {200, 403, 404}
    assert ("/retrieve", "GET") in found
    assert ("/jobs/{kind}", "POST") in found
    assert {path.split("/")[1] for path in app.openapi()["paths"]} == {"v1"}


def test_a_key_outlives_the_change_of_paths() -> None:
    names = {name: name.split(" ") for name in CASES}

    assert {name: stored_name(name) for name in names} == {
        name: f"{method} {earlier(path)}" for name, (method, path) in names.items()
    }


def earlier(path: str) -> str:
    """The path that a path of today had."""
    if path == "/v1/maintenance/runs/{kind}":
        return "/jobs/{kind}"
    rest = path.removeprefix("/v1")
    of_api = ("/memory/", "/jobs", "/agents", "/schedules", "/audit", "/maintenance/")
    return f"/api{rest}" if rest.startswith((*of_api, "/contract/events")) else rest
