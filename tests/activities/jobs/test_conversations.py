from collections.abc import Awaitable, Callable
from datetime import timedelta
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
from mnestic.memory.operations import Operation
from mnestic.memory.ports import Memory
from mnestic.memory.scope import Scope
from tests.activities.learning_models import NOON, Begin, said

Read = Callable[..., Awaitable[ReadSessionResult]]
Working = Callable[[], Awaitable[WorkingMemory]]


@pytest.fixture
def read(memory: Memory, scope: Scope, operation: Callable[..., Operation]) -> Read:
    activities = ConversationActivities(memory)

    async def call(conversation: str = "c1", **more: Any) -> ReadSessionResult:
        asked = ReadSessionInput(
            scope=scope, operation=operation(1, "tool"), conversation=conversation, **more
        )
        return await ActivityEnvironment().run(activities.read_session, asked)

    return call


async def receive(begin: Begin, count: int) -> None:
    messages = [
        said(n, f"text {n}", session_id="c1", speaker="Mara" if n % 2 else "Tom")
        for n in range(count)
    ]
    async with begin() as transaction:
        await transaction.resources.append(messages)


async def test_a_session_is_read_into_working_memory_once_and_in_its_order(
    read: Read, begin: Begin, working: Working, counts: Callable[[], dict[str, int]]
) -> None:
    await receive(begin, 5)

    result = await read(last=True)

    state = await working()
    assert result == ReadSessionResult(conversation="c1", turns=5, speakers=2, last=True)
    assert [(m.content, m.speaker) for m in state.messages] == [
        (f"text {number}", "Mara" if number % 2 else "Tom") for number in range(5)
    ]
    arrived = state.variables["arrived"]
    assert (arrived["turns"], arrived["from"]) == (5, NOON.isoformat())
    assert [record["key"] for record in arrived["records"]] == ["c1", "Mara", "Tom"]
    before = counts()
    assert await read(last=True) == result
    assert (await working(), counts()) == (state, before)


async def test_a_session_longer_than_a_page_is_read_whole(
    read: Read, begin: Begin, working: Working
) -> None:
    await receive(begin, 1001)

    result = await read()

    assert result.turns == len((await working()).messages) == 1001


async def test_what_is_known_of_a_person_grows_and_keeps_what_others_wrote(
    read: Read, begin: Begin, working: Working
) -> None:
    await receive(begin, 4)
    known = {"city": "Lisbon", "first_seen": "2020-01-01", "turns": 10, "sessions": 2}
    async with begin() as transaction:
        await transaction.records.set("people", "Mara", known)
        await transaction.records.set("people", "Tom", {"turns": "many", "sessions": None})

    await read()

    records = (await working()).variables["arrived"]["records"]
    values = {record["key"]: record["value"] for record in records}
    last_seen = (NOON + timedelta(minutes=3)).isoformat()
    assert values["Mara"] == known | {"turns": 12, "sessions": 3, "last_seen": last_seen}
    assert (values["Tom"]["turns"], values["Tom"]["sessions"]) == (2, 1)


async def test_a_session_that_never_came_is_named(
    read: Read, counts: Callable[[], dict[str, int]]
) -> None:
    with pytest.raises(ApplicationError, match="c9") as caught:
        await read("c9")

    assert (caught.value.type, caught.value.non_retryable) == ("NotFoundError", True)
    assert counts() == {}
