"""Calls of models for learning and for questions: how many at once, within which budget, what they took.

All of them have the same limits: those of a process, and those of a tenant per day.
"""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from datetime import UTC, datetime, timedelta
from typing import Protocol, TypeVar

from pydantic import BaseModel, ConfigDict, Field

from mnestic.activities.models.rate_limiter import RateLimiter
from mnestic.memory.errors import ConfigurationError
from mnestic.memory.knowledge.extraction import Extraction
from mnestic.memory.models.errors import ModelRefusedError
from mnestic.memory.models.messages import Embeddings, RerankScores, Summary, TokenUsage
from mnestic.memory.models.usage import DAILY, Budget, ModelCall, ModelPrices, Purpose, UsageTotal
from mnestic.memory.ports import Memory, Transaction
from mnestic.memory.scope import Id

Answer = TypeVar("Answer", Extraction, Embeddings, RerankScores, Summary)
_LEARNING = "learning"


class ModelCallLimits(BaseModel):
    """The limits of calls of models."""

    model_config = ConfigDict(frozen=True)

    concurrency: int = Field(4, ge=1)
    daily: Budget | None = None
    recheck: timedelta = Field(timedelta(seconds=30), gt=timedelta(0))


class AgentScope(Protocol):
    """Whose memory an activity works on."""

    @property
    def tenant_id(self) -> Id: ...  # noqa: D102 - the type says it
    @property
    def agent_id(self) -> Id: ...  # noqa: D102


def begin_model_step(
    memory: Memory, scope: AgentScope, *, write: bool = True, actor: str = _LEARNING
) -> AbstractAsyncContextManager[Transaction]:
    """A transaction of a step of learning."""
    return memory.transaction(
        tenant_id=scope.tenant_id, agent_id=scope.agent_id, actor=actor, write=write
    )


class ModelCalls:
    """The calls of one model for one purpose. Without a model, in this process, they take turns, and are neither limited nor counted."""

    def __init__(
        self,
        memory: Memory,
        *,
        purpose: Purpose,
        model: str | None,
        limits: ModelCallLimits,
        limiter: RateLimiter,
        prices: ModelPrices | None = None,
        actor: str = _LEARNING,
    ) -> None:
        self._actor = actor
        self._memory, self._purpose, self._model = memory, purpose, model
        self._daily = limits.daily
        self._limiter = limiter
        self._prices = prices or ModelPrices({})
        self._turn = asyncio.Lock()

    def permit(self, scope: AgentScope) -> AbstractAsyncContextManager[None]:
        """A permit for one call, which is made and written down within it."""
        if self._model is None:
            return self._turn
        return self._limiter.permit(scope.tenant_id, lambda: self._used(scope))

    async def answer(
        self,
        scope: AgentScope,
        ask: Callable[[], Awaitable[Answer]],
        *,
        operation_key: str | None = None,
    ) -> Answer:
        """Asks within the budget; an answer that was refused after it was paid for is written down.

        Args:
            scope: Whose memory it is about.
            ask: Asks the model.
            operation_key: The operation that a refused answer is written down for.

        Raises:
            BudgetExceededError: the tenant's day has nothing left.
            ConfigurationError: its budget is of money, and some calls have no price.
            ModelUnavailableError: the model does not answer; what that took is not known.
            ModelRefusedError: the model or its server refused, or the answer is of no use.
        """
        if self._model is None:
            return await ask()
        await self.check_budget(scope)
        try:
            return await ask()
        except ModelRefusedError as error:
            if error.usage is not None:
                async with self._begin(scope, write=True) as transaction:
                    await self.keep(transaction, error, operation_key=operation_key)
            raise

    async def keep(
        self,
        transaction: Transaction,
        answer: Extraction | Embeddings | RerankScores | Summary | ModelRefusedError,
        *,
        session_id: str | None = None,
        job_id: str | None = None,
        operation_key: str | None = None,
    ) -> None:
        """Writes a call down, in the transaction that keeps its answer, or that it was refused."""
        usage = answer.usage
        units = answer.search_units if isinstance(answer, RerankScores | ModelRefusedError) else 0
        if self._model is None or usage is None:
            return
        if usage.input_tokens or usage.output_tokens or units:
            call = self._call(answer.model, usage, search_units=units)
            whose = {
                "session_id": session_id,
                "job_id": job_id,
                "operation_key": operation_key,
            }
            await transaction.usage.add(call.model_copy(update=whose))

    async def check_budget(self, scope: AgentScope) -> None:
        """Lets a call through for as long as the tenant's day has something left.

        Raises:
            BudgetExceededError: it has nothing left.
            ConfigurationError: its budget is of money, and some calls have no price.
        """
        if self._daily is None:
            return
        if self._daily.usd is not None and self._prices.find(self._model or "") is None:
            why = f"has no price for {self._model}, and the budget of learning is in USD"
            raise ConfigurationError(setting="MNESTIC_MODEL_PRICES", why=why)
        day, used = await self._today(scope)
        self._daily.check_left(
            used, what=f"learning on {day:%Y-%m-%d} (UTC) of tenant {scope.tenant_id}"
        )

    def _begin(
        self, scope: AgentScope, *, write: bool = False
    ) -> AbstractAsyncContextManager[Transaction]:
        return begin_model_step(self._memory, scope, write=write, actor=self._actor)

    async def _used(self, scope: AgentScope) -> UsageTotal:
        return (await self._today(scope))[1]

    async def _today(self, scope: AgentScope) -> tuple[datetime, UsageTotal]:
        """The tenant's day, and what has been taken of it."""
        async with self._begin(scope) as transaction:
            now = (await transaction.now()).astimezone(UTC)
            today = now.replace(hour=0, minute=0, second=0, microsecond=0)
            used = await transaction.usage.sum_since(today, DAILY)
        # What other models without a price took is not known, and will not be.
        return today, used.model_copy(update={"unpriced": 0})

    def _call(self, model: str, usage: TokenUsage, *, search_units: int) -> ModelCall:
        cost = self._prices.cost_usd(model, usage, search_units=search_units)
        if cost is None and self._model is not None:  # some servers name their models otherwise
            cost = self._prices.cost_usd(self._model, usage, search_units=search_units)
        call = ModelCall(
            session_id=None,
            job_id=None,
            operation_key=None,
            purpose=self._purpose,
            model=model,
            cost_usd=cost,
            search_units=search_units,
            **usage.model_dump(),
        )
        self._limiter.record(call)
        return call
