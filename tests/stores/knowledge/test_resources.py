"""Raw messages, in every implementation of `Memory`."""

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from datetime import UTC, datetime, timedelta
from typing import Any

import psycopg
import pytest
from psycopg.rows import TupleRow

from mnestic.memory.errors import InvalidInputError
from mnestic.memory.knowledge.resources import Resource
from mnestic.memory.ports import Transaction

Begin = Callable[..., AbstractAsyncContextManager[Transaction]]
NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


def message(number: int, **fields: Any) -> Resource:
    values = {
        "session_id": "s1",
        "source_id": f"m{number}",
        "channel": "chat",
        "speaker": "Mara",
        "content": f"text {number}",
        "at": NOON + timedelta(seconds=number),
    }
    return Resource.model_validate(values | fields)


async def test_messages_come_back_in_the_order_of_their_time(begin: Begin) -> None:
    spoken = [message(3), message(1, content="Grüße 🙂\n"), message(2, at=NOON)]

    async with begin() as transaction:
        added = await transaction.resources.append(spoken)

    async with begin(write=False) as transaction:
        found, cursor = await transaction.resources.list_by_session("s1")
    assert (added, cursor) == (3, None)
    assert found == (spoken[2], spoken[1], spoken[0])


async def test_a_message_that_came_before_is_not_kept_again(begin: Begin) -> None:
    async with begin() as transaction:
        first = await transaction.resources.append([message(1), message(2), message(1)])
    async with begin() as transaction:
        again = await transaction.resources.append([message(2, content="changed"), message(3)])
        other = await transaction.resources.append([message(1, session_id="s2")])

    async with begin(write=False) as transaction:
        found, _ = await transaction.resources.list_by_session("s1")
    assert (first, again, other) == (2, 1, 1)
    assert found == (message(1), message(2), message(3))


async def test_appending_nothing_does_nothing(
    begin: Begin, trail: Callable[[], list[tuple[str, str]]]
) -> None:
    async with begin() as transaction:
        added = await transaction.resources.append([])

    assert (added, trail()) == (0, [])


async def test_a_message_is_never_changed_not_even_by_the_owner(
    begin: Begin, owner: psycopg.Connection[TupleRow]
) -> None:
    async with begin() as transaction:
        await transaction.resources.append([message(1)])

    with pytest.raises(psycopg.errors.RaiseException, match="immutable"):
        owner.execute("UPDATE mnestic.resource SET content = 'x'")


@pytest.mark.parametrize("limit", [1, 2, 5])
async def test_pages_hold_every_message_once_and_in_order(begin: Begin, limit: int) -> None:
    async with begin() as transaction:
        await transaction.resources.append([message(n, at=NOON) for n in (2, 1, 3)])
        await transaction.resources.append([message(4), message(5)])

    found, cursor, pages = [], None, 0
    while pages == 0 or cursor is not None:
        async with begin(write=False) as transaction:
            page, cursor = await transaction.resources.list_by_session(
                "s1", limit=limit, cursor=cursor
            )
        found.extend(page)
        pages += 1

    assert [one.source_id for one in found] == ["m1", "m2", "m3", "m4", "m5"]
    assert pages == -(-5 // limit)


async def test_a_cursor_from_elsewhere_is_refused(begin: Begin, bad_time_cursor: str) -> None:
    with pytest.raises(InvalidInputError, match="cursor"):
        async with begin(write=False) as transaction:
            await transaction.resources.list_by_session("s1", cursor=bad_time_cursor)


@pytest.mark.parametrize("field", ["content", "speaker", "source_id", "session_id"])
async def test_text_that_cannot_be_stored_is_refused_with_all_that_came_with_it(
    begin: Begin, field: str
) -> None:
    with pytest.raises(InvalidInputError, match="NUL"):
        async with begin() as transaction:
            await transaction.resources.append([message(1), message(2, **{field: "a\0b"})])

    async with begin(write=False) as transaction:
        assert await transaction.resources.list_by_session("s1") == ((), None)


async def test_another_agent_and_another_tenant_see_nothing(begin: Begin) -> None:
    async with begin() as transaction:
        await transaction.resources.append([message(1)])

    for stranger in (begin(agent="eve", write=False), begin(tenant="other", write=False)):
        async with stranger as transaction:
            assert await transaction.resources.list_by_session("s1") == ((), None)
