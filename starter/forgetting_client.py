"""Having an agent forget a topic, from outside a job."""

import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from temporalio.client import Client, WorkflowHandle

from mnestic.activities.auto_retrieving import AutoRetriever
from mnestic.activities.forgetting import begin_forgetting
from mnestic.activities.query_models import QueryModels
from mnestic.activities.running_jobs import RunningJobs
from mnestic.activities.topic_meaning import entries_about
from mnestic.memory.errors import ConfigurationError, MnesticError
from mnestic.memory.forgetting import ForgetRequest, FoundEntry, LeftOver, Purged, TopicForgotten
from mnestic.memory.names import FORGET_TOPIC, forget_workflow_id
from mnestic.memory.ports import Memory
from mnestic.memory.topics import topic_words
from mnestic.starter.checked_texts import FreeText
from mnestic.starter.context_client import ContextClient
from mnestic.starter.rpc import rpc_errors
from mnestic.starter.topic_survey import TopicSurvey

_SHOWN = 50  # entries


@dataclass(frozen=True, kw_only=True)
class Reach:
    """Where workflows are started: the client, its address for people, and the workers' task queue."""

    temporal: Client
    address: str
    task_queue: str


class ForgettingClient(ContextClient):
    """One agent's memory, which can forget."""

    def __init__(
        self,
        memory: Memory,
        *,
        tenant_id: str,
        agent_id: str,
        models: QueryModels | None = None,
        auto: AutoRetriever | None = None,
        reach: Reach | None = None,
    ) -> None:
        """Prepares the client.

        Args:
            memory: The memory of all agents.
            tenant_id: Whose agent it is.
            agent_id: Which one.
            models: Those that questions ask; local ones without them.
            auto: What finds memories and notes for a message; without a vault if there is none.
            reach: Where `forget` is done; not needed by anything else.
        """
        super().__init__(memory, tenant_id=tenant_id, agent_id=agent_id, models=models, auto=auto)
        self._reach = reach

    async def forget(self, topic: FreeText, *, dry_run: bool = False) -> TopicForgotten:
        """Has the agent forget a topic, for good: what has its words, and what is about it by meaning.

        Entries, their vectors and messages go, and with them what was learned from them; of summaries,
        records, sessions and snapshots of jobs that are over the sentences that speak of it. Jobs that run
        keep what they have in mind, and are named. A message that comes again is not learned from.

        Args:
            topic: A few words. A text speaks of it that has them all, in whichever form.
            dry_run: Only tells what would go.

        Raises:
            InvalidInputError: the topic has no words that mean something, or is too long.
            ModelUnavailableError: the model of the entries' vectors does not answer.
            TemporalUnavailableError: Temporal does not answer.
        """
        if dry_run:
            close = await self._close(topic)
            survey = await self._survey(topic, close)
            found = await self._shown(survey, close)
            return TopicForgotten(dry_run=True, purged=survey.purged, left=survey.left, found=found)
        handle = await self.start_forgetting(topic)
        done = await handle.result()
        return await self.tell_forgotten(topic, done)

    async def start_forgetting(self, topic: FreeText) -> WorkflowHandle[Any, Purged]:
        """Begins to forget, as `forget` does, and does not wait for the end.

        Raises:
            InvalidInputError: the topic has no words that mean something, or is too long.
            ModelUnavailableError: the model of the entries' vectors does not answer.
            TemporalUnavailableError: Temporal does not answer.
        """
        reach = self._reached()
        close = await self._close(topic)
        asked = ForgetRequest(
            tenant_id=self._tenant_id, agent_id=self._agent_id, forgetting_id=uuid.uuid4().hex
        )
        async with begin_forgetting(self._memory, asked, write=True) as transaction:
            await transaction.forgetting.begin(
                asked.forgetting_id, topic, entries=[one.id for one in close]
            )
        workflow_id = forget_workflow_id(self._tenant_id, asked.forgetting_id)
        try:
            with rpc_errors(reach.address, job_id=workflow_id):
                return await reach.temporal.start_workflow(
                    FORGET_TOPIC,
                    asked,
                    id=workflow_id,
                    task_queue=reach.task_queue,
                    result_type=Purged,
                )
        except MnesticError:
            async with begin_forgetting(self._memory, asked, write=True) as transaction:
                await transaction.forgetting.finish(asked.forgetting_id)  # its words must not stay
            raise

    async def tell_forgotten(self, topic: FreeText, done: Purged) -> TopicForgotten:
        """What a forgetting that has ended has purged, and what speaks of the topic still."""
        survey = await self._survey(topic, ())
        stale = tuple(_stale(table) for table in done.stale)
        return TopicForgotten(**done.model_dump(), left=(*survey.left, *stale))

    async def _close(self, topic: FreeText) -> tuple[FoundEntry, ...]:
        topic_words(topic)
        # What is to be forgotten is found whatever the day's budget.
        embedder = self._models.embedder(self._asker, is_held=False)
        return await entries_about(self._asker, topic, embedder=embedder)

    async def _survey(self, topic: FreeText, close: Sequence[FoundEntry]) -> TopicSurvey:
        reach = self._reached()
        running = RunningJobs(reach.temporal, tenant_id=self._tenant_id, agent_id=self._agent_id)
        survey = TopicSurvey(lambda: self._transaction(write=False), running=running)
        await survey.run(topic, entries=[one.id for one in close])
        return survey

    async def _shown(
        self, survey: TopicSurvey, close: Sequence[FoundEntry]
    ) -> tuple[FoundEntry, ...]:
        by_text = [name for name in survey.entries if name not in {one.id for one in close}]
        async with self._transaction(write=False) as transaction:
            entries = await transaction.entries.select(by_text[:_SHOWN])
        with_words = (
            FoundEntry(id=entry.id, content=entry.content, at=entry.at, by="text")
            for entry in entries.values()
        )
        return (*with_words, *close)

    def _reached(self) -> Reach:
        if self._reach is None:
            why = "is needed to forget; use the memory of a connected MnesticClient"
            raise ConfigurationError(setting="TEMPORAL_ADDRESS", why=why)
        return self._reach


def _stale(table: str) -> LeftOver:
    why = "may quote what was there; ANALYZE it as its owner, and once more when it has rows again"
    return LeftOver(kind="statistics", name=f"pg_statistic of mnestic.{table}", why=why)
