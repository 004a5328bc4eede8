"""What a job stores while a topic is kept out: no record of it, and no clause of an episode."""

from datetime import UTC, datetime
from typing import Any

import pytest

from mnestic.activities.jobs.exclusions import allowed_episode, allowed_records
from mnestic.memory.jobs.episodes import Episode
from mnestic.memory.jobs.writes import RecordWrite
from tests.activities.learning_models import Begin

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


@pytest.fixture
async def kept_out(begin: Begin) -> None:
    """Keeps Otilia out."""
    async with begin() as transaction:
        await transaction.forgetting.begin("f1", "Otilia", entries=())
        await transaction.suppression_list.add("f1", "Otilia")


def record(key: str, value: Any) -> RecordWrite:
    return RecordWrite(namespace="people", key=key, value=value)


def episode(summary: str, **payload: Any) -> Episode:
    return Episode(id="e1", agent_id="ada", summary=summary, payload=payload, created_at=NOON)


@pytest.mark.usefixtures("kept_out")
async def test_records_about_it_are_not_written(begin: Begin) -> None:
    own = record("kim", {"likes": "tea"})
    about = [record("otilia", 30), record("bo", {"friends": ["Otilia"]})]

    async with begin() as transaction:
        left = await allowed_records(transaction, [about[0], own, about[1]])

    assert left == [own]


@pytest.mark.usefixtures("kept_out")
async def test_episodes_lose_the_clauses_about_it(begin: Begin) -> None:
    async with begin() as transaction:
        cut = await allowed_episode(transaction, episode("Otilia sang. Tea is hot.", why="test"))
        bare = await allowed_episode(transaction, episode("Tea is hot.", who="Otilia"))
        other = await allowed_episode(transaction, episode("Tea is hot.", who="Kim"))

    assert (cut.summary, cut.payload) == ("Tea is hot.", {"why": "test"})
    assert (bare.summary, bare.payload) == ("Tea is hot.", {})
    assert other == episode("Tea is hot.", who="Kim")
