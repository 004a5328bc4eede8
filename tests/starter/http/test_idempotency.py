"""`Idempotency-Key`: each write takes it, and a request that is repeated has no second effect."""

import json
from typing import Any

import pytest
from fastapi import FastAPI
from pydantic import BaseModel

from mnestic.memory.errors import IdempotencyConflictError
from mnestic.starter.client.mnestic_client import MnesticClient
from mnestic.starter.jobs.plans import parse_plan
from tests.starter.http.conftest import NewKey, opened
from tests.starter.http.routes import CASES, PLAN

WRITES = {
    name: case for name, case in CASES.items() if not name.startswith("GET ") and case.changes
}


async def test_each_write_refuses_the_key_of_another_request(
    app: FastAPI, new_key: NewKey, client: MnesticClient
) -> None:
    plan = parse_plan(json.dumps(PLAN), source="test")
    job_id = await client.start_job(plan, agent_id="ada", session_id="s")
    for agent in ("*", "ada"):
        await client.reserve_request_id("once", request={"route": "another"}, agent_id=agent)

    refusals = {}
    async with opened(app, await new_key(agents=("*",))) as http:
        for name, case in WRITES.items():
            method, path = name.split(" ")
            answer = await http.request(
                method,
                path.format(**{**case.path, "job_id": job_id}),
                params=case.params | ({} if case.of_tenant or case.of_job else {"agent_id": "ada"}),
                json=case.body,
                headers={"Idempotency-Key": "once"},
            )
            refusals[name] = (answer.status_code, answer.json()["type"])

    assert refusals == dict.fromkeys(WRITES, (409, "urn:mnestic:problem:idempotency-conflict"))


class Acted(BaseModel):
    """What an act gives."""

    times: int


async def test_an_act_that_failed_is_done_again_under_its_id_and_then_no_more(
    client: MnesticClient,
) -> None:
    ids: list[str] = []

    async def act(request_id: str) -> Acted:
        ids.append(request_id)
        if len(ids) == 1:
            raise ConnectionError
        return Acted(times=len(ids))

    async def act_once(**request: Any) -> Acted:
        return await client.act_once("k", request=request, result_type=Acted, act=act)

    with pytest.raises(ConnectionError):
        await act_once(of="a")
    results = [await act_once(of="a") for _ in range(2)]
    with pytest.raises(IdempotencyConflictError):
        await act_once(of="b")

    assert [one.times for one in results] == [2, 2]
    assert len(ids) == 2
    assert len(set(ids)) == 1
