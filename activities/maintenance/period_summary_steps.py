"""The step of `Maintenance` that builds summaries of large memories by time."""

import logging
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

from temporalio import activity

from mnestic.activities.failures import failures
from mnestic.activities.heartbeats import heartbeats
from mnestic.activities.maintenance.period_summaries import PeriodSummaryBuilder
from mnestic.activities.maintenance.run_model import RunModel
from mnestic.activities.maintenance.steps import (
    MaintenanceStep,
    StepResult,
    attempt,
    read_policy,
)
from mnestic.memory.maintenance.policies import MaintenancePolicy, RunBudget
from mnestic.memory.models.messages import ChatMessage, Summary
from mnestic.memory.ports import Memory, Summariser, TokenCounter, Transaction

log = logging.getLogger("mnestic.maintenance")
_AGENTS = 200  # listed at once


class PeriodSummaryActivities:
    """Builds the summaries of the agents that have many messages."""

    def __init__(
        self, memory: Memory, model: RunModel, *, quoting: Summariser, count_tokens: TokenCounter
    ) -> None:
        """Prepares it.

        Args:
            memory: All of it.
            model: The chat model of runs, which writes summaries above those of sessions if there is one.
            quoting: Writes all others, by what was said.
            count_tokens: Counts exactly.
        """
        self._memory, self._model = memory, model
        self._quoting, self._count_tokens = quoting, count_tokens

    @activity.defn(name="mnestic.summarise_periods")
    async def summarise(self, params: MaintenanceStep) -> StepResult:
        """Builds what is due, agent by agent; what the model is not asked for any more quotes, and the result says so.

        Idempotent: a summary is built once from the same messages, and what another attempt has built is counted too.
        """
        done = _Progress(activity.info().heartbeat_details)
        with failures():
            async with heartbeats(done.dump):
                policy = await read_policy(self._memory, params)
                while agent_ids := await self._agents(params, after=done.after):
                    for agent_id in agent_ids:
                        built = self._build(params, agent_id, policy=policy)
                        done.add(agent_id, await attempt(agent_id, built, step="summaries"))
        return done.result()

    async def _agents(self, params: MaintenanceStep, *, after: str | None) -> tuple[str, ...]:
        if params.agent_id is not None:
            return () if after == params.agent_id else (params.agent_id,)
        return await self._memory.list_agent_ids(
            tenant_id=params.tenant_id, after=after, limit=_AGENTS
        )

    async def _build(
        self, params: MaintenanceStep, agent_id: str, *, policy: MaintenancePolicy
    ) -> StepResult:
        asked = None
        if self._model.name is not None:
            asked = _AgentModel(self._model, params, agent_id, budget=policy.budget)
        builder = PeriodSummaryBuilder(
            lambda *, write: self._begin(params, agent_id, write=write),
            at=params.scheduled_at,
            quoting=self._quoting,
            model=asked,
            count_tokens=self._count_tokens,
        )
        above = policy.nightly.summarise_above_messages
        if params.dry_run:
            return StepResult(counts=await builder.count_due(above=above))
        counts = await builder.build(above=above)
        if builder.stopped is not None:
            counts += Counter(summaries_left=builder.left)
            why = f"{builder.stopped}; summaries that quote until the next run: {builder.left}"
            builder.problems.append(why)
        problems = tuple(f"agent {agent_id}: {problem}" for problem in builder.problems)
        return StepResult(counts=counts, problems=problems)

    @asynccontextmanager
    async def _begin(
        self, params: MaintenanceStep, agent_id: str, *, write: bool
    ) -> AsyncIterator[Transaction]:
        async with self._memory.transaction(
            tenant_id=params.tenant_id, agent_id=agent_id, actor=params.actor, write=write
        ) as transaction:
            await transaction.keep_to(None)  # summaries are made of what everybody may read
            yield transaction


class _AgentModel:
    """Implements `mnestic.activities.maintenance.period_summaries.PeriodModel`: the model of a run, asked about one agent."""

    def __init__(
        self, model: RunModel, params: MaintenanceStep, agent_id: str, *, budget: RunBudget
    ) -> None:
        self._model, self._params, self._agent_id = model, params, agent_id
        self._budget = budget

    async def summarise(self, turns: Sequence[ChatMessage], *, max_chars: int) -> Summary:
        """See the port."""
        return await self._model.summarise(
            self._params, self._agent_id, turns, max_chars=max_chars, budget=self._budget
        )

    async def keep(self, transaction: Transaction, answer: Summary) -> None:
        """See the port."""
        await self._model.keep(transaction, self._params, answer)


class _Progress:
    """What was done so far, and for which agent last; the next attempt finds it in the heartbeats."""

    def __init__(self, details: Any) -> None:
        before = StepResult.model_validate(details[0]) if details else StepResult()
        self._counts, self._problems = Counter(before.counts), [*before.problems]
        self.after = before.after

    def add(self, agent_id: str, result: StepResult) -> None:
        """Adds what was done for an agent."""
        self._counts, self.after = self._counts + Counter(result.counts), agent_id
        self._problems += result.problems

    def result(self) -> StepResult:
        """The result of the activity."""
        return StepResult(counts=dict(self._counts), problems=tuple(self._problems))

    def dump(self) -> Any:
        """What the heartbeat carries."""
        return self.result().model_copy(update={"after": self.after}).model_dump()
