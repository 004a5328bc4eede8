"""`mnestic memory add`, `show`, `list`, `change`, `remove` and `stats`."""

import io
from typing import Any

import pytest

from mnestic.starter.client.mnestic_client import MnesticClient
from tests.starter.cli.conftest import Ask

ADA = ("--agent", "ada")


async def added(ask: Ask, text: str, *words: str) -> dict[str, Any]:
    done = await ask("memory", "add", text, *ADA, *words, "--json")
    document: dict[str, Any] = done.document
    return document


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


@pytest.mark.usefixtures("worker")
async def test_an_entry_is_added_shown_changed_counted_and_removed_with_its_facts(
    ask: Ask, client: MnesticClient
) -> None:
    empty = (await ask("memory", "stats", *ADA, "--json")).document
    said = ("--subject", "Mara", "--type", "insight", "--at", "2026-01-05")
    one = await added(ask, "Mara lives in Ghent.", *said, "--critical", "--tag", "home")
    again = await added(ask, "Mara lives in Ghent.", "--subject", " mara ", "--type", "insight")
    two = await added(ask, "Jonas lives in Utrecht.", "--at", "2026-01-06", "--wait")
    await ask("memory", "search", "Where does Mara live?", *ADA)
    shown = (await ask("memory", "show", one["id"], *ADA, "--json")).document
    told = (await ask("memory", "show", one["id"], *ADA)).out
    full = (await ask("memory", "stats", *ADA, "--json")).document
    table = (await ask("memory", "stats", *ADA)).out
    kept = (await ask("memory", "delete", one["id"], *ADA, "--json")).document
    gone = (await ask("memory", "delete", two["id"], *ADA, "--facts", "--json")).document
    facts, _ = await client.memory("ada").facts.list()

    assert again["id"] == one["id"] == shown["id"]
    assert (shown["entry_type"], shown["subjects"], shown["critical"]) == (
        "insight",
        ["Mara"],
        True,
    )
    assert (shown["message"]["state"], len(shown["facts"])) == ("learned", 1)
    assert (shown["access_count"], shown["last_accessed"] is not None) == (1, True)
    assert "Mara lives_in Ghent (active)" in told
    assert "access_count" in told
    assert (empty["entries"]["total"], empty["entries"]["by_importance"]) == (0, [0] * 10)
    entries = full["entries"]
    assert (entries["total"], entries["by_type"]) == (2, {"insight": 1, "knowledge": 1})
    assert (sum(entries["by_importance"]), entries["critical"]) == (2, 1)
    assert entries["oldest"] == "2026-01-05T00:00:00Z"
    assert (full["facts"], full["ingest_states"]["learned"]) == ({"active": 2}, 2)
    assert full["last_learned_at"] > entries["oldest"]
    assert "status active" in table
    assert kept == {"deleted": one["id"], "changes": []}
    assert [change["after"]["status"] for change in gone["changes"]] == ["deleted"]
    assert [fact.subject for fact in facts] == ["Mara"]


async def test_entries_are_archived_by_filters(ask: Ask) -> None:
    await added(ask, "Tea at nine.", "--at", "2026-01-05")
    await added(ask, "Tea at ten.")
    await added(ask, "Tea at two.", "--tag", "trip")

    archived = (await ask("memory", "archive", "--until", "2026-02-01", *ADA, "--json")).document
    tagged = (await ask("memory", "archive", "--tag", "trip", *ADA, "--json")).document
    neither = await ask("memory", "archive", *ADA)
    entries = (await ask("memory", "list", *ADA, "--json")).document["entries"]

    assert archived == tagged == {"archived": 1}
    assert "are chosen by an id, or by filters" in neither.error(code=2)
    assert [entry["content"] for entry in entries] == ["Tea at ten."]
