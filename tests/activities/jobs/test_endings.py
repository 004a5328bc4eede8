import asyncio
import dataclasses
from collections.abc import Awaitable, Callable, Sequence
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest
from temporalio.exceptions import ApplicationError
from temporalio.testing import ActivityEnvironment

from mnestic.activities.clients.local import LocalSummariser
from mnestic.activities.jobs.endings import EndingActivities, EndJobInput, EndJobResult
from mnestic.activities.jobs.waits import OpenWaitInput, WaitActivities
from mnestic.memory.jobs.records import ReadRecord
from mnestic.memory.jobs.waits import JobWait, ResumeReceipt, ResumptionContext
from mnestic.memory.models.errors import ModelRefusedError, ModelUnavailableError
from mnestic.memory.models.messages import ChatMessage, Summary, TokenUsage
from mnestic.memory.models.usage import ModelPrices
from mnestic.memory.operations import Operation
from mnestic.memory.ports import Memory
from mnestic.memory.scope import Scope
from mnestic.stores.postgres.jobs.recalls import ScopeRetriever
from tests.activities.locks import until_held_up

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
Begin = Callable[[], Any]
End = Callable[..., Awaitable[EndJobResult]]


class CountingSummariser:
    """A summariser that counts how often it was asked."""

    model = "test"

    def __init__(self) -> None:
        self.calls = 0

    async def summarise(self, turns: Sequence[ChatMessage], *, max_chars: int) -> Summary:
        self.calls += 1
        text = f"{len(turns)} turns."[:max_chars]
        return Summary(text=text, model="test", usage=TokenUsage(input_tokens=1, output_tokens=1))


class AbsentSummariser:
    """A summariser that never answers."""

    model = "test"

    async def summarise(self, turns: Sequence[ChatMessage], *, max_chars: int) -> Summary:
        raise ModelUnavailableError(model="test", why=f"{len(turns)} turns, {max_chars} chars")


class RefusingSummariser:
    """A summariser that answers something of no use, which is paid for."""

    model = "test"

    async def summarise(self, turns: Sequence[ChatMessage], *, max_chars: int) -> Summary:
        usage = TokenUsage(input_tokens=len(turns) + 5, output_tokens=max_chars)
        raise ModelRefusedError(model="test", why="its answer was cut off", usage=usage)


@pytest.fixture
def summariser() -> CountingSummariser:
    return CountingSummariser()


@pytest.fixture
def asked(scope: Scope, operation: Callable[..., Operation]) -> EndJobInput:
    return EndJobInput(
        scope=scope, operation=operation(9, "end"), plan="greeting", outcome="completed", waits=1
    )


@pytest.fixture
def end(memory: Memory, summariser: CountingSummariser, asked: EndJobInput) -> End:
    activities = EndingActivities(memory, summariser)

    async def call(**changed: Any) -> EndJobResult:
        request = asked.model_copy(update=changed)
        return await ActivityEnvironment().run(activities.end_job, request)

    return call


async def open_wait(begin: Begin, scope: Scope) -> None:
    async with begin() as transaction:
        await transaction.waits.open(make_wait(scope))


def make_wait(scope: Scope) -> JobWait:
    return JobWait(
        wait_id="j1/w1",
        job_id="j1",
        scope=scope,
        key="k",
        state="waiting",
        policy="rebase",
        snapshot_id="n1",
        context=ResumptionContext(cursor_node="w", plan_decision_id="p"),
        deadline=NOON + timedelta(days=1),
        opened_at=NOON,
    )


@pytest.mark.parametrize(
    ("changed", "summary"),
    [
        ({}, "Job j1 (greeting) completed. 0 turns."),
        (
            {"outcome": "failed", "cause": "node a failed: no"},
            "Job j1 (greeting) failed. Cause: node a failed: no 0 turns.",
        ),
        ({"outcome": "cancelled"}, "Job j1 (greeting) was cancelled. 0 turns."),
    ],
)
async def test_an_episode_tells_how_the_job_ended(
    end: End, begin: Begin, changed: dict[str, Any], summary: str
) -> None:
    result = await end(**changed)

    async with begin() as transaction:
        (episode,), _ = await transaction.episodes.list_by_job("j1")
    assert (episode.id, episode.summary) == (result.episode_id, summary)
    assert episode.payload == {
        "outcome": changed.get("outcome", "completed"),
        "plan": "greeting",
        "waits": 1,
    } | {name: changed[name] for name in ("cause",) if name in changed}


async def test_ending_twice_ends_once_and_asks_no_model_again(
    end: End, counts: Callable[[], dict[str, int]], summariser: CountingSummariser
) -> None:
    first = await end()
    before = counts()

    again = await end()

    assert again == first
    assert counts() == before
    assert before == {"working_memory": 1, "episode": 1, "operation": 1, "llm_usage": 1}
    assert summariser.calls == 1


async def test_the_open_wait_ends_and_the_read_set_is_forgotten(
    end: End, begin: Begin, scope: Scope
) -> None:
    await open_wait(begin, scope)
    async with begin() as transaction:
        read = ReadRecord(namespace="p", key="a", version=1, value=1)
        await transaction.records.add_reads("j1", [read])

    await end(outcome="cancelled")

    async with begin() as transaction:
        assert (await transaction.waits.get("j1/w1")).state == "cancelled"
        assert await transaction.records.list_reads("j1") == ()


async def test_an_attempt_to_open_a_wait_that_commits_after_the_end_opens_none(
    memory: Memory,
    end: End,
    scope: Scope,
    operation: Callable[..., Operation],
    counts: Callable[[], dict[str, int]],
) -> None:
    await end(outcome="cancelled")
    before = counts()
    asked = OpenWaitInput(
        scope=scope,
        operation=operation(3, "open_wait"),
        wait_id="j1/w1",
        key="k",
        policy="rebase",
        context=ResumptionContext(cursor_node="w", plan_decision_id="p"),
        opened_at=NOON,
        deadline=NOON + timedelta(days=1),
    )

    with pytest.raises(ApplicationError, match="job j1 is over and opens no wait") as caught:
        await ActivityEnvironment().run(WaitActivities(memory, ScopeRetriever()).open_wait, asked)

    assert (caught.value.type, caught.value.non_retryable) == ("JobEndedError", True)
    assert counts() == before


async def test_a_wait_that_is_being_opened_while_the_job_ends_is_cancelled(
    end: End, begin: Begin, scope: Scope, admin_url: str
) -> None:
    async with begin() as transaction:
        await transaction.working.checkpoint("s1", "n1")
        await transaction.waits.open(make_wait(scope))
        ending = asyncio.create_task(end(outcome="cancelled"))
        await until_held_up(admin_url)

    await ending

    async with begin() as transaction:
        assert (await transaction.waits.get("j1/w1")).state == "cancelled"


async def test_a_job_ends_though_a_restore_has_ended_its_wait_meanwhile(
    end: End, begin: Begin, scope: Scope
) -> None:
    await open_wait(begin, scope)
    receipt = ResumeReceipt(
        request_id="r1",
        job_id="j1",
        wait_id="j1/w1",
        outcome="resumed",
        snapshot_id="n1",
        snapshot_sha256="a" * 64,
        restored_at=NOON,
        drift_count=0,
    )
    async with begin() as transaction:
        await transaction.waits.close("j1/w1", "resumed", receipt=receipt)

    await end(outcome="cancelled")

    async with begin() as transaction:
        assert (await transaction.waits.get("j1/w1")).state == "resumed"
        assert len((await transaction.episodes.list_by_job("j1"))[0]) == 1


async def test_the_summary_of_an_ending_leaves_its_cost(
    memory: Memory,
    summariser: CountingSummariser,
    asked: EndJobInput,
    calls: Callable[[], list[tuple[Any, ...]]],
) -> None:
    prices = ModelPrices.model_validate({"test": {"input": 1, "output": 2}})
    activities = EndingActivities(memory, summariser, prices=prices)

    await ActivityEnvironment().run(activities.end_job, asked)

    assert calls() == [("j1/0/9/end", "summarise", "test", 1, 1, Decimal("0.000003"))]


@pytest.mark.parametrize(("attempt", "ends"), [(1, False), (4, False), (5, True), (9, True)])
async def test_a_job_ends_without_a_summary_when_the_model_stays_away(
    memory: Memory, asked: EndJobInput, begin: Begin, attempt: int, *, ends: bool
) -> None:
    environment = ActivityEnvironment()
    environment.info = dataclasses.replace(environment.info, attempt=attempt)
    activities = EndingActivities(memory, AbsentSummariser())

    try:
        await environment.run(activities.end_job, asked)
    except ApplicationError as error:
        assert not error.non_retryable  # noqa: PT017 - it is one of two right ways

    async with begin() as transaction:
        episodes, _ = await transaction.episodes.list_by_job("j1")
    told = [episode.summary for episode in episodes]
    assert told == (["Job j1 (greeting) completed."] if ends else [])


async def test_a_job_ends_without_a_summary_when_the_model_refuses_and_the_call_is_written_down(
    memory: Memory,
    asked: EndJobInput,
    begin: Begin,
    calls: Callable[[], list[tuple[Any, ...]]],
) -> None:
    activities = EndingActivities(memory, RefusingSummariser())

    await ActivityEnvironment().run(activities.end_job, asked)

    async with begin() as transaction:
        (episode,), _ = await transaction.episodes.list_by_job("j1")
    assert episode.summary == "Job j1 (greeting) completed."
    assert calls() == [("j1/0/9/end", "summarise", "test", 5, 1000, None)]


async def test_the_local_summariser_ends_a_job_without_a_key(
    memory: Memory, asked: EndJobInput
) -> None:
    activities = EndingActivities(memory, LocalSummariser())

    result = await ActivityEnvironment().run(activities.end_job, asked)

    assert result.episode_id
