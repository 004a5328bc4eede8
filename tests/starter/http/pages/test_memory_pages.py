"""An agent's memory on the page, without a browser: facts, searches, auto-retrieval, notes and forgetting."""

import re
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import httpx2
import pytest

from mnestic.memory.knowledge.entries import EntryQuery
from mnestic.starter.client.ingestion import start_ingest
from mnestic.starter.client.mnestic_client import MnesticClient
from mnestic.starter.settings import Settings
from tests.starter.http.pages.conftest import SERVER

ADA = {"agent_id": "ada"}
STALE = "What the request is based on has changed since."


async def objects(client: MnesticClient, predicate: str) -> list[str]:
    facts, _ = await client.memory("ada").facts.list(predicate=predicate)
    return sorted(fact.object for fact in facts)


async def test_a_fact_is_stated_changed_and_deleted(
    browser: httpx2.AsyncClient, client: MnesticClient
) -> None:
    facts = client.memory("ada").facts

    for value in ("Porto", "Lisbon"):
        form = {"subject": "Mara", "predicate": "lives in", "value": value}
        await browser.post("/ui/memory/facts", params=ADA, data=form)
    (fact,), _ = await facts.list(predicate="lives_in")
    shown = {"HX-Current-URL": f"{SERVER}/ui/memory?agent_id=ada&subject=Mara&done=added"}
    listed = await browser.get("/ui/memory", params={**ADA, "predicate": "lives in"})
    changed = await browser.post(
        f"/ui/memory/facts/{fact.id}", params=ADA, data={"value": "Faro"}, headers=shown
    )
    page = await browser.get(changed.headers["Location"])
    history = await browser.get(f"/ui/memory/facts/{fact.id}", params=ADA)
    (current,), _ = await facts.list(predicate="lives_in")
    stale = await browser.post(f"/ui/memory/facts/{fact.id}", params=ADA, data={"value": "Genoa"})
    await browser.post(f"/ui/memory/facts/{current.id}/delete", params=ADA)

    assert 'value="Lisbon"' in listed.text
    assert changed.headers["Location"] == "/ui/memory?agent_id=ada&subject=Mara&done=changed"
    assert 'value="Faro"' in page.text
    assert (stale.status_code, STALE in stale.text) == (409, True)
    assert "The fact was changed." in page.text
    assert re.findall(r"<h2>(\w+) <", history.text) == ["Porto", "Lisbon", "Faro"]
    assert "Faro" not in await objects(client, "lives_in")


async def test_a_memory_is_opened_edited_pinned_archived_and_deleted(
    browser: httpx2.AsyncClient, client: MnesticClient
) -> None:
    entries = client.memory("ada").entries
    entry = await client.memory("ada").add("The boiler is in the celar.", tags=["house"])
    path = f"/ui/memory/entries/{entry.id}"

    listed = await browser.get("/ui/memory/entries", params={**ADA, "tag": "house"})
    form = {"content": "In the cellar,\r\nbehind the door.", "entry_type": "context"}
    form |= {"about": "boiler\r\ncellar, left", "tags": "house\r\nheating"}
    changed = await browser.post(path, params=ADA, data=form)
    stored = await entries.get(entry.id)
    for action in ("pin", "archive"):
        await browser.post(f"{path}/{action}", params=ADA)
    archive = await browser.get("/ui/memory/entries", params={**ADA, "status": "archived"})
    page = await browser.get(path, params=ADA)
    await browser.post(f"{path}/restore", params=ADA)
    restored = await entries.get(entry.id)
    deleted = await browser.post(f"{path}/delete", params=ADA)
    gone = await browser.get(path, params=ADA)

    assert "The boiler is in the celar." in listed.text
    assert "The memory was changed." in (await browser.get(changed.headers["Location"])).text
    assert stored.content == "In the cellar,\nbehind the door."
    assert (stored.entry_type, stored.subjects) == ("context", ("boiler", "cellar, left"))
    assert "In the cellar, behind the door." in archive.text
    assert re.findall(r"<td data-label=\"What\">(\w+)<", page.text) == [
        "archive",
        "change",
        "change",
    ]
    assert (restored.critical, restored.status) == (True, "active")
    assert deleted.headers["Location"].startswith("/ui/memory/entries?")
    assert gone.status_code == 404


async def test_memories_are_found_by_each_filter_and_by_words(
    browser: httpx2.AsyncClient, client: MnesticClient
) -> None:
    memory = client.memory("ada")
    tea = {"speaker": "Mara", "session_id": "s1", "channel": "mail", "tags": ["food"]}
    await memory.add("Tea at four.", at=datetime(2026, 3, 2, tzinfo=UTC), **tea)
    await memory.add("The train is late.", speaker="Bert", entry_type="error")

    async def shown(**filters: str) -> list[str]:
        page = await browser.get("/ui/memory/entries", params={**ADA, **filters})
        return sorted(re.findall(r'aria-label="Choose ([^"]+)"', page.text))

    assert await shown() == ["Tea at four.", "The train is late."]
    for name, value in (("speaker", "mara"), ("session", "s1"), ("channel", "mail")):
        assert await shown(**{name: value}) == ["Tea at four."], name
    assert await shown(tag="food") == await shown(q="tea", speaker="mara") == ["Tea at four."]
    assert (
        await shown(entry_type="error") == await shown(since="2026-03-03") == ["The train is late."]
    )
    backwards = {**ADA, "since": "2026-03-03", "until": "2026-03-01"}
    refused = await browser.get("/ui/memory/entries", params=backwards)

    assert refused.status_code == 422
    assert await shown(q="  ") == await shown()
    assert await shown(until="2026-03-02") == await shown(q="tea", tag="none") == []


async def test_several_memories_are_changed_after_a_preview(
    browser: httpx2.AsyncClient, client: MnesticClient
) -> None:
    memory = client.memory("ada")
    ids = [(await memory.add(f"Note {n}.", tags=["old" if n < 2 else "new"])).id for n in range(3)]

    preview = await browser.post(
        "/ui/memory/entries",
        params={**ADA, "tag": "old"},
        data={"action": "delete", "every": "true"},
    )
    left, _ = await memory.entries.list(EntryQuery())
    confirmed = re.findall(r'name="entry" value="([^"]+)"', preview.text)
    changed = await browser.post(
        "/ui/memory/entries/apply",
        params=ADA,
        data={"action": "delete", "entry": [*confirmed, "no-such-entry"]},
    )

    assert "Delete 2 memories?" in preview.text
    assert len(left) == 3
    assert sorted(confirmed) == sorted(ids[:2])
    assert ("Deleted: 2. Failed: 1." in changed.text, "no-such-entry" in changed.text) == (
        True,
        True,
    )
    assert [one.id for one in (await memory.entries.list(EntryQuery()))[0]] == ids[2:]


async def test_settings_hold_and_a_preview_is_not_logged(
    browser: httpx2.AsyncClient, client: MnesticClient
) -> None:
    memory = client.memory("ada")
    await memory.add("Mara lives in Porto.")
    path = "/ui/memory/auto-retrieval"

    await browser.post(path, params=ADA, data={"results": "7", "score": "0.35", "enabled": "true"})
    page = await browser.get(path, params=ADA)
    preview = await browser.post(
        f"{path}/preview", params=ADA, data={"message": "Where does Mara live?"}
    )
    unlogged, _ = await memory.retrieval_log.list()
    await memory.auto_retrieve("Where does Mara live?", "chat")
    logged = await browser.get(path, params=ADA)
    await browser.post(path, params=ADA, data={"results": "7", "score": "0.35"})

    assert 'value="7"' in page.text
    assert "from score 0.35" in page.text
    assert "Mara lives in Porto." in preview.text
    assert unlogged == ()
    assert "Where does Mara live?" in logged.text
    assert not (await memory.settings.get()).auto_retrieve_enabled


@pytest.fixture
def settings(new_settings: Callable[[Path], Settings], tmp_path: Path) -> Settings:
    """Settings with a vault of notes."""
    vault = tmp_path / "vault"
    vault.mkdir()
    (vault / "Mara.md").write_text("Mara plays the cello.", encoding="utf-8")
    (vault / "Tagged.md").write_text("#mnestic Tea is at five.", encoding="utf-8")
    return new_settings(tmp_path / "data").model_copy(update={"obsidian_vault": vault})


async def test_notes_are_chosen_shown_and_removed(browser: httpx2.AsyncClient) -> None:
    path = "/ui/memory/notes"

    tagged = await browser.get(path, params=ADA)
    added = await browser.post(f"{path}/add", params=ADA, data={"note": "Mara.md"})
    both = await browser.get(added.headers["Location"])
    await browser.post(f"{path}/remove", params=ADA, data={"note": "Mara.md"})
    await browser.post(path, params=ADA, data={"enabled": "true", "tag": "#other"})
    none = await browser.get(path, params=ADA)

    assert ("Tea is at five." in tagged.text, "cello" in tagged.text) == (True, False)
    assert ("Tea is at five." in both.text, "cello" in both.text) == (True, True)
    assert "No notes." in none.text


@pytest.mark.usefixtures("worker")
async def test_a_topic_is_forgotten_as_it_was_previewed(
    browser: httpx2.AsyncClient, client: MnesticClient
) -> None:
    memory = client.memory("ada")
    await memory.add("Mara lives in Porto.")
    await memory.add("The boiler was repaired.")
    await (await start_ingest(client, agent_id="ada")).result()  # the token is of its facts too

    (fact,), _ = await memory.facts.list(predicate="lives_in")
    traced = await browser.get(f"/ui/memory/facts/{fact.id}", params=ADA)
    shown = await browser.post("/ui/memory/forget/preview", params=ADA, data={"topic": "Porto"})
    token = re.search(r'name="token" value="([^"]+)"', shown.text)
    assert token is not None
    refused = await browser.post(
        "/ui/memory/forget", params=ADA, data={"topic": "Porto", "token": "wrong"}
    )
    done = await browser.post(
        "/ui/memory/forget", params=ADA, data={"topic": "Porto", "token": token[1]}
    )
    left = (await memory.entries.list(EntryQuery()))[0]

    assert "Mara lives in Porto." in shown.text
    assert re.search(r"<mark>[^<]*Porto", traced.text)
    assert (refused.status_code, STALE in refused.text) == (409, True)
    assert '<h2 id="forgotten">Forgotten</h2>' in done.text
    assert [one.content for one in left] == ["The boiler was repaired."]


async def test_a_changed_value_ends_the_old_one_where_there_are_several(
    client: MnesticClient,
) -> None:
    facts = client.memory("ada").facts
    await facts.add("Mara", "likes", "tea")
    await facts.add("Mara", "likes", "jazz")
    tea = next(one for one in (await facts.list(predicate="likes"))[0] if one.object == "tea")

    await facts.change(tea.id, "coffee")

    assert await objects(client, "likes") == ["coffee", "jazz"]
    assert (await facts.why(tea.id))[0].end == "ended"


async def test_a_search_shows_scores_and_why_something_does_not_come(
    browser: httpx2.AsyncClient, client: MnesticClient
) -> None:
    memory = client.memory("ada")
    await memory.add("Mara lives in Porto.", channel="chat", speaker="Mara")
    await memory.add("The boiler in the cellar was repaired on Tuesday.", channel="mail")

    pages = {
        mode: await browser.get(
            "/ui/memory/search", params={**ADA, "q": "Where does Mara live?", "mode": mode}
        )
        for mode in ("hybrid", "semantic", "text")
    }
    missing = await browser.get(
        "/ui/memory/search", params={**ADA, "q": "Where does Mara live?", "expected": "boiler"}
    )

    for page in pages.values():
        assert "Mara lives in Porto." in page.text
        assert "Mara · chat ·" in page.text
    assert "The boiler in the cellar was repaired on Tuesday." in missing.text
    assert "The boiler" not in pages["hybrid"].text
