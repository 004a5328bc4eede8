"""`mnestic memory facts`: what is believed, what was believed, and how it changed."""

import re
from datetime import UTC, datetime
from typing import Any

import pytest

from mnestic.memory.knowledge.claims import Claim, ClaimSource, Span
from mnestic.memory.knowledge.resources import Resource
from mnestic.memory.ports import Memory
from mnestic.starter.client.mnestic_client import MnesticClient
from tests.starter.cli.conftest import Ask

ADA = ("--agent", "ada")
NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


@pytest.fixture
async def moved(ask: Ask) -> str:
    """Mara has moved; returns the moment at which only her first home was known."""
    facts = ("memory", "facts", "add", "Mara", "lives_in")
    await ask(*facts, "Utrecht", "--since", "2020-01-01", *ADA)
    between = datetime.now(UTC).isoformat()
    await ask(*facts, "Ghent", "--since", "2024-05-01T00:00+02:00", *ADA)
    return between


async def objects(ask: Ask, *words: str) -> list[str]:
    done = await ask("memory", "facts", "list", *words, *ADA, "--json")
    return [fact["object"] for fact in done.document["facts"]]


async def test_what_is_so_now_is_listed_with_what_is_to_come_marked_as_pending(ask: Ask) -> None:
    add = ("memory", "facts", "add", "Mara")
    await ask(*add, "lives_in", "Ghent", *ADA)
    await ask(*add, "lives_in", "Lyon", "--since", "2100-03-01", *ADA)
    await ask(*add, "employer", "Acme", "--until", "2100-01-01", *ADA)
    await ask(*add, "wants", "a dog", "--since", "2020-01-01", "--until", "2021-01-01", *ADA)

    listed = await ask("memory", "facts", "list", *ADA, "--json")
    shown = (await ask("memory", "facts", "list", *ADA)).out

    assert [(fact["object"], fact["pending"]) for fact in listed.document["facts"]] == [
        ("Acme", False),
        ("Ghent", False),
        ("Lyon", True),
    ]
    assert re.search(r"Ghent .*2100-03-01 .* ending ", shown), shown
    assert re.search(r"Lyon .*2100-03-01 .* pending ", shown), shown
    assert await objects(ask, "--as-of", "2100-02-01", "--predicate", "lives_in") == ["Ghent"]
    assert await objects(ask, "--all") == ["Acme", "Ghent", "Lyon", "a dog"]


@pytest.mark.usefixtures("moved")
async def test_the_history_of_a_topic_reads_without_gaps(ask: Ask) -> None:
    told = (await ask("memory", "facts", "history", "mara", "lives_in", *ADA, "--json")).document
    utrecht, ghent = told["facts"]
    by_id = await ask("memory", "facts", "history", ghent["id"], *ADA, "--json")
    shown = await ask("memory", "facts", "history", "Mara", "lives_in", *ADA)

    assert (told["subject"], told["cardinality"], told["category"]) == ("Mara", "single", "profile")
    assert (utrecht["status"], utrecht["end"]) == ("archived", "superseded")
    assert utrecht["reason"] == "superseded by Ghent"
    assert (utrecht["superseded_by"], ghent["supersedes"]) == (ghent["id"], utrecht["id"])
    assert utrecht["valid_to"] == ghent["valid_from"] == "2024-04-30T22:00:00Z"
    assert (ghent["status"], ghent["valid_to"], ghent["reason"]) == ("active", None, None)
    assert [said["object"] for said in ghent["said"]] == ["Ghent"]
    assert by_id.document == told
    assert "superseded" in shown.out


async def test_a_time_may_be_in_words(ask: Ask) -> None:
    add = ("memory", "facts", "add", "Mara", "lives_in")
    await ask(*add, "Utrecht", "--since", "1 March 2020", "--until", "three days ago", *ADA)
    await ask(*add, "Ghent", "--since", "yesterday", *ADA)

    assert await objects(ask, "--as-of", "March 2020") == ["Utrecht"]
    assert await objects(ask, "--as-of", "2 days ago") == []
    assert await objects(ask, "--as-of", " Now ") == ["Ghent"]


async def test_why_a_fact_is_believed_names_the_words_and_the_way_of_each_claim(
    ask: Ask, client: MnesticClient, memory: Memory
) -> None:
    said = "I moved. I live in \x1b[1m[b]Ghent[/b]."
    message = Resource(
        session_id="s", source_id="m1", channel="mail", speaker="Mara", content=said, at=NOON
    )
    await client.memory("ada").ingest([message])
    source = ClaimSource(
        extractor="rules/7",
        session_id="s",
        source_id="m1",
        span=Span(start=9, end=len(said)),
        job_id="j1",
        workflow_run="run-1",
    )
    claim = Claim(
        id="c", subject="Mara", predicate="lives_in", object="Ghent", said_at=NOON, source=source
    )
    asked = {"tenant_id": client.settings.tenant_id, "agent_id": "ada", "actor": "test"}
    async with memory.transaction(**asked, write=True) as transaction:
        (change,) = await transaction.facts.claim([claim])
    await ask("memory", "facts", "add", "Mara", "lives_in", "Ghent", *ADA)

    told = await ask("memory", "facts", "why", change.fact.id, *ADA)
    listed = await ask("memory", "facts", "why", change.fact.id, *ADA, "--json")

    lines = told.out.splitlines()
    start = lines.index("2026-03-01 12:00  affirmed by rules/7")
    assert lines[start + 1 : start + 5] == [
        f"  message s/m1, characters 9-{len(said)}",
        '  words "I live in \\u001b[1m[b]Ghent[/b]."',
        "  job j1",
        "  workflow run run-1",
    ]
    assert lines[-1].endswith("affirmed by person")
    assert [claim["words"] for claim in listed.document["claims"]] == [said[9:], None]


async def test_what_was_so_and_what_was_believed_at_a_time(ask: Ask, moved: str) -> None:
    assert await objects(ask, "--as-of", "2019-12-31") == []
    assert await objects(ask, "--as-of", "2022-06-01") == ["Utrecht"]
    assert await objects(ask, "--as-of", moved) == ["Ghent"]
    assert await objects(ask, "--believed-at", moved) == ["Utrecht"]
    assert await objects(ask, "--believed-at", moved, "--as-of", "2024-06-01") == ["Utrecht"]
    assert await objects(ask, "--believed-at", "2100-01-01", "--all") == ["Utrecht", "Ghent"]


async def test_a_person_corrects_what_is_believed(ask: Ask) -> None:
    async def changed(*words: str) -> dict[str, dict[str, Any]]:
        done = await ask("memory", "facts", *words, *ADA, "--json")
        return {change["after"]["object"]: change["after"] for change in done.document["changes"]}

    nothing = (await ask("memory", "facts", "history", "Mara", "lives_in", *ADA)).out
    await changed("add", "Mara", "lives_in", "Utrecht")
    moved = await changed("add", "Mara", "lives_in", "Ghent\r\n by  the river")
    (ghent,) = [fact for place, fact in moved.items() if place.startswith("Ghent")]
    listed = (await ask("memory", "facts", "list", *ADA)).out
    back = await changed("reactivate", moved["Utrecht"]["id"])
    deletions = [await ask("memory", "facts", "delete", ghent["id"], *ADA) for _ in range(2)]
    refused = await ask("memory", "facts", "reactivate", ghent["id"], *ADA)
    history = await ask("memory", "facts", "history", ghent["id"], *ADA)
    why = await ask("memory", "facts", "why", moved["Utrecht"]["id"], *ADA, "--json")

    assert "No facts." in nothing
    assert (moved["Utrecht"]["status"], ghent["status"]) == ("archived", "active")
    assert "Mara lives in Ghent by the river " in listed.replace("lives_in", "lives in")
    assert back["Utrecht"]["status"] == "active"
    assert "before" not in deletions[0].out
    assert (deletions[1].code, deletions[1].out.splitlines()[-1]) == (0, "It was deleted already.")
    assert "is deleted, not archived" in refused.error(code=2)
    assert "deleted for good" in history.out
    assert [claim["kind"] for claim in why.document["claims"]] == ["affirmed", "reactivated"]
