"""Summaries of categories by a chat model, where one is configured: after the local ones, as far as the run's budget goes."""

from collections import Counter
from collections.abc import Collection
from datetime import datetime
from typing import Any

from temporalio import activity

from mnestic.activities.failures import failures
from mnestic.activities.heartbeats import heartbeats
from mnestic.activities.maintenance.run_model import NO_MORE_CALLS, RunModel
from mnestic.activities.maintenance.steps import (
    CALLS,
    MaintenanceStep,
    StepResult,
    attempt,
    read_policy,
)
from mnestic.memory.errors import MnesticError
from mnestic.memory.knowledge.predicate_sentences import sentence_of
from mnestic.memory.knowledge.world.categories import (
    MOST_TOKENS,
    LocalSummaries,
    StoredCategory,
    summarised_facts,
)
from mnestic.memory.language.sentences import cut_text
from mnestic.memory.maintenance.policies import RunBudget
from mnestic.memory.maintenance.reports import describe_left
from mnestic.memory.models.errors import ModelRefusedError
from mnestic.memory.models.messages import ChatMessage, Summary
from mnestic.memory.ports import Memory, TokenCounter, Transaction
from mnestic.memory.scope import EVERY_AGENT

_CHARS = 600  # asked of the model; a summary has at most MOST_TOKENS
_AGENTS = 10  # listed at once, and named by the report if they are left


class SummaryActivities:
    """The step of `Maintenance` that has a chat model write summaries of categories."""

    def __init__(self, memory: Memory, model: RunModel, *, count_tokens: TokenCounter) -> None:
        self._memory, self._model, self._count_tokens = memory, model, count_tokens

    @activity.defn(name="mnestic.summarise_categories")
    async def summarise(self, params: MaintenanceStep) -> StepResult:
        """Has the model write the summaries that it was not asked for yet, those first that have waited longest.

        What it does not write keeps its local summary, and the result names the problem. A dry run counts them. Idempotent: no summary is asked
        for twice, unless a fact changes. Another attempt goes on with the counts of the last heartbeat.
        """
        done = _Progress(activity.info().heartbeat_details)
        with failures():
            if self._model.name is None:
                return StepResult()
            if params.dry_run:
                return await self._count(params)
            async with heartbeats(done.dump):
                policy = await read_policy(self._memory, params)
                await self._summarise_all(params, done, budget=policy.budget)
        return done.result()

    async def _summarise_all(
        self, params: MaintenanceStep, done: "_Progress", *, budget: RunBudget
    ) -> None:
        stopped: set[str] = set()  # what keeps the step from them will do so again
        while (waiting := await self._waiting(params, stopped)).number:
            try:
                for agent_id in waiting.agent_ids:
                    work = self._summarise_agent(params, agent_id, done, budget=budget)
                    result = await attempt(
                        agent_id, work, step="summaries of categories", stops=NO_MORE_CALLS
                    )
                    if result.problems:
                        stopped.add(agent_id)
                        done.note(*result.problems)
            except NO_MORE_CALLS as error:
                left = await self._waiting(params, stopped)
                done.stop(error, left)
                return

    async def _count(self, params: MaintenanceStep) -> StepResult:
        """Estimates what the step would do: facts that the same run changes are not in it."""
        async with self._memory.transaction(
            tenant_id=params.tenant_id, agent_id=EVERY_AGENT, actor=params.actor, write=False
        ) as transaction:
            number = await transaction.categories.count_without_model(params.agent_id)
        return StepResult(counts=dict(+Counter({"categories_summarised": number, CALLS: number})))

    async def _waiting(self, params: MaintenanceStep, stopped: Collection[str]) -> LocalSummaries:
        async with self._memory.transaction(
            tenant_id=params.tenant_id, agent_id=EVERY_AGENT, actor=params.actor, write=False
        ) as transaction:
            return await transaction.categories.list_local(
                params.agent_id, without=stopped, limit=_AGENTS
            )

    async def _summarise_agent(
        self, params: MaintenanceStep, agent_id: str, done: "_Progress", *, budget: RunBudget
    ) -> StepResult:
        async with self._memory.transaction(
            tenant_id=params.tenant_id, agent_id=agent_id, actor=params.actor, write=False
        ) as transaction:
            at = max(params.scheduled_at, await transaction.now())
            stored = await transaction.categories.read(at, with_facts=True)
        for category in stored:
            if category.summary and category.model is None:
                await self._summarise_category(
                    params, agent_id, category, at=at, done=done, budget=budget
                )
        return StepResult()  # each summary is counted at once, for the next attempt

    async def _summarise_category(
        self,
        params: MaintenanceStep,
        agent_id: str,
        category: StoredCategory,
        *,
        at: datetime,
        done: "_Progress",
        budget: RunBudget,
    ) -> None:
        """Asks for one summary, and stores it unless a fact has changed meanwhile."""
        facts = summarised_facts(category)
        sentences = [sentence_of(fact, now=at) for fact in facts]
        turns = [ChatMessage(role="user", content=sentence) for sentence in sentences]
        answer, text = None, ""
        try:
            if turns:
                answer = await self._model.summarise(
                    params, agent_id, turns, max_chars=_CHARS, budget=budget
                )
                text = self._fitting(answer)
        except ModelRefusedError as error:
            if isinstance(error, NO_MORE_CALLS):
                raise
            done.problems.append(f"agent {agent_id}: summary of {category.name}: {error}")
        async with self._memory.transaction(
            tenant_id=params.tenant_id, agent_id=agent_id, actor=params.actor, write=True
        ) as transaction:
            await self._store(transaction, params, category, text=text, answer=answer)
        done.counts["categories_summarised"] += bool(text)

    async def _store(
        self,
        transaction: Transaction,
        params: MaintenanceStep,
        category: StoredCategory,
        *,
        text: str,
        answer: Summary | None,
    ) -> None:
        assert category.summary
        assert self._model.name
        if answer is not None:
            await self._model.keep(transaction, params, answer)
        summary = text or category.summary
        await transaction.categories.rewrite(category, summary, model=self._model.name)

    def _fitting(self, answer: Summary) -> str:
        """The summary in one line, cut to the tokens that a summary may have."""
        text = " ".join(answer.text.split())
        while self._count_tokens(text) > MOST_TOKENS:
            text = cut_text(text, len(text) * 9 // 10)
        return text


class _Progress:
    """What was done so far; the next attempt finds it in the heartbeats."""

    def __init__(self, details: Any) -> None:
        before = StepResult.model_validate(details[0]) if details else StepResult()
        self.counts, self.problems = Counter(before.counts), list(before.problems)

    def note(self, *problems: str) -> None:
        """Adds problems that an earlier attempt has not met."""
        self.problems += [problem for problem in problems if problem not in self.problems]

    def stop(self, error: MnesticError, left: LocalSummaries) -> None:
        """Says for which agents the model was not asked any more, and why."""
        self.counts["agents_left"] = left.number
        self.problems.append(describe_left(str(error), left.agent_ids, number=left.number))

    def result(self) -> StepResult:
        """The result of the activity."""
        return StepResult(counts=dict(+self.counts), problems=tuple(self.problems))

    def dump(self) -> Any:
        """What the heartbeat carries."""
        return self.result().model_dump()
