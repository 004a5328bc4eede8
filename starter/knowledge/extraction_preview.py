"""One message, read as it would be learned from, of which nothing is kept.

It stands alone because it is the one call of a model outside a worker: held to the same day's budget,
and written down like all others.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from pydantic import BaseModel, ConfigDict

from mnestic.activities.models.calls import ModelCalls, begin_model_step
from mnestic.activities.models.rate_limiter import RateLimiter
from mnestic.memory.knowledge.extraction import Extraction, Turn
from mnestic.memory.ports import Memory
from mnestic.memory.scope import Id
from mnestic.starter.extraction_wiring import extraction_limits, extractor_of
from mnestic.starter.memory_wiring import find_database, open_database, open_openai, prices_of
from mnestic.starter.settings import Settings


class _Caller(BaseModel):
    """On whose account a model is asked."""

    model_config = ConfigDict(frozen=True)

    tenant_id: Id
    agent_id: Id


async def extract_turn(settings: Settings, turn: Turn, *, agent_id: str) -> tuple[str, Extraction]:
    """What a turn claims, by the configured model or the local rules, and which of them read it.

    Raises:
        ConfigurationError: a model has no server, no price where one is needed, or no database in
            which its calls are written down.
        BudgetExceededError: the tenant's day has nothing left.
        ModelUnavailableError: the model does not answer.
        ModelRefusedError: the model or its server refused, or the answer is of no use.
        DatabaseUnavailableError: the database does not answer.
    """
    async with open_openai(settings) as client:
        extractor = extractor_of(settings, client)
        if extractor.model is None:
            return extractor.name, await extractor.extract([turn])
        caller = _Caller(tenant_id=settings.tenant_id, agent_id=agent_id)
        async with _open(settings) as memory:
            limits = extraction_limits(settings, extractor.model)
            calls = ModelCalls(
                memory,
                purpose="extract",
                model=extractor.model,
                limits=limits,
                limiter=RateLimiter(concurrency=1, daily=limits.daily),
                prices=prices_of(settings.model_prices),
            )
            told = await calls.answer(caller, lambda: extractor.extract([turn]))
            async with begin_model_step(memory, caller) as transaction:
                await calls.keep(transaction, told)
        return extractor.name, told


@asynccontextmanager
async def _open(settings: Settings) -> AsyncIterator[Memory]:
    memory = open_database(find_database(settings)[0])
    try:
        yield memory
    finally:
        await memory.close()
