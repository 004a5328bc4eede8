"""`mnestic memory world`, and the signal of a pattern."""

from datetime import UTC, datetime, timedelta

import pytest

from mnestic.memory.knowledge.entries import Entry
from tests.starter.cli.conftest import Ask
from tests.transactions import Begin

ADA = ("--agent", "ada")
NOW = datetime.now(UTC)


@pytest.fixture
async def told(ask: Ask, begin: Begin) -> None:
    """Mara has moved, and has attended the choir on each of the last Mondays."""
    facts = ("memory", "facts", "add", "Mara")
    await ask(*facts, "lives_in", "Utrecht", "--since", "2020-01-01", *ADA)
    await ask(*facts, "lives_in", "Ghent", "--since", "2024-05-01", *ADA)
    for weeks in (3, 2, 1, 0):
        begins = NOW - timedelta(weeks=weeks, hours=5)
        until = (begins + timedelta(hours=2)).isoformat()
        attended = (*facts, "attended", "choir", "--since", begins.isoformat(), "--until", until)
        await ask(*attended, *ADA)
    async with begin() as transaction:
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
