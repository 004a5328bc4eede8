from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from temporalio.exceptions import ApplicationError
from temporalio.testing import ActivityEnvironment

from mnestic.activities.jobs.conversations import (
    ConversationActivities,
    ReadSessionInput,
    ReadSessionResult,
)
from mnestic.memory.jobs.working_memory import WorkingMemory
from mnestic.memory.knowledge.resources import Resource
from mnestic.memory.operations import Operation
from mnestic.memory.ports import Memory
from mnestic.memory.scope import Scope

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
Begin = Callable[[], Any]
Read = Callable[..., Awaitable[ReadSessionResult]]


@pytest.fixture
def read(memory: Memory, scope: Scope, operation: Callable[..., Operation]) -> Read:
    activities = ConversationActivities(memory)

    async def call(step: int, conversation: str = "c1", **more: Any) -> ReadSessionResult:
        asked = ReadSessionInput(
            scope=scope, operation=operation(step, "tool"), conversation=conversation, **more
        )
        return await ActivityEnvironment().run(activities.read_session, asked)

    return call


async def receive(begin: Begin, count: int, conversation: str = "c1") -> None:
    messages = [
        Resource(
            session_id=conversation,
            source_id=f"{conversation}:{number}",
            channel="chat",
            speaker="Mara" if number % 2 else "Tom",
            content=f"text {number}",
            at=NOON + timedelta(minutes=number),
        )
        for number in range(count)
    ]
    async with begin() as transaction:
        await transaction.resources.append(messages)


async def test_a_session_is_read_into_working_memory_in_its_order(
    read: Read, begin: Begin, working: Callable[[], Awaitable[WorkingMemory]]
) -> None:
    await receive(begin, 5)

    result = await read(1, last=True)

    state = await working()
    assert result == ReadSessionResult(conversation="c1", turns=5, speakers=2, last=True)
    assert [(m.content, m.speaker) for m in state.messages] == [
        (f"text {number}", "Mara" if number % 2 else "Tom") for number in range(5)
    ]
    arrived = state.variables["arrived"]
    assert (arrived["turns"], arrived["from"]) == (5, NOON.isoformat())
    assert [record["key"] for record in arrived["records"]] == ["c1", "Mara", "Tom"]


async def test_reading_a_session_twice_reads_it_once(
    read: Read,
    begin: Begin,
    working: Callable[[], Awaitable[WorkingMemory]],
    counts: Callable[[], dict[str, int]],
) -> None:
    await receive(begin, 3)
    first = await read(1)
    before = (await working(), counts())

    again = await read(1)

    assert again == first
    assert (await working(), counts()) == before


async def test_a_session_longer_than_a_page_is_read_whole(
    read: Read, begin: Begin, working: Callable[[], Awaitable[WorkingMemory]]
) -> None:
    await receive(begin, 1001)

    result = await read(1)

    assert result.turns == len((await working()).messages) == 1001


async def test_what_is_known_of_a_person_grows_and_keeps_what_others_wrote(
    read: Read, begin: Begin, working: Callable[[], Awaitable[WorkingMemory]]
) -> None:
    await receive(begin, 4)
    async with begin() as transaction:
        known = {"city": "Lisbon", "first_seen": "2020-01-01", "turns": 10, "sessions": 2}
        await transaction.records.set("people", "Mara", known)

    await read(1)

    records = (await working()).variables["arrived"]["records"]
    (value,) = [record["value"] for record in records if record["key"] == "Mara"]
    assert value == {
        "city": "Lisbon",
        "first_seen": "2020-01-01",
        "turns": 12,
        "sessions": 3,
        "last_seen": (NOON + timedelta(minutes=3)).isoformat(),
    }


@pytest.mark.parametrize("value", ["text", [1], {"turns": "many", "sessions": None}])
async def test_a_record_of_another_shape_does_not_stop_the_reading(
    read: Read, begin: Begin, value: Any
) -> None:
    await receive(begin, 2)
    async with begin() as transaction:
        await transaction.records.set("people", "Mara", value)

    result = await read(1)

    assert result.turns == 2


async def test_a_session_that_never_came_is_named(
    read: Read, counts: Callable[[], dict[str, int]]
) -> None:
    with pytest.raises(ApplicationError, match="c9") as caught:
        await read(1, conversation="c9")

    assert (caught.value.type, caught.value.non_retryable) == ("NotFoundError", True)
    assert counts() == {}
