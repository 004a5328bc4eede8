"""The chat model of maintenance: its calls stay within the budget of the run, and within that of the tenant's day.

Every step of a run that asks a model shares one budget.
"""

from collections.abc import Sequence
from decimal import Decimal
from typing import NamedTuple

from mnestic.activities.maintenance.steps import MaintenanceStep
from mnestic.activities.models.calls import ModelCallLimits, ModelCalls
from mnestic.activities.models.rate_limiter import RateLimiter
from mnestic.memory.errors import BudgetExceededError, ConfigurationError
from mnestic.memory.maintenance.policies import RunBudget
from mnestic.memory.models.errors import (
    ModelMisconfiguredError,
    ModelRefusedError,
    ModelUnavailableError,
)
from mnestic.memory.models.messages import ChatMessage, Summary
from mnestic.memory.models.usage import ModelCall, ModelPrices
from mnestic.memory.ports import Memory, Summariser, Transaction
from mnestic.memory.scope import EVERY_AGENT, Id

NO_MORE_CALLS = (
    BudgetExceededError,
    ConfigurationError,
    ModelMisconfiguredError,
    ModelUnavailableError,
)
"""After these a run asks its model nothing more; after another refusal it goes on with the next text."""


class _Agent(NamedTuple):
    tenant_id: Id
    agent_id: Id


class RunModel:
    """Asks the chat model for a run. What a call took is in the ledger, so that an attempt after a kill counts it too."""

    def __init__(
        self,
        memory: Memory,
        summariser: Summariser | None,
        *,
        limits: ModelCallLimits | None = None,
        prices: ModelPrices | None = None,
    ) -> None:
        self._memory, self._summariser = memory, summariser
        self._prices = prices or ModelPrices({})
        limits = limits or ModelCallLimits()
        self._calls = ModelCalls(
            memory,
            purpose="maintain",
            model=self.name,
            limits=limits,
            limiter=RateLimiter(concurrency=limits.concurrency, daily=limits.daily),
            prices=prices,
            actor="maintenance",
        )

    @property
    def name(self) -> str | None:
        """The model; None if none is configured, and nothing may be asked."""
        return None if self._summariser is None else self._summariser.model

    async def summarise(
        self,
        step: MaintenanceStep,
        agent_id: Id,
        turns: Sequence[ChatMessage],
        *,
        max_chars: int,
        budget: RunBudget,
    ) -> Summary:
        """A summary of texts of an agent; `keep` writes the call down, in the transaction that stores the summary.

        Args:
            step: The step of the run.
            agent_id: Whose texts they are.
            turns: The texts.
            max_chars: Of the summary, at most.
            budget: Of the run.

        Raises:
            BudgetExceededError: the run, or the tenant's day, has nothing left.
            ConfigurationError: a budget is of money, and the model has no price.
            ModelUnavailableError: the model does not answer; what that took is not known.
            ModelRefusedError: the model or its server refused, or the answer is of no use; what it took is written down.
        """
        summariser, agent = self._summariser, _Agent(step.tenant_id, agent_id)
        assert summariser is not None
        await self._check_budget(step, budget)
        try:
            async with self._calls.permit(agent):
                return await self._calls.answer(
                    agent,
                    lambda: summariser.summarise(turns, max_chars=max_chars),
                    operation_key=step.run,
                )
        except ModelRefusedError as error:
            if error.usage is None:
                await self._keep_refusal(step, agent)
            raise

    async def keep(self, transaction: Transaction, step: MaintenanceStep, answer: Summary) -> None:
        """Writes a call down for the run."""
        await self._calls.keep(transaction, answer, operation_key=step.run)

    async def _keep_refusal(self, step: MaintenanceStep, agent: _Agent) -> None:
        """Writes down a call that was refused and cost nothing, since it is one of those that the run may make."""
        call = ModelCall(
            session_id=None,
            job_id=None,
            operation_key=step.run,
            purpose="maintain",
            model=self.name or "",
            input_tokens=0,
            output_tokens=0,
            cost_usd=Decimal(0),
        )
        async with self._memory.transaction(
            tenant_id=agent.tenant_id, agent_id=agent.agent_id, actor=step.actor, write=True
        ) as transaction:
            await transaction.usage.add(call)

    async def _check_budget(self, step: MaintenanceStep, budget: RunBudget) -> None:
        if budget.cost_usd is not None and self._prices.find(self.name or "") is None:
            why = f"has no price for {self.name}, and the budget of maintenance runs is in USD"
            raise ConfigurationError(setting="MNESTIC_MODEL_PRICES", why=why)
        async with self._memory.transaction(
            tenant_id=step.tenant_id, agent_id=EVERY_AGENT, actor=step.actor, write=False
        ) as transaction:
            used = await transaction.usage.sum_by_run(step.run)
        budget.check_left(used, run=step.run)
