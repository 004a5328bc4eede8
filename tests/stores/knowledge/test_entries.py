"""Entries, in every implementation of `Memory`."""

from datetime import timedelta
from typing import Any

import psycopg
from psycopg.rows import TupleRow

from mnestic.memory.knowledge.entries import EntryQuery, TimeMention
from mnestic.memory.knowledge.entry_features import EntryFeatures
from mnestic.starter.settings import Settings
from tests.stores.conftest import Begin
from tests.stores.entry_samples import NOON, entry

TODAY = TimeMention(words="today", start=NOON, end=NOON + timedelta(days=1))


async def listed(begin: Begin, **asked: Any) -> list[str]:
    async with begin(write=False) as transaction:
        found, _ = await transaction.entries.list_entries(EntryQuery(**asked))
    return [one.id for one in found]


async def test_an_entry_comes_back_as_it_was_added(begin: Begin) -> None:
    given = entry(
        "e1",
        summary="A map",
        session_id="s1",
        source_id="m1",
        channel="chat",
        speaker="Mara",
        subjects=("Mara", "Jonas"),
        keywords=("map",),
        tags=("work",),
        aliases=("chart",),
        times=(TimeMention(words="on Monday", start=NOON, end=NOON + timedelta(days=1)),),
        related=("e0",),
        parent="e0",
        importance=0.5,
        critical=True,
        expires_at=NOON + timedelta(days=9),
    )
    async with begin() as transaction:
        added = await transaction.entries.add([given])

    async with begin(write=False) as transaction:
        found = await transaction.entries.get("e1")
    assert added == (found,)
    assert found.created_at is not None
    assert found == given.model_copy(
        update={"created_at": found.created_at, "updated_at": found.created_at}
    )


async def test_marks_follow_what_an_entry_says(
    begin: Begin, owner: psycopg.Connection[TupleRow], settings: Settings
) -> None:
    def stored() -> list[TupleRow]:
        found = "SELECT id, features FROM mnestic.entry WHERE tenant_id = %s ORDER BY id"
        return owner.execute(found, [settings.tenant_id]).fetchall()

    async with begin() as transaction:
        await transaction.entries.add([entry("a", "Is it open?"), entry("b", "It is open.")])
    before = stored()
    async with begin() as transaction:
        await transaction.entries.change(
            [entry("a", "It is closed."), entry("b", "It is open.", times=(TODAY,))]
        )

    assert before == [("a", EntryFeatures.ASKS), ("b", 0)]
    assert stored() == [("a", 0), ("b", EntryFeatures.NAMES_TIME)]


async def test_entries_are_asked_for_by_what_they_are(begin: Begin) -> None:
    async with begin() as transaction:
        await transaction.entries.add(
            [
                entry("a", session_id="s1", subjects=("Mara",), at=NOON),
                entry("b", session_id="s1", entry_type="insight", at=NOON + timedelta(days=1)),
                entry("c", session_id="s2", channel="chat", at=NOON + timedelta(days=2)),
                entry("d", status="archived", at=NOON + timedelta(days=3)),
            ]
        )

    assert await listed(begin) == ["c", "b", "a"]
    assert await listed(begin, session_id="s1") == ["b", "a"]
    assert await listed(begin, entry_types=("insight", "error")) == ["b"]
    assert await listed(begin, subject=" MARA") == ["a"]
    assert await listed(begin, channel="chat") == ["c"]
    assert await listed(begin, since=NOON + timedelta(days=1), until=NOON + timedelta(days=2)) == [
        "b"
    ]
    assert await listed(begin, statuses=("archived",)) == ["d"]
