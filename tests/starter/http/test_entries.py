"""One entry over HTTP: read with what is known about it, changed, archived, restored and deleted."""

import asyncio
from datetime import UTC, datetime

import httpx2
import pytest

from mnestic.memory.knowledge.ingestion import IncomingMessage
from mnestic.memory.knowledge.resources import Resource
from mnestic.starter.client.mnestic_client import MnesticClient

ENTRIES = "/api/memory/entries"


async def add(client: MnesticClient, text: str, **fields: object) -> str:
    return (await client.memory("ada").add(text, **fields)).id  # type: ignore[arg-type]


async def found(http: httpx2.AsyncClient, question: str) -> list[str]:
    answer = await http.get("/retrieve", params={"q": question})
    return [one["entry"]["content"] for one in answer.json()["results"]]


async def test_an_entry_is_changed_and_each_change_is_in_its_history(
    http: httpx2.AsyncClient, client: MnesticClient
) -> None:
    path = f"{ENTRIES}/{await add(client, 'The boiler is in the celar.', tags=['house'])}"

    changed = await http.patch(path, json={"content": "The boiler is in the cellar."})
    pinned = await http.patch(path, json={"critical": True})
    nothing = await http.patch(path, json={})
    read = (await http.get(path)).json()

    assert (changed.status_code, pinned.status_code, nothing.status_code) == (200, 200, 422)
    assert read["entry"] == pinned.json()
    assert read["entry"]["content"] == "The boiler is in the cellar."
    assert (read["entry"]["tags"], read["entry"]["critical"]) == (["house"], True)
    assert [one["action"] for one in read["changes"]] == ["entry.change"] * 2
    assert all(one["actor"].startswith("key/") for one in read["changes"])
    assert await found(http, "Where is the boiler?") == ["The boiler is in the cellar."]


async def test_an_entry_is_archived_restored_and_deleted(
    http: httpx2.AsyncClient, client: MnesticClient
) -> None:
    path = f"{ENTRIES}/{await add(client, 'The boiler is in the cellar.')}"

    await http.post(f"{path}/archive")
    archived = (await http.get(path)).json()
    refused = await http.patch(path, json={"tags": ["house"]})
    hidden = await found(http, "Where is the boiler?")
    restored = (await http.post(f"{path}/restore")).json()
    again = await http.post(f"{path}/restore")
    await http.post(f"{path}/archive")
    deleted = await http.delete(path)
    gone = await http.get(path)

    assert archived["archived"]["reason"] == "by_hand"
    assert (archived["entry"]["status"], restored["status"]) == ("archived", "active")
    assert (refused.status_code, "restore it" in refused.text) == (409, True)
    assert hidden == []
    assert again.status_code == 404
    assert (deleted.status_code, gone.status_code) == (200, 404)


@pytest.mark.usefixtures("worker")
async def test_an_entry_tells_where_it_comes_from_and_what_became_of_it(
    http: httpx2.AsyncClient, client: MnesticClient
) -> None:
    memory = client.memory("ada")
    for number, town in enumerate(("Porto", "Faro")):
        message = Resource(
            session_id="s",
            source_id=f"m{number}",
            channel="chat",
            speaker="Mara",
            content=f"I live in {town}.",
            at=datetime(2026, 3, 2 + number, tzinfo=UTC),
        )
        await memory.ingest([IncomingMessage(resource=message)])
    async with asyncio.timeout(30):
        while (await memory.messages.count()).waiting:  # noqa: ASYNC110 - Postgres sets no event
            await asyncio.sleep(0.05)
    listed = (await http.get("/items", params={"speaker": "mara"})).json()["items"]
    ids = {one["content"]: one["id"] for one in listed}
    await memory.auto_retrieve("Where does Mara live?", channel="chat")

    old = (await http.get(f"{ENTRIES}/{ids['I live in Porto.']}")).json()
    new = (await http.get(f"{ENTRIES}/{ids['I live in Faro.']}")).json()
    reinstated = await http.post(f"{ENTRIES}/{ids['I live in Porto.']}/reinstate")

    assert (old["message"]["state"], old["message"]["extractor"]) == ("learned", "english-2")
    assert [(fact["object"], fact["status"]) for fact in old["facts"]] == [("Porto", "archived")]
    assert old["supersession"]["by"] == ids["I live in Faro."]
    assert old["supersession"]["why"] == "superseded"
    assert new["supersession"] is None
    assert [one["preview"] for one in new["retrievals"]] == ["Where does Mara live?"]
    assert reinstated.status_code == 200


async def test_entries_are_listed_by_speaker_and_tag(
    http: httpx2.AsyncClient, client: MnesticClient
) -> None:
    await add(client, "Tea at four.", speaker="Mara", tags=["Food", "plan"])
    await add(client, "Coffee at nine.", speaker="Bert", tags=["food"])
    await add(client, "The train is late.", speaker="Bert", tags=["travel"])

    async def listed(**params: str | list[str]) -> list[str]:
        answer = await http.get("/items", params=params)
        return sorted(one["content"] for one in answer.json()["items"])

    searched = await http.get("/retrieve", params={"q": "tea or coffee", "speaker": "bert"})

    assert await listed(speaker="bert") == ["Coffee at nine.", "The train is late."]
    assert await listed(tag=["food"]) == ["Coffee at nine.", "Tea at four."]
    assert await listed(tag=["travel", "plan"]) == ["Tea at four.", "The train is late."]
    assert await listed(speaker="Mara", tag=["travel"]) == []
    assert {one["entry"]["speaker"] for one in searched.json()["results"]} == {"Bert"}
