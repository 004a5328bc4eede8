"""Recalling from memory, into working memory and the read set of a job."""

from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from temporalio.testing import ActivityEnvironment

from mnestic.activities.clients.local import LocalSummariser
from mnestic.activities.jobs.memories import (
    MemoryActivities,
    RecallInput,
    RecallResult,
    RememberInput,
    RememberResult,
)
from mnestic.memory.jobs.recalls import EpisodeSelection, RecallQuery, RecordSelection
from mnestic.memory.jobs.records import ReadRecord, RecordRef
from mnestic.memory.jobs.working_memory import WorkingMemory
from mnestic.memory.jobs.writes import EpisodeWrite, MemoryWrite, RecordWrite
from mnestic.memory.operations import Operation
from mnestic.memory.ports import Memory
from mnestic.memory.scope import Scope
from mnestic.stores.postgres.jobs.recalls import ScopeRetriever
from tests.activities.learning_models import Begin

Make = Callable[..., Operation]
Working = Callable[[], Awaitable[WorkingMemory]]
Remember = Callable[..., Awaitable[RememberResult]]
Recall = Callable[..., Awaitable[RecallResult]]


@pytest.fixture
def activities(memory: Memory) -> MemoryActivities:
    return MemoryActivities(memory, ScopeRetriever(), LocalSummariser())


@pytest.fixture
def remember(activities: MemoryActivities, scope: Scope, operation: Make) -> Remember:
    async def call(
        step: int, *, job_id: str | None = "j1", session_id: str = "s1", **write: Any
    ) -> RememberResult:
        asked = RememberInput(
            scope=scope.model_copy(update={"session_id": session_id}),
            operation=operation(step, job_id=job_id),
            write=MemoryWrite.model_validate(write),
        )
        return await ActivityEnvironment().run(activities.remember, asked)

    return call


@pytest.fixture
def recall(activities: MemoryActivities, scope: Scope, operation: Make) -> Recall:
    async def call(step: int, query: RecallQuery) -> RecallResult:
        asked = RecallInput(
            scope=scope, operation=operation(step, "recall"), query=query, save_as="found"
        )
        return await ActivityEnvironment().run(activities.recall, asked)

    return call


async def test_what_is_recalled_is_a_variable_and_in_the_read_set(
    remember: Remember,
    recall: Recall,
    begin: Begin,
    working: Working,
) -> None:
    await remember(
        1,
        records=[
            RecordWrite(namespace="p", key="a", value=1),
            RecordWrite(namespace="q", key="b", value=[2]),
        ],
        episode=EpisodeWrite(summary="Met."),
    )
    query = RecallQuery(
        records=(
            RecordSelection(namespace="p", keys=("a", "gone")),
            RecordSelection(namespace="q"),
        ),
        episodes=EpisodeSelection(of="job"),
    )

    result = await recall(2, query)

    found = (await working()).variables["found"]
    assert found["records"] == {"p": {"a": 1}, "q": {"b": [2]}}
    assert [episode["summary"] for episode in found["episodes"]] == ["Met."]
    assert [(ref.key, ref.version) for ref in result.records] == [("a", 1), ("b", 1)]
    assert result.missing == (RecordRef(namespace="p", key="gone", version=0),)
    async with begin() as transaction:
        reads = await transaction.records.list_reads("j1")
    assert [(read.key, read.version, read.value) for read in reads] == [
        ("a", 1, 1),
        ("gone", 0, None),
        ("", 100, None),  # the whole of q
        ("b", 1, [2]),
    ]


async def test_recalling_twice_gives_what_was_found_first(
    remember: Remember,
    recall: Recall,
    working: Working,
    counts: Callable[[], dict[str, int]],
) -> None:
    query = RecallQuery(records=(RecordSelection(namespace="p"),))
    await remember(1, records=[RecordWrite(namespace="p", key="a", value="old")])
    first = await recall(2, query)
    await remember(3, records=[RecordWrite(namespace="p", key="a", value="new")])
    before = counts()

    again = await recall(2, query)

    assert again == first
    assert counts() == before
    assert (await working()).variables["found"]["records"] == {"p": {"a": "old"}}


async def test_episodes_are_recalled_by_agent_session_or_job(
    remember: Remember, recall: Recall
) -> None:
    episode = EpisodeWrite(summary="s")
    await remember(1, episode=episode)
    await remember(2, episode=episode, job_id="j2")
    await remember(3, episode=episode, job_id=None, session_id="s2")

    scopes: list[Any] = ["agent", "session", "job"]
    results = [
        await recall(step, RecallQuery(episodes=EpisodeSelection(of=of)))
        for step, of in enumerate(scopes, start=4)
    ]

    assert [len(result.episode_ids) for result in results] == [3, 2, 1]


async def test_a_namespace_that_is_pinned_holds_what_the_job_saw_or_wrote(
    remember: Remember,
    recall: Recall,
    begin: Begin,
    working: Working,
) -> None:
    namespace = ReadRecord.of_namespace("p", limit=100).model_copy(update={"pinned": True})
    seen = ReadRecord(namespace="p", key="seen", version=1, value="then", pinned=True)
    async with begin() as transaction:
        await transaction.records.set("p", "seen", "now")
        await transaction.records.set("p", "new", 1)
        await transaction.records.add_reads("j1", [namespace, seen])
    await remember(1, records=[RecordWrite(namespace="p", key="own", value=2)])

    await recall(2, RecallQuery(records=(RecordSelection(namespace="p", limit=200),)))

    found = (await working()).variables["found"]
    async with begin() as transaction:
        reads = await transaction.records.list_reads("j1", pinned=True)
    assert found["records"] == {"p": {"own": 2, "seen": "then"}}
    assert reads == (namespace, seen)
