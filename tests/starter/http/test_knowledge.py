"""Messages that come in over HTTP."""

from typing import Any

import httpx2

HOME = {
    "speaker": "Mara",
    "content": "I moved to Porto in May.",
    "session_id": "chat-1",
    "source_id": "m-1",
    "at": "2026-03-01T12:00:00+01:00",
}


async def test_a_text_is_read_without_storing_it(http: httpx2.AsyncClient) -> None:
    answer = await http.post("/extract", json={"speaker": "Mara", "content": "I moved to Porto."})
    refused = await http.post("/extract", json={"content": " "})
    stored = [(await http.get(path)).json()["items"] for path in ("/items", "/api/memory/facts")]

    assert answer.status_code == 200, answer.text
    (claim,) = answer.json()["claims"]
    assert (claim["subject"], claim["object"], claim["text"]) == (
        "Mara",
        "Porto",
        "I moved to Porto",
    )
    assert (refused.status_code, refused.json()["errors"][0]["path"]) == (422, "body.content")
    assert stored == [[], []]


async def test_categories_are_summarised(http: httpx2.AsyncClient) -> None:
    fact = {"subject": "Mara", "predicate": "lives_in", "value": "Porto"}
    await http.post("/api/memory/facts", json=fact)

    every = (await http.post("/summarize", json={})).json()["items"]
    one = (await http.post("/summarize", json={"category": "work"})).json()["items"]
    read = (await http.get("/categories")).json()["items"]
    question = {"q": "Where does Mara live?", "max_tokens": 300}
    block = (await http.get("/context", params=question)).json()

    assert [category["summary"] for category in every if category["summary"]]
    assert "Porto" in str(every)
    assert every == read
    assert "Porto" in block["text"]
    assert 0 < block["tokens"] <= 300
    assert [category["name"] for category in one] in ([], ["work"])


async def test_the_object_of_a_fact_is_changed(http: httpx2.AsyncClient) -> None:
    fact = {"subject": "Mara", "predicate": "lives_in", "value": "Porto"}
    added = (await http.post("/api/memory/facts", json=fact)).json()["changes"]
    path = f"/api/memory/facts/{added[0]['after']['id']}"

    changed = await http.patch(path, json={"value": "Lisbon"})
    stale = await http.patch(path, json={"value": "Faro"})
    absent = await http.patch("/api/memory/facts/none", json={"value": "Lisbon"})
    active = (await http.get("/api/memory/facts")).json()["items"]
    archived = (await http.get("/api/memory/facts", params={"status": "archived"})).json()["items"]

    assert (changed.status_code, stale.status_code, absent.status_code) == (200, 409, 404)
    assert stale.json()["type"] == "urn:mnestic:problem:stale-request"
    assert [one["object"] for one in active] == ["Lisbon"]
    assert [one["object"] for one in archived] == ["Porto"]


async def test_a_message_is_found_at_once_and_stored_once(http: httpx2.AsyncClient) -> None:
    async def sent(key: str | None, **more: Any) -> httpx2.Response:
        headers = {} if key is None else {"Idempotency-Key": key}
        return await http.post("/ingest", json={"messages": [{**HOME, **more}]}, headers=headers)

    refused = await sent("once", content=" ")
    answers = [await sent("once", source_id=None) for _ in range(2)]
    other = await sent("once", content="I like tea.")
    known = [await sent(None, content="I like rain.") for _ in range(2)]
    found = await http.get("/retrieve", params={"q": "Where did Mara move?"})

    assert (refused.status_code, "has no content" in refused.json()["detail"]) == (422, True)
    assert [one.json() for one in answers] == [{"received": 1, "new": 1}] * 2
    assert other.json()["type"] == "urn:mnestic:problem:idempotency-conflict"
    assert [one.json()["new"] for one in known] == [1, 0]
    assert [one["entry"]["content"] for one in found.json()["results"]] == [HOME["content"]]
