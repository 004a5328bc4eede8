"""Signals, in every implementation of `Memory`: written with the change, and seen in their order."""

import asyncio
from datetime import UTC, datetime
from typing import Any

import pytest

from mnestic.memory.errors import EventsTrimmedError, InvalidInputError
from mnestic.memory.knowledge.claims import Claim
from mnestic.memory.knowledge.events import StoredEvent
from tests.stores.conftest import NOON, Begin
from tests.stores.entry_samples import claim, entry

LATER = datetime(2100, 1, 1, tzinfo=UTC)


async def say(begin: Begin, *claims: Claim, **scope: Any) -> None:
    async with begin(**scope) as transaction:
        await transaction.facts.claim(claims)


async def signals(begin: Begin, **asked: Any) -> tuple[StoredEvent, ...]:
    async with begin(write=False) as transaction:
        return await transaction.events.list_events(**asked)


async def test_a_contradiction_is_told_with_what_came_of_it(begin: Begin) -> None:
    await say(begin, claim(1, "Utrecht"))
    await say(begin, claim(5, "Ghent"))

    async with begin(write=False) as transaction:
        facts, _ = await transaction.facts.list_facts(statuses=("active", "archived"))
    utrecht, ghent = facts
    first, *rest = await signals(begin)
    assert (first.number, first.kind, first.ids) == (1, "memory.stored", (utrecht.id,))
    assert (first.subject, first.predicate) == ("Mara", "lives_in")
    assert {(told.kind, told.ids) for told in rest} == {
        ("memory.conflict", (utrecht.id,)),
        ("memory.superseded", (utrecht.id,)),
        ("memory.stored", (ghent.id,)),
    }
    assert [told.number for told in rest] == [2, 3, 4]
    assert {told.details.get("superseded_by") for told in rest} == {ghent.id, None}


async def test_an_older_message_that_comes_late_is_a_conflict_which_supersedes_nothing(
    begin: Begin,
) -> None:
    await say(begin, claim(5, "Ghent"))

    await say(begin, claim(1, "Utrecht"))

    kinds = [told.kind for told in await signals(begin, after=1)]
    assert sorted(kinds) == ["memory.changed", "memory.conflict", "memory.stored"]


async def test_saying_it_again_ending_and_deleting_it_are_told_and_what_changes_nothing_is_not(
    begin: Begin,
) -> None:
    for _ in range(2):
        await say(begin, claim(1, "Ghent"))
    for number, kind in enumerate(("affirmed", "ended", "reactivated", "deleted"), start=2):
        await say(begin, claim(number, "Ghent", kind=kind))

    assert [told.kind for told in await signals(begin)] == [
        "memory.stored",
        "memory.merged",
        "memory.ended",
        "memory.reactivated",
        "memory.deleted",
    ]


async def test_entries_of_one_transaction_share_a_signal(begin: Begin) -> None:
    async with begin() as transaction:
        await transaction.entries.add([entry("b"), entry("a")])
        await transaction.entries.add([entry("a")])
    async with begin() as transaction:
        await transaction.entries.change([entry("a", summary="short")])
        await transaction.entries.remove(["b"])

    assert [(told.kind, told.target, told.ids) for told in await signals(begin)] == [
        ("memory.stored", "entry", ("a", "b")),
        ("memory.changed", "entry", ("a",)),
        ("memory.deleted", "entry", ("b",)),
    ]


async def test_a_subscriber_misses_no_signal_of_a_transaction_that_commits_late(
    begin: Begin,
) -> None:
    async with begin() as slow:
        await slow.facts.claim([claim(1, "Ghent")])
        await say(begin, claim(1, "tea", predicate="likes"))
        seen = await signals(begin)

    later = await signals(begin, after=seen[-1].number)

    assert [(told.number, told.predicate) for told in seen] == [(1, "likes")]
    assert [(told.number, told.predicate) for told in later] == [(2, "lives_in")]


async def test_a_number_is_seen_only_when_those_before_it_are(begin: Begin) -> None:
    async with begin() as slow:
        await slow.facts.claim([claim(1, "Ghent")])
        await slow.revision()  # the last lock: the other one has to wait
        other = asyncio.create_task(say(begin, claim(1, "tea", predicate="likes")))
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(asyncio.shield(other), 0.5)
        seen = await signals(begin)
    await other

    assert seen == ()
    told = await signals(begin)
    assert [(one.number, one.predicate) for one in told] == [(1, "lives_in"), (2, "likes")]


async def test_writers_at_once_leave_numbers_without_a_gap_to_a_reader_that_follows(
    begin: Begin,
) -> None:
    async def write(writer: int) -> None:
        for number in range(10):
            await say(begin, claim(number, f"{writer}/{number}", predicate=f"w{writer}_to"))

    async def follow() -> list[int]:
        seen: list[int] = []
        while len(seen) < 40:
            seen += [told.number for told in await signals(begin, after=seen[-1] if seen else 0)]
        return seen

    async with asyncio.timeout(60):
        seen, *_ = await asyncio.gather(follow(), *(write(writer) for writer in range(4)))

    assert seen == list(range(1, 41))


async def test_signals_are_read_by_kind_and_in_pages(begin: Begin) -> None:
    for number in range(5):
        await say(begin, claim(number, f"city {number}"))

    stored = await signals(begin, kinds=["memory.stored"], limit=2)
    more = await signals(begin, kinds=["memory.stored"], after=stored[-1].number)

    assert [told.kind for told in stored + more] == ["memory.stored"] * 5
    assert len({told.number for told in stored + more}) == 5


async def test_who_comes_after_the_trimming_is_told_so(begin: Begin) -> None:
    for number in range(6):
        await say(begin, claim(number, "tea", predicate=f"p{number}"))
    async with begin() as transaction:
        assert await transaction.events.trim(NOON) == 0
        assert await transaction.events.trim(LATER, limit=4) == 4

    with pytest.raises(EventsTrimmedError, match=r"events 3 to 4 are trimmed.*go on after 4"):
        await signals(begin, after=2)
    assert [told.number for told in await signals(begin)] == [5, 6]
    assert [told.number for told in await signals(begin, after=4)] == [5, 6]


async def test_numbers_go_on_after_everything_is_trimmed(begin: Begin) -> None:
    await say(begin, claim(1, "Ghent"))
    for after in (-1, 2):
        with pytest.raises(InvalidInputError, match="the last event is 1"):
            await signals(begin, after=after)
    async with begin() as transaction:
        assert await transaction.events.last_number() == 1
        assert await transaction.events.trim(LATER) == 1
        assert await transaction.events.last_number() == 1

    await say(begin, claim(1, "tea", predicate="likes"))

    assert [told.number for told in await signals(begin, after=1)] == [2]
    with pytest.raises(EventsTrimmedError):
        await signals(begin, after=0)
