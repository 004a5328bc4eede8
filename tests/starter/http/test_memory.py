"""An agent's memory over HTTP: facts, entries, contexts, settings and the retrieval log."""

import httpx2

from mnestic.starter.client.mnestic_client import MnesticClient

HOME = {"subject": "Mara", "predicate": "lives_in", "value": "Porto"}


async def values(http: httpx2.AsyncClient, **params: str) -> list[str]:
    answer = await http.get("/api/memory/facts", params=params)
    return [one["object"] for one in answer.json()["items"]]


async def test_a_new_value_supersedes_the_last(http: httpx2.AsyncClient) -> None:
    await http.post("/api/memory/facts", json=HOME)
    added = await http.post("/api/memory/facts", json={**HOME, "value": "Ghent"})

    assert added.status_code == 200
    assert await values(http) == ["Ghent"]
    assert await values(http, status="archived") == ["Porto"]
    assert await values(http, subject="Bert") == []


async def test_facts_are_listed_in_pages(http: httpx2.AsyncClient) -> None:
    for name in ("Mara", "Bert", "Cleo"):
        await http.post("/api/memory/facts", json={**HOME, "subject": name})
    found: list[str] = []
    params: dict[str, str | int] = {"limit": 2}

    while True:
        page = (await http.get("/api/memory/facts", params=params)).json()
        found.extend(one["subject"] for one in page["items"])
        if page["next_cursor"] is None:
            break
        params["cursor"] = page["next_cursor"]

    assert sorted(found) == ["Bert", "Cleo", "Mara"]


async def test_entries_are_listed_newest_first(
    http: httpx2.AsyncClient, client: MnesticClient
) -> None:
    await client.memory("ada").add("Mara likes tea.", session_id="a")
    await client.memory("ada").add("Mara likes rain.", session_id="b")

    listed = (await http.get("/items")).json()["items"]
    filtered = (await http.get("/items", params={"session_id": "a"})).json()["items"]
    reverse = await http.get(
        "/items", params={"since": "2026-02-01T00:00:00Z", "until": "2026-01-01T00:00:00Z"}
    )

    assert [one["content"] for one in listed] == ["Mara likes rain.", "Mara likes tea."]
    assert [one["content"] for one in filtered] == ["Mara likes tea."]
    assert reverse.status_code == 422


async def test_a_search_gives_excerpts_of_200_characters(
    http: httpx2.AsyncClient, client: MnesticClient
) -> None:
    await client.memory("ada").add("Mara moved to Porto. " + "It rained all day. " * 30)

    found = {}
    for mode in ("hybrid", "semantic", "text"):
        answer = await http.get("/api/memory/search", params={"q": "Mara Porto", "mode": mode})
        found[mode] = answer.json()["results"]

    assert [len(results) for results in found.values()] == [1, 1, 1]
    assert all(len(results[0]["excerpt"]) == 200 for results in found.values())


async def test_settings_change_all_or_none(http: httpx2.AsyncClient) -> None:
    path = "/api/memory/settings"
    before = (await http.get(path)).json()

    changed = await http.patch(path, json={"auto_retrieve_max_results": 6})
    refused = await http.patch(
        path, json={"auto_retrieve_max_results": 7, "auto_retrieve_min_score": 2}
    )
    null = await http.patch(path, json={"language": None})

    assert changed.json() == {**before, "auto_retrieve_max_results": 6}
    assert (refused.status_code, null.status_code) == (422, 422)
    assert (await http.get(path)).json() == changed.json()


async def test_automatic_retrievals_and_counts_are_read(
    http: httpx2.AsyncClient, client: MnesticClient
) -> None:
    await client.memory("ada").add("Mara lives in Porto.")
    await client.memory("ada").auto_retrieve("Where does Mara live?", "chat")

    logged = (await http.get("/api/memory/retrievals")).json()["items"]
    stats = await http.get("/api/memory/stats")

    assert [one["channel"] for one in logged] == ["chat"]
    assert stats.status_code == 200
    assert stats.json()["entries"] == (await client.memory("ada").stats()).entries.model_dump(
        mode="json"
    )


async def test_a_search_says_why_an_expected_entry_does_not_come(
    http: httpx2.AsyncClient, client: MnesticClient
) -> None:
    mara = await client.memory("ada").add("Mara lives in Porto.")
    await client.memory("ada").add("Bert plays chess.")
    path, params = "/api/memory/search/why", {"q": "Where does Mara live?", "expect": mara.id}

    found = (await http.get(path, params=params)).json()
    below = (await http.get(path, params={**params, "min_score": 1})).json()
    absent = await http.get(path, params={**params, "expect": "none"})

    assert (found["stage"], found["rank"]) == ("returned", 1)
    assert (below["stage"], below["needed"]) == ("min_score", 1)
    assert absent.status_code == 404


async def test_a_deleted_fact_is_not_listed(http: httpx2.AsyncClient) -> None:
    added = (await http.post("/api/memory/facts", json=HOME)).json()["changes"]
    path = f"/api/memory/facts/{added[0]['after']['id']}"

    deleted = await http.delete(path)
    absent = await http.delete("/api/memory/facts/no-such-fact")

    assert (deleted.status_code, absent.status_code) == (200, 404)
    assert await values(http) == []


async def test_a_malformed_cursor_is_refused(http: httpx2.AsyncClient) -> None:
    paths = ("/items", "/api/memory/facts", "/api/memory/retrievals")
    answers = [await http.get(path, params={"cursor": "nonsense"}) for path in paths]

    assert [answer.status_code for answer in answers] == [422] * len(paths)
