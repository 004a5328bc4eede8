"""Calls of language models, in every implementation of `Memory`."""

from datetime import timedelta
from decimal import Decimal
from typing import Any

import psycopg
from psycopg.rows import TupleRow

from mnestic.memory.models.usage import ModelCall, UsageTotal
from mnestic.starter.settings import Settings
from tests.stores.conftest import Begin


def call(**fields: Any) -> ModelCall:
    values = {
        "session_id": "s1",
        "job_id": "j1",
        "operation_key": "j1/0/1/think",
        "purpose": "think",
        "model": "small",
        "input_tokens": 100,
        "output_tokens": 20,
        "cost_usd": Decimal("0.0001"),
    }
    return ModelCall.model_validate(values | fields)


async def add(begin: Begin, *calls: ModelCall) -> None:
    async with begin() as transaction:
        for one in calls:
            await transaction.usage.add(one)


async def test_a_call_is_kept_as_it_was(
    begin: Begin, owner: psycopg.Connection[TupleRow], settings: Settings
) -> None:
    await add(begin, call(cost_usd=Decimal("0.00000000125"), input_tokens=2**40))

    rows = owner.execute(
        "SELECT agent_id, session_id, job_id, operation_key, purpose, model, input_tokens, "
        "output_tokens, cost_usd, created_at IS NOT NULL FROM mnestic.llm_usage WHERE tenant_id = %s",
        [settings.tenant_id],
    ).fetchall()
    cost = Decimal("0.00000000125")
    kept = ("ada", "s1", "j1", "j1/0/1/think", "think", "small", 2**40, 20, cost, True)
    assert rows == [kept]


async def test_the_calls_of_a_job_are_summed(begin: Begin) -> None:
    await add(
        begin,
        call(),
        call(),
        call(purpose="summarise", input_tokens=7, output_tokens=3, cost_usd=Decimal("0.2")),
        call(cost_usd=None),
        call(job_id="j2"),
        call(job_id=None, session_id=None, operation_key=None),
    )

    async with begin(write=False) as transaction:
        total = await transaction.usage.sum_by_job("j1")
        assert await transaction.usage.sum_by_job("nobody") == UsageTotal()

    assert total == UsageTotal(
        calls=4, unpriced=1, input_tokens=307, output_tokens=63, cost_usd=Decimal("0.2002")
    )
    assert total.tokens == 370


async def test_the_calls_of_a_tenant_since_a_moment_are_summed(begin: Begin) -> None:
    async with begin() as transaction:
        began = await transaction.now()
        await transaction.usage.add(call(purpose="extract"))
        await transaction.usage.add(call(purpose="think"))
    async with begin(agent="eve") as transaction:
        await transaction.usage.add(call(purpose="embed", output_tokens=0, cost_usd=None))

    async with begin(write=False) as transaction:
        both = await transaction.usage.sum_since(began, ("extract", "embed"))
        later = await transaction.usage.sum_since(began + timedelta(hours=1), ("extract", "embed"))
    async with begin(tenant="other", write=False) as transaction:
        strangers = await transaction.usage.sum_since(began, ("extract", "embed"))

    assert both == UsageTotal(
        calls=2, unpriced=1, input_tokens=200, output_tokens=20, cost_usd=Decimal("0.0001")
    )
    assert later == strangers == UsageTotal()


async def test_calls_are_summed_by_purpose_and_model_between_two_moments(begin: Begin) -> None:
    async with begin() as transaction:
        began = await transaction.now()
        for one in (call(injected_tokens=30), call(cost_usd=None), call(model="large")):
            await transaction.usage.add(one)
    async with begin(agent="eve") as transaction:
        await transaction.usage.add(call(purpose="extract"))
    ended = began + timedelta(hours=1)

    async with begin(write=False) as transaction:
        everyone = await transaction.usage.sum_by_model(began, ended)
        eve = await transaction.usage.sum_by_model(began, ended, agent_id="eve")
        later = await transaction.usage.sum_by_model(ended, ended + timedelta(hours=1))

    assert [(one.purpose, one.model, one.calls, one.injected_tokens) for one in everyone] == [
        ("extract", "small", 1, 0),
        ("think", "large", 1, 0),
        ("think", "small", 2, 30),
    ]
    assert (everyone[2].unpriced, everyone[2].cost_usd) == (1, Decimal("0.0001"))
    assert (eve, later) == (everyone[:1], ())
