"""Jobs over HTTP: started, listed, explained, resumed and steered."""

import asyncio
from typing import Any

import httpx2
import pytest
from fastapi import FastAPI

from tests.starter.http.conftest import NewKey, opened
from tests.starter.http.routes import PLAN

JOB = {"plan": PLAN, "session_id": "s"}


async def started(http: httpx2.AsyncClient, **more: Any) -> str:
    """A job that waits."""
    answer = await http.post("/v1/jobs", json={**JOB, **more})
    assert answer.status_code == 201, answer.text
    job_id: str = answer.json()["job_id"]
    await until(http, job_id, "waiting")
    return job_id


async def until(http: httpx2.AsyncClient, job_id: str, state: str) -> None:
    async with asyncio.timeout(30):
        while (await http.get(f"/v1/jobs/{job_id}")).json()["state"] != state:  # noqa: ASYNC110
            await asyncio.sleep(0.05)  # Temporal's visibility sets no event


async def jobs_listed(http: httpx2.AsyncClient, *, at_least: int) -> list[str]:
    """All jobs, once Temporal lists that many."""
    jobs: list[dict[str, Any]] = []
    async with asyncio.timeout(30):
        while len(jobs) < at_least:
            await asyncio.sleep(0.05)  # Temporal's visibility sets no event
            jobs = (await http.get("/v1/jobs")).json()["items"]
    return [job["job_id"] for job in jobs]


@pytest.mark.usefixtures("worker")
async def test_a_key_for_some_agents_lists_the_jobs_of_a_named_one_alone(
    app: FastAPI, new_key: NewKey, http: httpx2.AsyncClient
) -> None:
    job_id = await started(http)

    async with opened(app, await new_key(agents=("a*",))) as some:
        unnamed = await some.get("/v1/jobs")
        named = await some.get("/v1/jobs", params={"agent_id": "ada"})
    async with opened(app, await new_key(agents=("*",))) as every:
        listed = await every.get("/v1/jobs", params={"state": "waiting"})

    assert unnamed.status_code == 403
    assert [job["job_id"] for job in named.json()["items"]] == [job_id]
    assert [job["job_id"] for job in listed.json()["items"]] == [job_id]


@pytest.mark.usefixtures("worker")
async def test_what_is_sent_twice_with_a_key_is_done_once(http: httpx2.AsyncClient) -> None:
    async def sent(key: str, path: str = "", **body: Any) -> httpx2.Response:
        return await http.post(f"/v1/jobs{path}", json=body, headers={"Idempotency-Key": key})

    starts = [await sent("order", **JOB) for _ in range(2)]
    job_id = starts[0].json()["job_id"]
    conflicts = [await sent("order", **{**JOB, "session_id": "t"})]
    await until(http, job_id, "waiting")
    taken = {**JOB, "session_id": "t", "job_id": job_id}
    exist = [await sent("taken", **taken) for _ in range(2)]
    exist += [await sent("fork-taken", f"/{job_id}/fork", job_id=job_id) for _ in range(2)]
    forks = [await sent("fork", f"/{job_id}/fork") for _ in range(2)]
    await until(http, forks[0].json()["job_id"], "waiting")
    extend = f"/{job_id}/extend"
    extended = await sent("later", extend, by_seconds=60)
    later = await http.post(f"/v1/jobs{extend}", json={"by_seconds": 60})
    again = await sent("later", extend, by_seconds=60)
    await sent("stop", f"/{job_id}/pause")
    await until(http, job_id, "paused")
    await http.post(f"/v1/jobs/{job_id}/unpause")
    await until(http, job_id, "waiting")
    paused = await sent("stop", f"/{job_id}/pause")
    conflicts.append(await sent("stop", f"/{job_id}/cancel"))
    # A job takes requests in turn: were the pause sent again, it would be in force now.
    await http.post(f"/v1/jobs{extend}", json={"by_seconds": 60})
    still = (await http.get(f"/v1/jobs/{job_id}")).json()
    answers = [await sent("answer", f"/{job_id}/resume", payload="yes") for _ in range(2)]
    conflicts.append(await sent("fork", f"/{forks[0].json()['job_id']}/fork"))
    conflicts.append(await sent("answer", f"/{job_id}/resume", payload="no"))
    listed = await jobs_listed(http, at_least=2)

    assert [one.status_code for one in (*starts, *forks)] == [201] * 4
    for pair in (starts, forks, answers, (extended, again)):
        assert pair[0].json() == pair[1].json()
    assert {one.json()["type"] for one in exist} == {"urn:mnestic:problem:already-exists"}
    assert {one.json()["type"] for one in conflicts} == {"urn:mnestic:problem:idempotency-conflict"}
    assert {one.status_code for one in (*exist, *conflicts)} == {409}
    assert later.json()["deadline"] != extended.json()["deadline"]
    assert (paused.status_code, still["state"]) == (202, "waiting")
    assert sorted(listed) == sorted([job_id, forks[0].json()["job_id"]])
