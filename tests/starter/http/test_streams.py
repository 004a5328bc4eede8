"""Server-sent events: changes of memory from an offset, and a job's progress until its end."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx2
import pytest
import uvicorn
from fastapi import FastAPI

from mnestic.memory.names import maintenance_workflow_id
from mnestic.starter.client.mnestic_client import MnesticClient
from mnestic.starter.http import server_sent_events
from tests.starter.http.conftest import NewKey, opened
from tests.starter.http.test_jobs import started

EVENTS = "/v1/memory/events"


@pytest.fixture
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    """Streams that end once they have sent what there is."""
    monkeypatch.setattr(server_sent_events, "LONGEST_S", 0.0)


@asynccontextmanager
async def served(app: FastAPI, key: str) -> AsyncIterator[httpx2.AsyncClient]:
    """A client of the application behind a real server, which sends a stream as it comes."""
    config = uvicorn.Config(app, port=0, lifespan="off", log_config=None)
    server = uvicorn.Server(config)
    serving = asyncio.create_task(server.serve())
    async with asyncio.timeout(10):
        while not server.started:  # noqa: ASYNC110 - uvicorn sets no event
            await asyncio.sleep(0.01)
    port = server.servers[0].sockets[0].getsockname()[1]
    headers = {"Authorization": f"Bearer {key}"}
    try:
        async with httpx2.AsyncClient(
            base_url=f"http://127.0.0.1:{port}", headers=headers, timeout=30
        ) as http:
            yield http
    finally:
        server.should_exit = True
        await serving


def events_of(text: str) -> list[dict[str, Any]]:
    """The events of a stream that has ended."""
    found = []
    for block in text.replace("\r\n", "\n").split("\n\n"):
        lines = [line for line in block.split("\n") if line and not line.startswith(":")]
        fields = dict(line.split(": ", 1) for line in lines)
        if fields:
            found.append({**fields, "data": json.loads(fields["data"])})
    return found


@pytest.mark.usefixtures("short")
async def test_changes_of_memory_are_streamed_from_an_offset(
    http: httpx2.AsyncClient, client: MnesticClient
) -> None:
    for content in ("Mara lives in Porto.", "Bert plays chess.", "Cleo has a dog."):
        await client.memory("ada").add(content)

    every = await http.get(EVENTS)
    first, second, third = events_of(every.text)
    later = await http.get(EVENTS, params={"after": first["id"]})
    resumed = await http.get(EVENTS, headers={"Last-Event-ID": second["id"]})
    none = await http.get(EVENTS, params={"kind": "memory.deleted"})

    assert every.headers["Content-Type"].startswith("text/event-stream")
    assert first["event"] == "memory.stored"
    assert first["data"]["number"] == int(first["id"])
    assert "Porto" not in every.text
    assert events_of(later.text) == [second, third]
    assert events_of(resumed.text) == [third]
    assert events_of(none.text) == []


async def test_an_offset_that_cannot_be_is_a_problem(
    http: httpx2.AsyncClient, client: MnesticClient
) -> None:
    await client.memory("ada").add("Mara lives in Porto.")

    ahead = await http.get(EVENTS, params={"after": 99})
    huge = await http.get(EVENTS, params={"after": 10**30})
    malformed = await http.get(EVENTS, headers={"Last-Event-ID": "x"})

    assert (ahead.status_code, malformed.status_code) == (422, 422)
    assert huge.json()["errors"][0]["path"] == "query.after"
    assert malformed.json()["errors"][0]["path"] == "header.Last-Event-ID"
    assert ahead.headers["Content-Type"] == "application/problem+json"


async def test_a_change_is_streamed_as_it_happens_and_a_stream_that_is_left_is_closed(
    app: FastAPI, new_key: NewKey, client: MnesticClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server_sent_events, "POLL_S", 0.05)
    monkeypatch.setattr(server_sent_events, "MOST_STREAMS", 1)

    async with served(app, await new_key()) as http:
        async with http.stream("GET", EVENTS) as stream:
            refused = await http.get(EVENTS)
            await client.memory("ada").add("Mara lives in Porto.")
            async with asyncio.timeout(20):
                lines = stream.aiter_lines()
                while not (line := await anext(lines)).startswith("event: "):
                    pass
        async with asyncio.timeout(20):
            while (await _status(http)) == 429:  # noqa: ASYNC110 - the server sets no event here
                await asyncio.sleep(0.05)

    assert line == "event: memory.stored"
    assert (refused.status_code, refused.headers["Retry-After"]) == (429, "5")


async def _status(http: httpx2.AsyncClient) -> int:
    async with http.stream("GET", EVENTS) as stream:
        return stream.status_code


@pytest.mark.usefixtures("worker")
async def test_the_progress_of_a_job_is_streamed_until_it_ends(
    app: FastAPI, new_key: NewKey, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server_sent_events, "POLL_S", 0.05)

    async with opened(app, await new_key()) as http:
        job_id = await started(http)
        path = f"/v1/jobs/{job_id}/events"
        async with asyncio.TaskGroup() as group:
            streaming = group.create_task(http.get(path))
            group.create_task(http.post(f"/v1/jobs/{job_id}/resume", json={"payload": "yes"}))
        events = events_of(streaming.result().text)
        again = await http.get(path, headers={"Last-Event-ID": events[-1]["id"]})

    states = [one["data"]["state"] for one in events]
    assert {one["event"] for one in events[:-1]} == {"job"}
    assert (events[-1]["event"], states[-1]) == ("end", "completed")
    assert [one["event"] for one in events_of(again.text)] == ["end"]


@pytest.mark.usefixtures("short")
async def test_how_far_a_run_is_is_streamed_until_it_ends(
    app: FastAPI, new_key: NewKey, client: MnesticClient
) -> None:
    async with opened(app, await new_key(agents=("*",))) as http:
        run_id = (await http.post("/v1/maintenance/runs/weekly", json={})).json()["id"]
        path = f"/v1/maintenance/runs/{run_id}/events"
        (running,) = events_of((await http.get(path)).text)
        name = maintenance_workflow_id(client.settings.tenant_id, run_id)
        await client.temporal.get_workflow_handle(name).terminate()
        headers = {"Last-Event-ID": running["id"]}
        ended, end = events_of((await http.get(path, headers=headers)).text)
        absent = await http.get("/v1/maintenance/runs/no-such-run/events")

    assert (running["event"], running["data"]["state"]) == ("run", "running")
    assert (ended["event"], ended["data"]["state"]) == ("run", "failed")
    assert (end["event"], end["data"]) == ("end", {"state": "failed"})
    assert absent.status_code == 404


@pytest.mark.parametrize("by", ["the server", "its key"])
async def test_a_stream_ends_with_the_server_and_with_its_key(
    app: FastAPI, new_key: NewKey, client: MnesticClient, monkeypatch: pytest.MonkeyPatch, by: str
) -> None:
    monkeypatch.setattr(server_sent_events, "POLL_S", 0.05)
    await client.memory("ada").add("Mara lives in Porto.")
    key = await new_key()
    async with served(app, key) as http, asyncio.timeout(20):
        async with http.stream("GET", EVENTS) as stream:
            lines = stream.aiter_lines()
            while not (await anext(lines)).startswith("event: "):
                pass
            if by == "its key":
                await client.api_keys().revoke(key.split(".")[-2])
            else:
                app.state.streams.end()
            rest = [line async for line in lines]  # it ends long before five minutes
        later = await http.get(EVENTS)

    assert not [line for line in rest if line.startswith("event: ")]
    assert later.status_code == (401 if by == "its key" else 200)
    assert by == "its key" or events_of(later.text) == []
