"""A restored backup gives the same answers to fifty questions, and has the same checksum for each table."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

import pytest

from benchmarks.retrieval.queries import questions
from mnestic.memory.knowledge.resources import Resource
from mnestic.starter.client.memory_client import MemoryClient
from mnestic.starter.importers.conversations import bundled_conversation
from tests.starter.maintenance.conftest import NOON, Place, place, url

__all__ = ["place", "url"]  # fixtures
pytestmark = pytest.mark.nightly

QUESTIONS = 50


async def test_a_restored_backup_gives_the_same_answers_and_has_the_same_checksums(
    place: Place, new_database: Callable[[], AbstractContextManager[str]]
) -> None:
    ada = place.memory_of()
    messages = [*make_resources()]
    await ada.ingest(messages)
    for number, message in enumerate(messages[::20]):
        await ada.facts.add(message.speaker, "likes", f"{message.content.split()[-1]} {number}")
    asked = questions(
        [(message.speaker, message.content) for message in messages], number=QUESTIONS, seed=3
    )

    backup = await place.backups().create()
    before = await answers(ada, asked)
    with new_database() as other_url:
        there = place.at(other_url)
        await there.backups().restore(backup.manifest.id)
        again = await there.backups().create()
        after = await answers(there.memory_of(), asked)

    assert len(before) == QUESTIONS
    assert sum(map(bool, before.values())) > QUESTIONS / 2  # most have answers
    assert after == before
    assert checksums(again) == checksums(backup)
    assert backup.manifest.rows > len(messages)


def make_resources() -> list[Resource]:
    """The bundled conversation."""
    return [
        Resource(
            session_id=session.id,
            source_id=turn.source_id,
            channel="chat",
            speaker=turn.speaker,
            content=turn.text,
            at=turn.at,
        )
        for session in bundled_conversation().sessions
        for turn in session.turns
    ]


async def answers(memory: MemoryClient, asked: list[str]) -> dict[str, list[Any]]:
    """The results of each question, with their scores."""
    found = {}
    for question in asked:
        results = await memory.retrieve(question, asked_at=NOON, is_access=False)
        found[question] = [(each.entry, each.score) for each in results.results]
    return found


def checksums(backup: Any) -> dict[str, tuple[int, str]]:
    """Rows and checksum of each table."""
    return {table.name: (table.rows, table.sha256) for table in backup.manifest.tables}
