"""Entries, in every implementation of `Memory`."""

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from datetime import timedelta
from typing import Any

import psycopg
import pytest
from psycopg.rows import TupleRow

from mnestic.memory.errors import InvalidInputError, NotFoundError
from mnestic.memory.knowledge.entries import Entry, EntryQuery, TimeMention
from mnestic.memory.knowledge.entry_features import EntryFeatures
from mnestic.memory.ports import Transaction
from mnestic.starter.settings import Settings
from tests.stores.entry_samples import NOON, entry

Begin = Callable[..., AbstractAsyncContextManager[Transaction]]
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


async def test_entries_are_listed_in_pages(begin: Begin) -> None:
    async with begin() as transaction:
        await transaction.entries.add(
            [entry(f"e{n}", at=NOON + timedelta(days=n % 3)) for n in range(11)]
        )

    found: list[Entry] = []
    cursor = None
    while cursor is not None or not found:
        async with begin(write=False) as transaction:
            page, cursor = await transaction.entries.list_entries(
                EntryQuery(), limit=4, cursor=cursor
            )
        found += page

    assert len({one.id for one in found}) == len(found) == 11
    assert found == sorted(found, key=lambda one: (one.at, one.id), reverse=True)


async def test_another_agent_and_another_tenant_see_nothing(begin: Begin) -> None:
    async with begin() as transaction:
        await transaction.entries.add([entry("e1", subjects=("Mara",))])

    for stranger in ({"agent": "eve"}, {"tenant": "other"}):
        async with begin(**stranger) as transaction:
            assert await transaction.entries.list_entries(EntryQuery(subject="Mara")) == ((), None)
            assert await transaction.entries.list_unembedded("m", limit=9) == ()
            assert await transaction.entries.remove(["e1"]) == 0
            with pytest.raises(NotFoundError, match="e1"):
                await transaction.entries.change([entry("e1", "other")])


async def test_an_entry_that_cannot_be_stored_is_named_and_none_is_added(
    begin: Begin, count: Callable[[str], int]
) -> None:
    with pytest.raises(InvalidInputError, match=r"entries\[1\]\.content"):
        async with begin() as transaction:
            await transaction.entries.add([entry("e1"), entry("e2", "a\0b")])

    assert count("entry") == 0
