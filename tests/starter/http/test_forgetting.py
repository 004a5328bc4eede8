"""Forgetting over HTTP: a preview, and its confirmation."""

import httpx2
import pytest

from mnestic.memory.canonical import sha256_hex
from mnestic.memory.errors import InvalidInputError
from mnestic.memory.operations import Operation
from mnestic.starter.client.ingestion import start_ingest
from mnestic.starter.client.mnestic_client import MnesticClient
from tests.transactions import Execute

PREVIEW, FORGET = "/v1/memory/forget/preview", "/v1/memory/forget"


async def add(client: MnesticClient, *texts: str) -> None:
    """Adds entries, and waits until their facts are there: a token is of what was shown."""
    for text in texts:
        await client.memory("ada").add(text)
    await (await start_ingest(client, agent_id="ada")).result()


@pytest.mark.usefixtures("worker")
async def test_a_topic_is_forgotten_once_for_a_key(
    http: httpx2.AsyncClient, client: MnesticClient
) -> None:
    await add(client, "Mara rents a flat in Porto.")
    token = (await http.post(PREVIEW, json={"topic": "Porto"})).json()["token"]
    body, key = {"topic": "Porto", "token": token}, {"Idempotency-Key": "gone"}

    early = await http.post(
        FORGET, json={**body, "token": "none"}, headers={"Idempotency-Key": "a"}
    )
    retried = await http.post(
        FORGET, json={**body, "token": "none"}, headers={"Idempotency-Key": "a"}
    )
    first = await http.post(FORGET, json=body, headers=key)
    await add(client, "Mara lives in Porto.")
    again = await http.post(FORGET, json=body, headers=key)
    other = await http.post(FORGET, json={**body, "topic": "Mara"}, headers=key)
    left = (await http.get("/v1/items")).json()["items"]

    assert (early.status_code, retried.status_code) == (409, 409)
    assert (first.status_code, again.status_code, other.status_code) == (200, 200, 409)
    assert first.json()["forgetting_id"] == again.json()["forgetting_id"]
    assert first.json()["purged"] == again.json()["purged"]
    assert [one["content"] for one in left] == ["Mara lives in Porto."]


async def test_nothing_that_is_stored_of_a_request_is_a_hash_of_the_topic(
    http: httpx2.AsyncClient, execute: Execute
) -> None:
    body = {"topic": "Porto", "token": "none"}

    await http.post(FORGET, json=body, headers={"Idempotency-Key": "k"})

    (row,) = execute(
        "SELECT request_hash, o::text FROM mnestic.operation AS o WHERE tenant_id = %s"
    )
    request = {"route": f"POST {FORGET}", **body, "keep_out": False}
    plain = Operation(key="k", name="request").request_hash(request)
    assert row[0] != plain
    assert not any(word in row[1] for word in ("Porto", sha256_hex(b"Porto")))


@pytest.mark.usefixtures("worker")
async def test_a_request_whose_start_failed_is_started_when_it_comes_again(
    client: MnesticClient,
) -> None:
    await add(client, "Mara rents a flat in Porto.")
    token = (await client.memory("ada").preview_forget("Porto")).token
    unstartable = client.settings.model_copy(update={"task_queue": "q" * 2000})

    async with await MnesticClient.connect(unstartable) as broken:
        for _ in range(2):
            with pytest.raises(InvalidInputError):
                await broken.memory("ada").forgetting.start(
                    "Porto", confirm=token, keep_out=True, request_id="r"
                )
    kept_out = await client.memory("ada").forgetting.keep_outs()
    started = [
        await client.memory("ada").forgetting.start("Porto", confirm=token, request_id="r")
        for _ in range(2)
    ]
    done = [await one.result() for one in started]

    assert kept_out == ()
    assert done[0] == done[1]
    assert done[0].purged["entry"] == 1
