import asyncio
import dataclasses
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest
from temporalio.exceptions import ApplicationError
from temporalio.testing import ActivityEnvironment

from mnestic.activities.jobs.endings import EndingActivities, EndJobInput, EndJobResult
from mnestic.memory.jobs.waits import JobWait, ResumptionContext
from mnestic.memory.models.errors import ModelRefusedError, ModelUnavailableError
from mnestic.memory.models.messages import TokenUsage
from mnestic.memory.models.usage import ModelPrices
from mnestic.memory.operations import Operation
from mnestic.memory.ports import Memory
from mnestic.memory.scope import Scope
from tests.activities.jobs.conftest import CountingSummariser
from tests.activities.learning_models import Begin
from tests.activities.locks import until_held_up

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
End = Callable[..., Awaitable[EndJobResult]]


@pytest.fixture
def end(
    memory: Memory,
    summariser: CountingSummariser,
    scope: Scope,
    operation: Callable[..., Operation],
) -> End:
    prices = ModelPrices.model_validate({"test": {"input": 1, "output": 2}})
    activities = EndingActivities(memory, summariser, prices=prices)
    asked = EndJobInput(
        scope=scope, operation=operation(9, "end"), plan="greeting", outcome="completed", waits=1
    )

    async def call(*, attempt: int = 1, **changed: Any) -> EndJobResult:
        environment = ActivityEnvironment()
        environment.info = dataclasses.replace(environment.info, attempt=attempt)
        return await environment.run(activities.end_job, asked.model_copy(update=changed))

    return call


async def summaries(begin: Begin) -> list[str]:
    async with begin() as transaction:
        episodes, _ = await transaction.episodes.list_by_job("j1")
    return [episode.summary for episode in episodes]


async def test_ending_twice_ends_once_asks_no_model_again_and_leaves_its_cost(
    end: End,
    counts: Callable[[], dict[str, int]],
    calls: Callable[[], list[Any]],
    summariser: CountingSummariser,
) -> None:
    first = await end()
    before = counts()

    again = await end()

    assert again == first
    assert counts() == before
    assert before == {"working_memory": 1, "episode": 1, "operation": 1, "llm_usage": 1}
    assert len(summariser.asked) == 1
    assert calls() == [("j1/0/9/end", "summarise", "test", 1, 1, Decimal("0.000003"))]


async def test_a_wait_that_is_being_opened_while_the_job_ends_is_cancelled(
    end: End, begin: Begin, scope: Scope, admin_url: str
) -> None:
    wait = JobWait(
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
    async with begin() as transaction:
        await transaction.working.checkpoint("s1", "n1")
        await transaction.waits.open(wait)
        ending = asyncio.create_task(end(outcome="cancelled"))
        await until_held_up(admin_url)

    await ending

    async with begin() as transaction:
        assert (await transaction.waits.get("j1/w1")).state == "cancelled"


async def test_a_job_ends_without_a_summary_when_the_model_stays_away(
    end: End, begin: Begin, summariser: CountingSummariser
) -> None:
    summariser.failure = ModelUnavailableError(model="test", why="busy")

    with pytest.raises(ApplicationError) as caught:
        await end(attempt=4)
    before = await summaries(begin)
    await end(attempt=5)

    assert not caught.value.non_retryable
    assert (before, await summaries(begin)) == ([], ["Job j1 (greeting) completed."])


async def test_a_job_ends_without_a_summary_when_the_model_refuses_and_the_call_is_written_down(
    end: End, begin: Begin, calls: Callable[[], list[Any]], summariser: CountingSummariser
) -> None:
    usage = TokenUsage(input_tokens=5, output_tokens=1000)
    summariser.failure = ModelRefusedError(model="test", why="cut off", usage=usage)

    await end()

    assert await summaries(begin) == ["Job j1 (greeting) completed."]
    assert calls() == [("j1/0/9/end", "summarise", "test", 5, 1000, Decimal("0.002005"))]
