"""Who may call which route: every route of the application has a case in `routes.py`, and each refuses whoever may not."""

import json
from dataclasses import replace
from typing import Any

import httpx2
import psycopg
import pytest
from fastapi import FastAPI

from mnestic.memory.access.api_keys import ACTIONS
from mnestic.starter.client.mnestic_client import MnesticClient
from mnestic.starter.jobs.plans import parse_plan
from tests.starter.http.conftest import NewKey, opened
from tests.starter.http.routes import CASES, PLAN, Case

GUARDED = {name: case for name, case in CASES.items() if case.action is not None}
of_each_route = pytest.mark.parametrize(("name", "case"), GUARDED.items(), ids=GUARDED)
OF_AGENTS = {name: case for name, case in GUARDED.items() if not case.of_job}
OF_JOBS = {name: case for name, case in GUARDED.items() if case.of_job}


async def called(app: FastAPI, key: str | None, name: str, case: Case) -> httpx2.Response:
    """The answer to the request of a case."""
    method, path = name.split(" ")
    params = {**case.params, **({} if case.of_tenant or case.of_job else {"agent_id": "ada"})}
    path = path.format(**case.path)
    async with opened(app, key) as http:
        return await http.request(method, path, params=params, json=case.body)


def test_each_route_has_a_case(app: FastAPI) -> None:
    document = app.openapi()["paths"]
    found = {f"{method.upper()} {path}" for path, methods in document.items() for method in methods}

    assert found == set(CASES)


@of_each_route
async def test_without_a_valid_key_nothing_is_answered(
    app: FastAPI, invalid_keys: dict[str, str | None], name: str, case: Case
) -> None:
    answers = {why: await called(app, key, name, case) for why, key in invalid_keys.items()}

    assert {why: answer.status_code for why, answer in answers.items()} == dict.fromkeys(
        invalid_keys, 401
    )
    assert {answer.headers["WWW-Authenticate"] for answer in answers.values()} == {"Bearer"}
    assert all(answer.json()["type"].endswith(":unauthenticated") for answer in answers.values())


@of_each_route
async def test_a_key_for_other_actions_is_refused(
    app: FastAPI, new_key: NewKey, client: MnesticClient, name: str, case: Case
) -> None:
    others = tuple(action for action in ACTIONS if action != case.action)
    key = await new_key(agents=("*",), actions=others)

    answer = await called(app, key, name, case)
    denied, _ = await client.audit().list(denied=True)

    assert (answer.status_code, answer.json()["type"]) == (403, "urn:mnestic:problem:forbidden")
    assert f"does not allow the action {case.action}" in answer.json()["detail"]
    assert [(one.target, one.actor) for one in denied] == [(name, f"key/{key.split('.')[-2]}")]


@pytest.mark.parametrize(("name", "case"), OF_JOBS.items(), ids=OF_JOBS)
async def test_a_job_of_another_agent_is_answered_like_one_that_there_is_not(
    app: FastAPI, new_key: NewKey, client: MnesticClient, name: str, case: Case
) -> None:
    plan = parse_plan(json.dumps(PLAN), source="test")
    theirs = await client.start_job(plan, agent_id="ada", session_id="s")
    key = await new_key(agents=("bert", "ad", "adam*"))

    answer = await called(app, key, name, replace(case, path={**case.path, "job_id": theirs}))
    absent = await called(app, key, name, case)
    denied, _ = await client.audit().list(denied=True)

    assert (answer.status_code, absent.status_code) == (404, 404)
    assert answer.json()["detail"].replace(theirs, "no-such-job") == absent.json()["detail"]
    assert [one.agent_id for one in denied] == ["ada"]


@pytest.mark.parametrize(("name", "case"), OF_AGENTS.items(), ids=OF_AGENTS)
async def test_a_key_for_other_agents_is_refused(
    app: FastAPI, new_key: NewKey, client: MnesticClient, name: str, case: Case
) -> None:
    await client.memory("ada").add("Mara lives in Porto.", source_id="1")
    key = await new_key(agents=("bert", "ad", "adam*"))

    answer = await called(app, key, name, case)
    denied, _ = await client.audit().list(denied=True)

    assert answer.status_code == 403
    assert "Porto" not in answer.text
    assert [one.agent_id for one in denied] == ["*" if case.of_tenant else "ada"]


async def test_a_key_opens_the_memory_of_its_tenant_alone(
    app: FastAPI, new_key: NewKey, client: MnesticClient
) -> None:
    await client.memory("ada").add("Mara lives in Porto.")
    other = client.settings.model_copy(update={"tenant_id": f"{client.settings.tenant_id}-2"})
    async with await MnesticClient.connect(other) as theirs:
        key = (await theirs.api_keys().create(agents=["*"], actions=ACTIONS)).text
    own = await new_key(agents=("*",))

    texts = {}
    for whose, text in {"own": own, "their": key}.items():
        answer = await called(
            app, text, "GET /retrieve", Case(action="read", params={"q": "Porto"})
        )
        texts[whose] = [one["entry"]["content"] for one in answer.json()["results"]]

    assert texts == {"own": ["Mara lives in Porto."], "their": []}


async def test_an_unknown_path_needs_a_key_as_well(app: FastAPI, new_key: NewKey) -> None:
    async with opened(app, None) as http:
        without = await http.get("/nonsense")
    async with opened(app, await new_key()) as http:
        answer = await http.get("/nonsense")

    assert (without.status_code, answer.status_code) == (401, 404)
    assert answer.headers["Content-Type"] == "application/problem+json"


async def test_what_is_done_with_a_key_is_in_the_audit_log(
    http: httpx2.AsyncClient, client: MnesticClient
) -> None:
    await http.get("/retrieve", params={"q": "Where does Mara live?"})

    (key,), _ = await client.api_keys().list()
    found, _ = await client.audit().list(key_id=key.id)

    assert [(one.agent_id, one.action, one.actor) for one in found] == [
        ("ada", "entry.search", f"key/{key.id}")
    ]


async def test_neither_the_database_nor_the_list_has_the_text_of_a_key(
    new_key: NewKey, client: MnesticClient, admin_url: str
) -> None:
    text = await new_key()

    listed, _ = await client.api_keys().list()
    with psycopg.connect(admin_url) as connection:
        rows: list[Any] = connection.execute(
            "SELECT k::text FROM mnestic.api_key AS k WHERE tenant_id = %s",
            [client.settings.tenant_id],
        ).fetchall()

    assert len(rows) == 1
    assert text.rpartition(".")[2] not in f"{listed} {rows}"
