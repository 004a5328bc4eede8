"""`mnestic memory world`, and the signal of a pattern."""

from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from mnestic.memory.knowledge.entries import Entry
from mnestic.memory.ports import Memory
from mnestic.starter.client.mnestic_client import MnesticClient

Ask = Callable[..., Awaitable[Any]]
ADA = ("--agent", "ada")
NOW = datetime.now(UTC)


@pytest.fixture
async def told(ask: Ask, client: MnesticClient, memory: Memory) -> None:
    """Mara has moved, and has attended the choir on each of the last Mondays."""
    facts = ("memory", "facts", "add", "Mara")
    await ask(*facts, "lives_in", "Utrecht", "--since", "2020-01-01", *ADA)
    await ask(*facts, "lives_in", "Ghent", "--since", "2024-05-01", *ADA)
    for weeks in (3, 2, 1, 0):
        begins = NOW - timedelta(weeks=weeks, hours=5)
        until = (begins + timedelta(hours=2)).isoformat()
        attended = (*facts, "attended", "choir", "--since", begins.isoformat(), "--until", until)
        await ask(*attended, *ADA)
    async with memory.transaction(
        tenant_id=client.settings.tenant_id, agent_id="ada", actor="test", write=True
    ) as transaction:
        await transaction.entries.add(
            [
                Entry(
                    id="e1",
                    entry_type="pattern",
                    content="Mara answers at night.",
                    summary="Mara answers at night.",
                    subjects=("Mara",),
                    at=NOW,
                )
            ]
        )


@pytest.mark.usefixtures("told")
async def test_what_is_known_of_a_subject_is_told_with_what_to_expect(ask: Ask) -> None:
    world = (await ask("memory", "world", "mara", *ADA, "--json")).document
    shown = await ask("memory", "world", "Mara", *ADA)

    assert world["subject"] == "Mara"
    assert [fact["object"] for fact in world["facts"]] == ["Ghent"]
    (moves,) = [one for one in world["changes"] if one["predicate"] == "lives_in"]
    assert [fact["reason"] for fact in moves["facts"]] == ["superseded by Ghent", None]
    (pattern,) = world["patterns"]
    assert (pattern["object"], pattern["interval_days"], pattern["regular"]) == ("choir", 7, 3)
    assert len(pattern["support"]) == 4
    (prediction,) = world["predictions"]
    assert prediction["confidence"] == 0.75
    assert prediction["support"] == pattern["support"]
    expected = datetime.fromisoformat(prediction["expected_at"])
    assert abs(expected - (NOW - timedelta(hours=5) + timedelta(weeks=1))) < timedelta(minutes=1)
    assert [entry["id"] for entry in world["entries"]] == ["e1"]
    for words in ("Current facts:", "Changes:", "7 days", "3 of 3 times", "0.75", "at night"):
        assert words in shown.out


@pytest.mark.usefixtures("told")
async def test_a_pattern_is_told_once_when_it_has_its_support(ask: Ask) -> None:
    asked = ("memory", "events", "--kind", "memory.pattern", *ADA, "--json")

    (event,) = (await ask(*asked)).document["events"]

    assert (event["subject"], event["predicate"]) == ("Mara", "attended")
    assert event["details"]["interval_days"] == 7
    assert len(event["details"]["support"]) == 3


async def test_nothing_is_known_of_a_stranger(ask: Ask) -> None:
    shown = await ask("memory", "world", "Nobody", *ADA)
    world = (await ask("memory", "world", "Nobody", *ADA, "--json")).document

    assert "Nothing is known about Nobody." in shown.out
    assert (world["facts"], world["predictions"]) == ([], [])


async def test_a_person_is_found_by_the_name_they_prefer(ask: Ask, client: MnesticClient) -> None:
    memory = client.memory("ada")
    await memory.facts.add("Katherine Jones", "preferred_name", "Kit")
    await memory.facts.add("Katherine Jones", "lives_in", "Ghent")
    await memory.facts.add("Samuel", "nickname", "Sam")
    await memory.facts.add("Samantha", "nickname", "Sam")

    world = (await ask("memory", "world", "Kit", *ADA, "--json")).document
    listed = (await ask("memory", "facts", "list", "--subject", "kit", *ADA, "--json")).document
    history = (await ask("memory", "facts", "history", "kit", "lives_in", *ADA)).out
    unclear = await ask("memory", "world", "Sam", *ADA)

    assert (world["subject"], len(world["facts"])) == ("Katherine Jones", 2)
    assert {fact["object"] for fact in listed["facts"]} == {"Kit", "Ghent"}
    assert history.startswith("Katherine Jones lives_in")
    assert "Samantha, Samuel; say which" in unclear.error(code=2)
