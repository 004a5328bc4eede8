"""Remembering, and recalling into working memory and the read set of a job."""

from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from temporalio.exceptions import ApplicationError
from temporalio.testing import ActivityEnvironment

from mnestic.activities.jobs.memories import (
    MemoryActivities,
    RecallInput,
    RecallResult,
    RememberInput,
    RememberResult,
)
from mnestic.memory.jobs.long_term.records import ReadRecord, RecordRef
from mnestic.memory.jobs.recalls import EpisodeSelection, RecallQuery, RecordSelection
from mnestic.memory.jobs.working_memory import ToolCall, WorkingMemory
from mnestic.memory.jobs.writes import EpisodeWrite, MemoryWrite, MessageWrite, RecordWrite
from mnestic.memory.models.messages import ChatMessage
from mnestic.memory.operations import Operation
from mnestic.memory.ports import Memory
from mnestic.memory.scope import Scope
from mnestic.stores.postgres.jobs.recalls import ScopeRetriever
from tests.activities.jobs.conftest import CountingSummariser
from tests.activities.learning_models import Begin

Make = Callable[..., Operation]
Working = Callable[[], Awaitable[WorkingMemory]]
Counts = Callable[[], dict[str, int]]
Remember = Callable[..., Awaitable[RememberResult]]


@pytest.fixture
def activities(memory: Memory, summariser: CountingSummariser) -> MemoryActivities:
    return MemoryActivities(memory, ScopeRetriever(), summariser)


@pytest.fixture
def remember(activities: MemoryActivities, scope: Scope, operation: Make) -> Remember:
    async def call(
        step: int,
        tool_call: ToolCall | None = None,
        *,
        job_id: str | None = "j1",
        session_id: str = "s1",
        **write: Any,
    ) -> RememberResult:
        asked = RememberInput(
            scope=scope.model_copy(update={"session_id": session_id}),
            operation=operation(step, job_id=job_id),
            write=MemoryWrite.model_validate(write),
            templates=True,
            tool_call=tool_call,
        )
        return await ActivityEnvironment().run(activities.remember, asked)

    return call


EVERYTHING: dict[str, Any] = {
    "records": [RecordWrite(namespace="p", key="name", value="Mara")],
    "episode": EpisodeWrite(payload={"why": "test"}),
    "message": MessageWrite(content="I am Mara.", speaker="Mara", channel="chat"),
    "variables": {"name": "Mara"},
    "note": "met Mara",
    "task": "greet",
}


async def test_each_memory_is_stored_once(
    remember: Remember,
    begin: Begin,
    working: Working,
    counts: Counts,
    calls: Callable[[], list[Any]],
) -> None:
    call = ToolCall(id="t1", activity="look_up", arguments={"q": 1}, result=[2])

    result = await remember(1, call, **EVERYTHING)

    state = await working()
    assert [(m.content, m.speaker, m.role) for m in state.messages] == [
        ("I am Mara.", "Mara", "user")
    ]
    assert (state.variables, state.scratchpad, state.current_task) == (
        {"name": "Mara"},
        "met Mara",
        "greet",
    )
    assert state.tool_calls == (call,)
    assert result.memory_version == state.version == 1
    assert result.records == (RecordRef(namespace="p", key="name", version=1),)
    async with begin() as transaction:
        (episode,), _ = await transaction.episodes.list_by_job("j1")
        reads = await transaction.records.list_reads("j1")
    assert (episode.id, episode.summary, episode.payload) == (
        result.episode_id,
        "summary 1",
        {"why": "test"},
    )
    assert reads == (ReadRecord(namespace="p", key="name", version=1, value="Mara"),)
    before = counts()
    assert await remember(1, call, **EVERYTHING) == result
    assert (counts(), await working()) == (before, state)
    assert calls() == [("j1/0/1/remember", "summarise", "test", 1, 1, None)]


async def test_values_that_python_compares_as_equal_stay_apart(
    remember: Remember, working: Working
) -> None:
    for step, value in enumerate((0, False, 1, True, 1.0, False), start=1):
        await remember(step, variables={"approved": value})

        kept = (await working()).variables["approved"]
        assert (type(kept), kept) == (type(value), value)


async def test_without_templates_text_stays_as_it_is(
    scope: Scope,
    activities: MemoryActivities,
    operation: Callable[..., Operation],
    working: Working,
) -> None:
    asked = RememberInput(
        scope=scope, operation=operation(1), write=MemoryWrite(note="${memory.variables.secret}")
    )

    await ActivityEnvironment().run(activities.remember, asked)

    assert (await working()).scratchpad == "${memory.variables.secret}"


async def test_templates_name_what_working_memory_holds(
    remember: Remember, begin: Begin, summariser: CountingSummariser
) -> None:
    listed = [{"namespace": "p", "key": "x", "value": {"n": 1}, "ttl": "1d"}]
    await remember(1, variables={"found": listed, "last": 1}, message=MessageWrite(content="one"))
    await remember(2, message=MessageWrite(content="two", speaker="Mara"), task="greet")

    result = await remember(
        3,
        records="${memory.variables.found}",
        episode=EpisodeWrite(last_messages="${memory.variables.last}"),
        note="${memory.task} after ${memory.message_count}",
    )

    async with begin() as transaction:
        record = await transaction.records.get("p", "x")
        state = await transaction.working.load("s1")
    assert record.value == {"n": 1}
    assert record.expires_at is not None
    assert state.scratchpad == "greet after 2"
    assert result.records == (record.ref,)
    assert summariser.asked == [(ChatMessage(role="user", content="Mara: two"),)]


GOOD = {"namespace": "p", "key": "a", "value": 1}


@pytest.mark.parametrize(
    ("write", "told"),
    [
        ({"records": "${memory.variables.nothing}"}, "'nothing'"),
        ({"records": "text"}, "records"),
        ({"records": [GOOD, GOOD | {"key": "b", "value": "a\0b"}]}, "NUL"),
        ({"records": [GOOD, GOOD | {"key": "b", "value": "${memory.task.x}"}]}, "task"),
        ({"episode": EpisodeWrite(last_messages="many")}, "'many', not a number"),
        ({"episode": EpisodeWrite(last_messages="²")}, "not a number"),
    ],
)
async def test_a_write_that_cannot_be_understood_is_refused_for_good(
    remember: Remember, counts: Counts, write: dict[str, Any], told: str
) -> None:
    with pytest.raises(ApplicationError, match=told) as caught:
        await remember(1, **EVERYTHING | write)

    assert (caught.value.type, caught.value.non_retryable) == ("InvalidInputError", True)
    assert counts() == {}


Recall = Callable[..., Awaitable[RecallResult]]


@pytest.fixture
def recall(activities: MemoryActivities, scope: Scope, operation: Make) -> Recall:
    async def call(step: int, query: RecallQuery) -> RecallResult:
        asked = RecallInput(
            scope=scope, operation=operation(step, "recall"), query=query, save_as="found"
        )
        return await ActivityEnvironment().run(activities.recall, asked)

    return call


async def test_what_is_recalled_is_a_variable_and_in_the_read_set(
    remember: Remember, recall: Recall, begin: Begin, working: Working
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
