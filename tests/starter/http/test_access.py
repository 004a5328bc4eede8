"""Who may call which route: every route of the application has a case in `routes.py`, and each refuses whoever may not.

A test tries one kind of key on all routes: a comparison that fails names the routes that differ.
"""

import json
from dataclasses import replace

import httpx2
from fastapi import FastAPI

from mnestic.memory.access.api_keys import ACTIONS
from mnestic.starter.client.mnestic_client import MnesticClient
from mnestic.starter.jobs.plans import parse_plan
from tests.starter.http.conftest import NewKey, opened
from tests.starter.http.routes import CASES, PLAN, Case, denied_target

GUARDED = {name: case for name, case in CASES.items() if case.action is not None}
OF_AGENTS = {name: case for name, case in GUARDED.items() if not case.of_job}
OF_JOBS = {name: case for name, case in GUARDED.items() if case.of_job}


def target_of(name: str, case: Case) -> str:
    """What the audit log says of the request of a case that is denied."""
    return denied_target(name, name.removeprefix("POST /v1/contract/"), case.body)


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


async def test_without_a_valid_key_nothing_is_answered(
    app: FastAPI, invalid_keys: dict[str, str | None]
) -> None:
    answers = {
        (name, why): await called(app, key, name, case)
        for name, case in GUARDED.items()
        for why, key in invalid_keys.items()
    }

    refusals = {
        which: (answer.status_code, answer.headers.get("WWW-Authenticate"), answer.json()["type"])
        for which, answer in answers.items()
    }
    assert refusals == dict.fromkeys(
        answers, (401, "Bearer", "urn:mnestic:problem:unauthenticated")
    )


async def test_a_key_for_other_actions_is_refused(
    app: FastAPI, new_key: NewKey, client: MnesticClient
) -> None:
    keys = {
        action: await new_key(agents=("*",), actions=tuple(set(ACTIONS) - {action}))
        for action in ACTIONS
    }

    refusals, denied = {}, {}
    for name, case in GUARDED.items():
        answer = await called(app, keys[str(case.action)], name, case)
        (latest, *_), _ = await client.audit().list(denied=True, limit=1)
        is_named = f"does not allow the action {case.action}" in answer.json()["detail"]
        refusals[name] = (answer.status_code, answer.json()["type"], is_named)
        denied[name] = (latest.target, latest.actor)

    assert refusals == dict.fromkeys(GUARDED, (403, "urn:mnestic:problem:forbidden", True))
    assert denied == {
        name: (target_of(name, case), f"key/{keys[str(case.action)].split('.')[-2]}")
        for name, case in GUARDED.items()
    }


async def test_a_job_of_another_agent_is_answered_like_one_that_there_is_not(
    app: FastAPI, new_key: NewKey, client: MnesticClient
) -> None:
    plan = parse_plan(json.dumps(PLAN), source="test")
    theirs = await client.start_job(plan, agent_id="ada", session_id="s")
    key = await new_key(agents=("bert", "ad", "adam*"))

    answers, absent = {}, {}
    for name, case in OF_JOBS.items():
        of_theirs = replace(case, path={**case.path, "job_id": theirs})
        answer = await called(app, key, name, of_theirs)
        answers[name] = (
            answer.status_code,
            answer.json()["detail"].replace(theirs, "no-such-job"),
        )
        of_none = await called(app, key, name, case)
        absent[name] = (404, of_none.json()["detail"])
    denied, _ = await client.audit().list(denied=True)

    assert answers == absent
    assert sorted((one.target, one.agent_id) for one in denied) == sorted(
        (name, "ada") for name in OF_JOBS
    )


async def test_a_key_for_other_agents_is_refused(
    app: FastAPI, new_key: NewKey, client: MnesticClient
) -> None:
    await client.memory("ada").add("Mara lives in Porto.", source_id="1")
    key = await new_key(agents=("bert", "ad", "adam*"))

    refusals = {}
    for name, case in OF_AGENTS.items():
        answer = await called(app, key, name, case)
        (latest, *_), _ = await client.audit().list(denied=True, limit=1)
        refusals[name] = (
            answer.status_code,
            "Porto" in answer.text,
            latest.target,
            latest.agent_id,
        )

    assert refusals == {
        name: (403, False, target_of(name, case), "*" if case.of_tenant else "ada")
        for name, case in OF_AGENTS.items()
    }


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
            app, text, "GET /v1/retrieve", Case(action="read", params={"q": "Porto"})
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
