"""`mnestic memory add`, `show`, `list`, `change`, `remove` and `stats`."""

import asyncio
import io
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from mnestic.starter.client.ingestion import start_ingest
from mnestic.starter.client.mnestic_client import MnesticClient

Ask = Callable[..., Awaitable[Any]]
ADA = ("--agent", "ada")


async def added(ask: Ask, text: str, *words: str) -> dict[str, Any]:
    done = await ask("memory", "add", text, *ADA, *words, "--json")
    document: dict[str, Any] = done.document
    return document


async def listed(ask: Ask, *words: str) -> list[str]:
    done = await ask("memory", "list", *ADA, *words, "--json")
    return [entry["content"] for entry in done.document["entries"]]


@pytest.mark.usefixtures("worker")
async def test_adding_may_wait_until_facts_are_extracted(ask: Ask, client: MnesticClient) -> None:
    await added(ask, "I moved to Porto in March.", "--speaker", "Mara", "--wait")
    facts, _ = await client.memory("ada").facts.list(subject="Mara")

    assert [(fact.predicate, fact.object) for fact in facts] == [("lives_in", "Porto")]


@pytest.mark.usefixtures("worker")
async def test_what_is_added_is_found_at_once_and_learned_from(
    ask: Ask, client: MnesticClient
) -> None:
    entry = await added(
        ask, "Mara lives in Ghent.", "--subject", "Mara", "--type", "insight", "--critical"
    )
    again = await added(ask, "Mara lives in Ghent.", "--subject", " mara ", "--type", "insight")
    found = (await ask("memory", "show", entry["id"], *ADA, "--json")).document
    await (await start_ingest(client, agent_id="ada")).result()
    after = (await ask("memory", "show", entry["id"], *ADA, "--json")).document
    told = await ask("memory", "show", entry["id"], *ADA)

    assert again["id"] == entry["id"] == found["id"]
    assert (found["entry_type"], found["subjects"], found["critical"]) == (
        "insight",
        ["Mara"],
        True,
    )
    assert (after["message"]["state"], len(after["facts"])) == ("learned", 1)
    assert "Mara lives_in Ghent (active)" in told.out


async def test_a_text_is_read_from_standard_input_as_it_would_be_given(
    ask: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    def given(content: bytes) -> None:
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(content)))

    entry = await added(ask, "Mara lives in Ghent.")
    given(b"Mara lives in Ghent.\r\n")
    piped = await added(ask, "-")
    given(b"\xff\xfe")
    refused = await ask("memory", "add", "-", *ADA)

    assert piped["id"] == entry["id"]
    assert "standard input: is not UTF-8: byte 1" in refused.error(code=2)


async def test_entries_are_listed_by_what_they_are(ask: Ask) -> None:
    await added(ask, "one", "--subject", "Mara", "--at", "2026-01-05")
    await added(ask, "two", "--type", "error", "--session", "s2", "--at", "2026-02-05T12:00:00Z")
    three = await added(ask, "three", "--at", "2026-03-05")
    await added(ask, "four", "--parent", three["id"], "--at", "2026-04-05")
    await added(ask, "gone", "--at", "2026-04-06", "--expires", "2026-05-01")
    await ask("memory", "change", three["id"], *ADA, "--status", "archived")

    assert await listed(ask) == ["four", "two", "one"]
    assert await listed(ask, "--subject", "MARA") == ["one"]
    assert await listed(ask, "--type", "error", "--type", "insight") == ["two"]
    assert await listed(ask, "--session", "s2") == ["two"]
    assert await listed(ask, "--since", "2026-02-05", "--until", "2026-04-05") == ["two"]
    assert await listed(ask, "--status", "archived") == ["three"]
    assert await listed(ask, "--status", "all", "--limit", "2") == ["four", "three"]
    assert await listed(ask, "--parent", three["id"]) == ["four"]
    assert "two" in (await ask("memory", "list", *ADA)).out


async def until_embedded(ask: Ask, number: int) -> None:
    async with asyncio.timeout(60):
        while True:
            told = (await ask("memory", "stats", *ADA, "--json")).document
            if told["entries"]["embedded"] == {"wordllama-256": number}:
                return
            await asyncio.sleep(0.1)


@pytest.mark.usefixtures("worker")
async def test_an_entry_is_changed_in_what_was_said_alone(ask: Ask) -> None:
    entry = await added(ask, "The tide is low.", "--subject", "Scheldt", "--tag", "water")
    await until_embedded(ask, 1)

    changed = (
        await ask("memory", "change", entry["id"], *ADA, "--text", "The harbour is full.", "--json")
    ).document
    other = (
        await ask("memory", "change", entry["id"], *ADA, "--type", "error", "--critical", "--json")
    ).document

    await until_embedded(ask, 1)
    assert changed["summary"] == "The harbour is full."
    assert changed["keywords"] == ["harbour", "full"]
    assert (changed["subjects"], changed["tags"]) == (["Scheldt"], ["water"])
    assert (other["content"], other["entry_type"]) == ("The harbour is full.", "error")
    assert other["importance"] > changed["importance"]


@pytest.mark.usefixtures("worker")
async def test_an_entry_is_removed_with_or_without_its_facts(
    ask: Ask, client: MnesticClient
) -> None:
    one = await added(ask, "Mara lives in Ghent.")
    two = await added(ask, "Jonas lives in Utrecht.")
    await added(ask, "child", "--parent", one["id"])
    await (await start_ingest(client, agent_id="ada")).result()

    kept = (await ask("memory", "remove", one["id"], *ADA, "--json")).document
    gone = (await ask("memory", "remove", two["id"], *ADA, "--facts", "--json")).document
    again = await ask("memory", "remove", one["id"], *ADA)
    facts = (await ask("memory", "facts", "list", *ADA, "--json")).document["facts"]

    assert kept == {"removed": one["id"], "changes": []}
    assert [change["after"]["status"] for change in gone["changes"]] == ["deleted"]
    assert [fact["subject"] for fact in facts] == ["Mara"]
    assert f"no entry {one['id']}" in again.error(code=2)
    assert await listed(ask) == ["child"]


@pytest.mark.usefixtures("worker")
async def test_memory_is_told_in_numbers(ask: Ask, client: MnesticClient) -> None:
    empty = (await ask("memory", "stats", *ADA, "--json")).document
    await added(ask, "Mara lives in Ghent.", "--critical", "--at", "2026-01-05")
    await added(ask, "It failed.", "--type", "error", "--at", "2026-01-06")
    await (await start_ingest(client, agent_id="ada")).result()

    full = (await ask("memory", "stats", *ADA, "--json")).document
    told = await ask("memory", "stats", *ADA)

    assert empty["entries"]["total"] == 0
    assert empty["entries"]["by_importance"] == [0] * 10
    entries = full["entries"]
    assert (entries["total"], entries["by_type"]) == (2, {"knowledge": 1, "error": 1})
    assert (sum(entries["by_importance"]), entries["critical"]) == (2, 1)
    assert entries["embedded"] == {"wordllama-256": 2}
    assert entries["oldest"] == "2026-01-05T00:00:00Z"
    assert entries["table_bytes"]["entry"] > 0
    assert (full["facts"], full["ingest_states"]["learned"]) == ({"active": 1}, 2)
    assert "status active" in told.out


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("add", " "), "entry: content: has no content"),
        (("add", "\u200b \u2060"), "entry: content: has no content"),
        (("add", "x" * 1_048_577), "content: has 1048577 bytes of content, the limit is 1048576"),
        (
            ("add", "x", "--type", "rumour"),
            "entry_type: there is no rumour; there are interaction, insight",
        ),
        (
            ("add", "x", "--subject", " "),
            "subjects.0: name has 1 characters; it has 1 to 256, not all blank",
        ),
        (("add", "x", "--subject", "x" * 300), "has 300 characters"),
        (("add", "x", "--at", "soon"), "--at: 'soon' is not ISO 8601"),
        (("add", "x", "--at", "9999-01-01"), "--at: is of the year 9999; it is from 1900 to 2999"),
        (("add", "x", "--at", "0000-01-01"), "is not ISO 8601"),
        (("add", "x", "--parent", "none"), "no entry none"),
        (("show", "none"), "no entry none"),
        (("change", "none", "--type", "error"), "no entry none"),
        (("change", "none", "--status", "lost"), "status: Input should be 'active' or 'archived'"),
        (("change", "none"), "entry none: no change is given; give one"),
        (("remove", "none"), "no entry none"),
        (("list", "--status", "lost"), "statuses.0: Input should be 'active' or 'archived'"),
        (
            ("list", "--since", "2026-11-20", "--until", "2026-11-01"),
            "until, 2026-11-01T00:00:00+00:00, is before since, 2026-11-20T00:00:00+00:00",
        ),
        (
            ("search", "tea", "--since", "2026-11-20", "--until", "2026-11-01"),
            "until, 2026-11-01T00:00:00+00:00, is before since",
        ),
        (("list", "--since", "yesterday"), "--since: 'yesterday' is not ISO 8601"),
    ],
    ids=lambda value: " ".join(value)[:40] if isinstance(value, tuple) else value[:20],
)
async def test_what_cannot_be_is_refused_in_one_line(
    ask: Ask, words: tuple[str, ...], told: str
) -> None:
    refused = await ask("memory", *words, *ADA)

    assert told in refused.error(code=2)
    assert await listed(ask, "--status", "all") == []


async def test_a_search_counts_as_an_access_and_show_tells(ask: Ask) -> None:
    entry = await added(ask, "The tide table hangs in the harbour office.")
    await ask("memory", "search", "tide table", *ADA)
    shown = (await ask("memory", "show", entry["id"], *ADA, "--json")).document
    told = await ask("memory", "show", entry["id"], *ADA)

    assert (shown["access_count"], shown["last_accessed"] is not None) == (1, True)
    assert "access_count" in told.out


async def test_a_supersession_is_taken_back(ask: Ask) -> None:
    wrong = await added(ask, "The pump is green.")
    await added(ask, "The pump is red.", "--type", "correction", "--parent", wrong["id"])

    done = await ask("memory", "reinstate", wrong["id"][:8], *ADA)
    again = await ask("memory", "reinstate", wrong["id"], *ADA)
    found = (await ask("memory", "search", "green pump", *ADA, "--json")).document

    assert done.out == f"Entry {wrong['id']} counts again.\n"
    assert "is not superseded" in again.error(code=2)
    assert wrong["id"] in [one["entry"]["id"] for one in found["results"]]
