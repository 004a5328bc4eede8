"""Messages that come in over HTTP."""

import httpx2

HOME = {
    "speaker": "Mara",
    "content": "I moved to Porto in May.",
    "session_id": "chat-1",
    "source_id": "m-1",
    "at": "2026-03-01T12:00:00+01:00",
}


async def test_a_message_is_found_as_soon_as_it_was_sent(http: httpx2.AsyncClient) -> None:
    sent = await http.post("/ingest", json={"messages": [HOME]})
    found = await http.get("/retrieve", params={"q": "Where did Mara move?"})

    assert (sent.status_code, sent.json()) == (200, {"received": 1, "new": 1})
    assert found.status_code == 200
    assert found.json()["results"][0]["entry"]["content"] == HOME["content"]


async def test_a_message_that_is_sent_again_is_not_new(http: httpx2.AsyncClient) -> None:
    await http.post("/ingest", json={"messages": [HOME]})

    again = await http.post("/ingest", json={"messages": [HOME]})

    assert again.json() == {"received": 1, "new": 0}


async def test_a_request_that_is_repeated_with_its_key_gets_the_first_answer(
    http: httpx2.AsyncClient,
) -> None:
    body = {"messages": [{**HOME, "source_id": None}]}
    key = {"Idempotency-Key": "once"}

    answers = [await http.post("/ingest", json=body, headers=key) for _ in range(3)]
    listed = await http.get("/retrieve", params={"q": "Porto"})

    assert [answer.json() for answer in answers] == [{"received": 1, "new": 1}] * 3
    assert len(listed.json()["results"]) == 1


async def test_a_key_of_another_request_is_a_conflict(http: httpx2.AsyncClient) -> None:
    key = {"Idempotency-Key": "once"}
    await http.post("/ingest", json={"messages": [HOME]}, headers=key)

    other = await http.post(
        "/ingest", json={"messages": [{**HOME, "content": "I like tea."}]}, headers=key
    )

    assert other.status_code == 409
    assert other.json()["type"] == "urn:mnestic:problem:idempotency-conflict"


async def test_a_write_that_fails_leaves_its_key_free(http: httpx2.AsyncClient) -> None:
    key = {"Idempotency-Key": "once"}
    refused = await http.post(
        "/ingest", json={"messages": [HOME, {**HOME, "content": " "}]}, headers=key
    )

    mended = await http.post("/ingest", json={"messages": [HOME]}, headers=key)

    assert refused.status_code == 422
    assert "has no content" in refused.json()["detail"]
    assert mended.json() == {"received": 1, "new": 1}


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

    assert [category["summary"] for category in every if category["summary"]]
    assert "Porto" in str(every)
    assert every == read
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
