"""Summaries of large memories by a chat model: above those of sessions, within the budget of the run."""

import json
from typing import Any

from openai import AsyncOpenAI
from temporalio.testing import ActivityEnvironment

from mnestic.activities.clients.local import LocalSummariser
from mnestic.activities.clients.openai_compatible import OpenAISummariser
from mnestic.activities.clients.tokens import count_tokens
from mnestic.activities.maintenance.period_summary_steps import PeriodSummaryActivities
from mnestic.activities.maintenance.run_model import RunModel
from mnestic.activities.maintenance.steps import MaintenanceStep, StepResult
from mnestic.memory.maintenance.reports import run_name
from mnestic.memory.ports import Memory
from mnestic.starter.client.memory_client import MemoryClient
from mnestic.starter.settings import Settings
from tests.activities.maintenance.period_samples import BOILER, NIGHT, ROSES, Names, say


async def test_a_model_writes_weeks_months_and_the_life_as_far_as_the_budget_of_the_run_goes(
    ada: MemoryClient,
    memory: Memory,
    settings: Settings,
    openai: AsyncOpenAI,
    chat_server: Any,
    summaries: Names,
) -> None:
    await say(ada, ROSES, BOILER)
    chat_server.completes(json.dumps({"summary": "Mara tends her house."}))
    activities = PeriodSummaryActivities(
        memory,
        RunModel(memory, OpenAISummariser(openai, model="small")),
        quoting=LocalSummariser(),
        count_tokens=count_tokens,
    )

    async def build(calls: int, *, dry_run: bool = False) -> StepResult:
        async with memory.transaction(
            tenant_id=settings.tenant_id, agent_id="*", actor="test", write=True
        ) as transaction:
            policy = {
                "budget": {"model_calls": calls},
                "nightly": {"summarise_above_messages": 0},
            }
            await transaction.settings.put("maintenance", policy)
        params = MaintenanceStep(
            tenant_id=settings.tenant_id,
            kind="nightly",
            scheduled_at=NIGHT,
            agent_id="ada",
            dry_run=dry_run,
        )
        result: StepResult = await ActivityEnvironment().run(activities.summarise, params)
        return result

    would = await build(3, dry_run=True)
    first = await build(3)
    begun = await summaries()
    would_then = await build(9, dry_run=True)
    rest = await build(9)

    assert would.counts == {"summaries_built": 7, "model_calls_estimated": 5}
    assert would_then.counts == {"summaries_built": 2, "model_calls_estimated": 2}
    assert first.counts == {"summaries_built": 5, "summaries_left": 1}
    (problem,) = first.problems
    assert "3 model calls" in problem
    assert "summaries left for the next run: 1" in problem
    assert begun.keys() == {
        *("week 2029-05-07", "week 2029-06-04", "month 2029-06"),
        *("session s1 2029-05-07", "session s1 2029-06-04"),
    }
    assert rest == StepResult(counts={"summaries_built": 7})
    texts = await summaries()
    assert texts["life"] == texts["week 2029-05-07"] == "Mara tends her house."
    assert texts["session s1 2029-05-07"] == "Mara: We planted 12 roses in the garden."
    async with memory.transaction(
        tenant_id=settings.tenant_id, agent_id="*", actor="test", write=False
    ) as transaction:
        assert (await transaction.usage.sum_by_run(run_name("nightly", NIGHT))).calls == 5
