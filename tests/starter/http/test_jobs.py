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
    answer = await http.post("/api/jobs", json={**JOB, **more})
    assert answer.status_code == 201, answer.text
    job_id: str = answer.json()["job_id"]
    await until(http, job_id, "waiting")
    return job_id


async def until(http: httpx2.AsyncClient, job_id: str, state: str) -> None:
    async with asyncio.timeout(30):
        while (await http.get(f"/api/jobs/{job_id}")).json()["state"] != state:  # noqa: ASYNC110
            await asyncio.sleep(0.05)  # Temporal's visibility sets no event


async def jobs_listed(http: httpx2.AsyncClient, *, at_least: int) -> list[str]:
    """All jobs, once Temporal lists that many."""
    jobs: list[dict[str, Any]] = []
    async with asyncio.timeout(30):
        while len(jobs) < at_least:
            await asyncio.sleep(0.05)  # Temporal's visibility sets no event
            jobs = (await http.get("/api/jobs")).json()["items"]
    return [job["job_id"] for job in jobs]


@pytest.mark.usefixtures("worker")
async def test_a_job_is_started_waits_is_resumed_and_ends(http: httpx2.AsyncClient) -> None:
    job_id = await started(http)

    wait = (await http.get(f"/api/jobs/{job_id}/wait")).json()["wait"]
    resumed = await http.post(
        f"/api/jobs/{job_id}/resume", json={"payload": "yes", "wait_id": wait["wait_id"]}
    )
    await until(http, job_id, "completed")

    assert (wait["ask"], wait["outcomes"]) == ("May it go out?", ["resumed"])
    assert resumed.json()["receipt"]["wait_id"] == wait["wait_id"]
    assert resumed.json()["receipt"]["verified"]


@pytest.mark.usefixtures("worker")
async def test_a_job_is_started_once_for_a_key(http: httpx2.AsyncClient) -> None:
    key = {"Idempotency-Key": "order-1"}

    answers = [await http.post("/api/jobs", json=JOB, headers=key) for _ in range(2)]
    other = await http.post("/api/jobs", json={**JOB, "session_id": "t"}, headers=key)
    await until(http, answers[0].json()["job_id"], "waiting")
    listed = await jobs_listed(http, at_least=1)

    assert [answer.status_code for answer in answers] == [201, 201]
    assert answers[0].json() == answers[1].json()
    assert other.status_code == 409
    assert listed == [answers[0].json()["job_id"]]


@pytest.mark.usefixtures("worker")
async def test_an_id_that_is_taken_is_a_conflict_however_often_the_key_is_sent(
    http: httpx2.AsyncClient,
) -> None:
    job_id = await started(http, job_id="order-1")
    taken, key = {**JOB, "session_id": "t", "job_id": job_id}, {"Idempotency-Key": "order-2"}
    fork = {"job_id": job_id}

    starts = [await http.post("/api/jobs", json=taken, headers=key) for _ in range(2)]
    forks = [
        await http.post(
            f"/api/jobs/{job_id}/fork", json=fork, headers={"Idempotency-Key": "fork-1"}
        )
        for _ in range(2)
    ]

    assert [answer.status_code for answer in starts + forks] == [409] * 4
    assert {answer.json()["type"] for answer in starts + forks} == {
        "urn:mnestic:problem:already-exists"
    }


@pytest.mark.usefixtures("worker")
async def test_a_job_is_forked_once_for_a_key(http: httpx2.AsyncClient) -> None:
    job_id = await started(http)
    key = {"Idempotency-Key": "fork-1"}

    forks = [await http.post(f"/api/jobs/{job_id}/fork", json={}, headers=key) for _ in range(2)]
    await until(http, forks[0].json()["job_id"], "waiting")

    assert [answer.status_code for answer in forks] == [201, 201]
    assert forks[0].json() == forks[1].json()
    assert sorted(await jobs_listed(http, at_least=2)) == sorted(
        [job_id, forks[0].json()["job_id"]]
    )


@pytest.mark.usefixtures("worker")
async def test_a_resume_with_the_same_key_gets_the_first_receipt(http: httpx2.AsyncClient) -> None:
    job_id = await started(http)
    key = {"Idempotency-Key": "answer"}
    path = f"/api/jobs/{job_id}/resume"

    answers = [await http.post(path, json={"payload": "yes"}, headers=key) for _ in range(2)]
    other = await http.post(path, json={"payload": "no"}, headers=key)
    late = await http.post(path, json={"payload": "no"})

    assert answers[0].json() == answers[1].json()
    assert answers[0].json()["receipt"]["outcome"] == "resumed"
    assert (other.status_code, late.status_code) == (409, 409)
    assert other.json()["type"] == "urn:mnestic:problem:idempotency-conflict"


@pytest.mark.usefixtures("worker")
async def test_a_wait_is_extended_once_for_a_key(http: httpx2.AsyncClient) -> None:
    job_id = await started(http)
    path, body, key = f"/api/jobs/{job_id}/extend", {"by_seconds": 60}, {"Idempotency-Key": "later"}

    first = await http.post(path, json=body, headers=key)
    other = await http.post(path, json=body)
    again = await http.post(path, json=body, headers=key)
    wait = (await http.get(f"/api/jobs/{job_id}/wait")).json()["wait"]

    assert first.status_code == 200, first.text
    assert again.json() == first.json()
    assert wait["deadline"] == other.json()["deadline"] != first.json()["deadline"]


@pytest.mark.usefixtures("worker")
async def test_a_job_is_paused_once_for_a_key(http: httpx2.AsyncClient) -> None:
    job_id = await started(http)
    key = {"Idempotency-Key": "stop"}

    await http.post(f"/api/jobs/{job_id}/pause", headers=key)
    await until(http, job_id, "paused")
    await http.post(f"/api/jobs/{job_id}/unpause")
    await until(http, job_id, "waiting")
    again = await http.post(f"/api/jobs/{job_id}/pause", headers=key)
    other = await http.post(f"/api/jobs/{job_id}/cancel", headers=key)
    # A job takes requests in turn: were the pause sent again, it would be in force now.
    await http.post(f"/api/jobs/{job_id}/extend", json={"by_seconds": 60})
    job = (await http.get(f"/api/jobs/{job_id}")).json()

    assert (again.status_code, other.status_code) == (202, 409)
    assert job["state"] == "waiting"


@pytest.mark.usefixtures("worker")
async def test_the_snapshot_of_a_wait_and_what_has_changed_since(
    http: httpx2.AsyncClient,
) -> None:
    job_id = await started(http)

    found = (await http.get(f"/api/jobs/{job_id}/resumption")).json()
    difference = (await http.get(f"/api/jobs/{job_id}/diff", params={"wait": "1"})).json()
    absent = await http.get(f"/api/jobs/{job_id}/diff", params={"wait": "7"})

    assert found["wait"]["context"]["cursor_node"] == "ask"
    assert set(found["snapshot"]) >= {"working_memory", "episodic_tail", "read_set"}
    assert found["snapshot_sha256"] == difference["snapshot_sha256"]
    assert difference["drift_count"] == 0
    assert absent.status_code == 422


@pytest.mark.usefixtures("worker")
async def test_a_job_is_extended_forked_paused_and_cancelled(http: httpx2.AsyncClient) -> None:
    job_id = await started(http, job_id="order-1")

    before = (await http.get(f"/api/jobs/{job_id}/wait")).json()["wait"]["deadline"]
    extended = await http.post(f"/api/jobs/{job_id}/extend", json={"by_seconds": 3600})
    forked = await http.post(f"/api/jobs/{job_id}/fork", json={"job_id": "order-1-b"})
    await until(http, "order-1-b", "waiting")
    paused = await http.post(f"/api/jobs/{job_id}/pause")
    await until(http, job_id, "paused")
    resumed = await http.post(f"/api/jobs/{job_id}/unpause")
    await until(http, job_id, "waiting")
    cancelled = await http.post(f"/api/jobs/{job_id}/cancel")
    await until(http, job_id, "cancelled")
    late = await http.post(f"/api/jobs/{job_id}/cancel")

    assert extended.json()["deadline"] > before
    assert forked.json() == {"job_id": "order-1-b"}
    assert {answer.status_code for answer in (paused, resumed, cancelled)} == {202}
    assert late.status_code == 404


async def test_a_plan_that_is_wrong_is_refused_with_its_problems(http: httpx2.AsyncClient) -> None:
    plan = {"name": "p", "nodes": [{"id": "a", "kind": "wait", "key": "k"}]}

    answer = await http.post("/api/jobs", json={"plan": plan, "session_id": "s"})

    assert answer.status_code == 422
    assert "a" in answer.json()["detail"]
    assert "timeout" in answer.json()["detail"]


@pytest.mark.usefixtures("worker")
async def test_a_key_for_some_agents_lists_the_jobs_of_a_named_one_alone(
    app: FastAPI, new_key: NewKey, http: httpx2.AsyncClient
) -> None:
    job_id = await started(http)

    async with opened(app, await new_key(agents=("a*",))) as some:
        unnamed = await some.get("/api/jobs")
        named = await some.get("/api/jobs", params={"agent_id": "ada"})
    async with opened(app, await new_key(agents=("*",))) as every:
        listed = await every.get("/api/jobs", params={"state": "waiting"})

    assert unnamed.status_code == 403
    assert [job["job_id"] for job in named.json()["items"]] == [job_id]
    assert [job["job_id"] for job in listed.json()["items"]] == [job_id]
