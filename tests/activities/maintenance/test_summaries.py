"""A chat model writes summaries of categories, within the budget of the run, and only where one is configured."""

import json
from collections.abc import Awaitable, Callable
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
from openai import AsyncOpenAI
from temporalio.testing import ActivityEnvironment

from mnestic.activities.clients.local import LocalSummariser
from mnestic.activities.clients.openai_compatible import OpenAISummariser
from mnestic.activities.clients.tokens import count_tokens
from mnestic.activities.maintenance.run_model import RunModel
from mnestic.activities.maintenance.steps import MaintenanceStep, StepResult
from mnestic.activities.maintenance.summaries import SummaryActivities
from mnestic.memory.knowledge.world.categories import MOST_TOKENS
from mnestic.memory.maintenance.reports import run_name
from mnestic.memory.models.usage import ModelPrices, UsageTotal
from mnestic.memory.ports import Memory
from mnestic.starter.client.memory_client import MemoryClient
from mnestic.starter.settings import Settings
from tests.activities.learning_models import Begin, Execute
from tests.activities.maintenance.conftest import NOON

PRICES = ModelPrices.model_validate({"small": {"input": 1000, "output": 1000}})
COST = Decimal("0.018")  # of one call, by the usage that the server names
Summarise = Callable[..., Awaitable[StepResult]]
Used = Callable[..., Awaitable[UsageTotal]]


@pytest.fixture
def summarise(memory: Memory, settings: Settings, openai: AsyncOpenAI) -> Summarise:
    """Runs the step for the tenant's agents."""

    async def step(
        days: int = 0, *, local: bool = False, dry_run: bool = False, **fields: Any
    ) -> StepResult:
        summariser = LocalSummariser() if local else OpenAISummariser(openai, model="small")
        model = RunModel(memory, summariser, **({"prices": PRICES} | fields))
        activities = SummaryActivities(memory, model, count_tokens=count_tokens)
        result: StepResult = await ActivityEnvironment().run(
            activities.summarise,
            MaintenanceStep(
                tenant_id=settings.tenant_id,
                kind="nightly",
                scheduled_at=NOON + timedelta(days=days),
                dry_run=dry_run,
            ),
        )
        return result

    return step


@pytest.fixture
def used(begin: Begin) -> Used:
    """What the calls of the run took."""

    async def read(days: int = 0) -> UsageTotal:
        run = run_name("nightly", NOON + timedelta(days=days))
        async with begin("*", write=False) as transaction:
            total: UsageTotal = await transaction.usage.sum_by_run(run)
        return total

    return read


def writes(chat_server: Any, summary: str) -> None:
    chat_server.completes(json.dumps({"summary": summary}))


async def test_a_model_writes_the_summaries_once(
    ada: MemoryClient, run: Any, summarise: Summarise, chat_server: Any, used: Used
) -> None:
    await ada.facts.add("Mara", "lives_in", "Ghent")
    await run()
    chat_server.completes(json.dumps({"summary": "Ghent is\nhome to Mara."}))

    first = await summarise()
    second = await summarise(1)

    assert first.counts == {"categories_summarised": 1}
    assert await _summaries(ada) == {"profile": "Ghent is home to Mara."}
    assert "Mara lives in Ghent." in json.dumps(chat_server.requests[0]["body"])
    assert (second, len(chat_server.requests)) == (StepResult(), 1)
    assert await used() == UsageTotal(calls=1, input_tokens=11, output_tokens=7, cost_usd=COST)
    assert await used(1) == UsageTotal()
    await ada.facts.add("Mara", "likes", "tea")
    await run(NOON + timedelta(days=2))
    assert await summarise(2, local=True) == StepResult()
    assert (await _summaries(ada))["preferences"] == "Mara likes tea."
    writes(chat_server, "Zg. Tea. Vy. " * 60)
    await summarise(2)
    assert MOST_TOKENS // 2 < count_tokens((await _summaries(ada))["preferences"]) <= MOST_TOKENS


async def test_a_run_stops_at_its_costs(
    ada: MemoryClient, run: Any, summarise: Summarise, set_policy: Any, chat_server: Any
) -> None:
    await _three_categories(ada)
    await run()
    await set_policy(budget={"cost_usd": 0.02})
    writes(chat_server, "Mara.")

    unpriced = await summarise(prices=None)
    result = await summarise()

    assert "MNESTIC_MODEL_PRICES" in unpriced.problems[0]
    assert unpriced.counts == {"agents_left": 1}
    assert result.counts == {"categories_summarised": 2, "agents_left": 1}
    assert "0.036 of 0.02 USD" in result.problems[0]


async def test_an_absent_model_is_a_problem_and_the_next_run_asks_it_again(
    ada: MemoryClient, run: Any, summarise: Summarise, chat_server: Any, set_policy: Any
) -> None:
    await _three_categories(ada)
    await run()
    before = await _summaries(ada)
    chat_server.fails(500)

    await set_policy(budget={"model_calls": 0})
    assert (await summarise()).counts == {"agents_left": 1}
    assert chat_server.requests == []
    await set_policy()
    absent = await summarise()
    chat_server.status = 200
    writes(chat_server, "Mara.")

    assert absent.counts == {"agents_left": 1}
    assert "model small does not answer" in absent.problems[0]
    assert len(chat_server.requests) == 1
    assert await _summaries(ada) == before
    assert (await summarise(1)).counts == {"categories_summarised": 3}


async def test_a_refused_summary_stays_local_is_counted_and_not_asked_for_again(
    ada: MemoryClient, run: Any, summarise: Summarise, chat_server: Any, used: Used
) -> None:
    await _three_categories(ada)
    await run()
    before = await _summaries(ada)
    chat_server.fails(400, "this text is not allowed")

    refused = await summarise()

    assert refused.counts == {}
    assert [problem.partition(": model")[0] for problem in refused.problems] == [
        f"agent ada: summary of {name}" for name in sorted(before)
    ]
    assert await _summaries(ada) == before
    assert await summarise(1) == StepResult()
    assert (await used()).calls == len(chat_server.requests) == 3


async def test_a_fact_that_changes_during_the_call_is_not_missed(
    ada: MemoryClient, run: Any, summarise: Summarise, chat_server: Any, execute: Execute
) -> None:
    await ada.facts.add("Mara", "lives_in", "Ghent")
    await run()
    writes(chat_server, "Ghent is home to Mara.")
    answer = json.loads(chat_server.body)

    def changes_first(*_: Any) -> tuple[int, Any, dict[str, str]]:
        execute("UPDATE mnestic.category SET summary = NULL, model = NULL WHERE tenant_id = %s")
        return 200, answer, {}

    chat_server.answers = changes_first
    await summarise()

    assert await _summaries(ada) == {"profile": "Mara lives in Ghent."}


async def _three_categories(ada: MemoryClient) -> None:
    await ada.facts.add("Mara", "lives_in", "Ghent")
    await ada.facts.add("Mara", "employer", "Acme")
    await ada.facts.add("Mara", "likes", "tea")


async def _summaries(memory: MemoryClient) -> dict[str, str]:
    return {one.name: one.summary for one in await memory.contexts.list_categories()}
