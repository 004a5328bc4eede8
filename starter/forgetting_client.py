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
from mnestic.memory.forgetting import (
    ForgetRequest,
    ForgottenItem,
    LeftOver,
    Purged,
    TopicForgotten,
)
from mnestic.memory.forgetting_tokens import check_token, token_of
from mnestic.memory.names import FORGET_TOPIC, forget_workflow_id
from mnestic.memory.ports import Memory
from mnestic.memory.topics import topic_words
from mnestic.starter.checked_texts import FreeText
from mnestic.starter.context_client import ContextClient
from mnestic.starter.rpc import rpc_errors
from mnestic.starter.topic_survey import TopicSurvey


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

    async def preview_forget(self, topic: FreeText) -> TopicForgotten:
        """What forgetting a topic would remove and what it would leave; changes nothing.

        `items` are the facts, entries and sentences that would go, `token` confirms just these.

        Args:
            topic: A few words. A text speaks of it that has them all, in whichever form.

        Raises:
            InvalidInputError: the topic has no words that mean something, or is too long.
            ModelUnavailableError: the model of the entries' vectors does not answer.
            TemporalUnavailableError: Temporal does not answer.
        """
        topic_words(topic)
        # What is to be forgotten is found whatever the day's budget.
        embedder = self._models.embedder(self._asker, is_held=False)
        close = await entries_about(self._asker, topic, embedder=embedder)
        survey = await self._survey(topic, close)
        return TopicForgotten(
            dry_run=True,
            token=token_of(topic, survey.items),
            purged=survey.purged,
            items=survey.items,
            left=survey.left,
        )

    async def forget(self, topic: FreeText, *, confirm: str | None = None) -> TopicForgotten:
        """Has the agent forget a topic, for good: what has its words, and what was shown to be about it.

        Entries, their vectors and messages go, and with them what was learned from them; of summaries,
        records, sessions and snapshots of jobs that are over the sentences that speak of it. Jobs that run
        keep what they have in mind, and are named. A message that comes again is not learned from.

        Args:
            topic: A few words. A text speaks of it that has them all, in whichever form.
            confirm: The token of `preview_forget`. What has the topic's words goes also where it came
                since then; of what does not, only the entries that were shown.

        Raises:
            InvalidInputError: there is no token, or what would go is not what it was given for; the topic
                has no words that mean something, or is too long.
            ModelUnavailableError: the model of the entries' vectors does not answer.
            TemporalUnavailableError: Temporal does not answer.
        """
        shown = await self._confirmed(topic, confirm)
        done = await (await self._start(topic, shown)).result()
        return await self.tell_forgotten(topic, done, shown=shown)

    async def start_forgetting(
        self, topic: FreeText, *, confirm: str | None = None
    ) -> WorkflowHandle[Any, Purged]:
        """Begins to forget, as `forget` does, and does not wait for the end.

        Raises:
            InvalidInputError: as of `forget`.
            ModelUnavailableError: the model of the entries' vectors does not answer.
            TemporalUnavailableError: Temporal does not answer.
        """
        return await self._start(topic, await self._confirmed(topic, confirm))

    async def tell_forgotten(
        self, topic: FreeText, done: Purged, *, shown: TopicForgotten | None = None
    ) -> TopicForgotten:
        """What a forgetting that has ended has purged, and what speaks of the topic still.

        Args:
            topic: The topic, which nobody else knows any more.
            done: The result of `ForgetTopic`.
            shown: The preview; its items are told once more.
        """
        survey = await self._survey(topic, ())
        stale = tuple(_stale(table) for table in done.stale)
        items = () if shown is None else shown.items
        return TopicForgotten(**done.model_dump(), items=items, left=(*survey.left, *stale))

    async def _confirmed(self, topic: str, token: str | None) -> TopicForgotten:
        topic_words(topic)
        if token is None:
            check_token(None, "")
        shown = await self.preview_forget(topic)
        check_token(token, shown.token or "")
        return shown

    async def _start(self, topic: str, shown: TopicForgotten) -> WorkflowHandle[Any, Purged]:
        reach = self._reached()
        asked = ForgetRequest(
            tenant_id=self._tenant_id, agent_id=self._agent_id, forgetting_id=uuid.uuid4().hex
        )
        async with begin_forgetting(self._memory, asked, write=True) as transaction:
            await transaction.forgetting.begin(asked.forgetting_id, topic, entries=shown.by_meaning)
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

    async def _survey(self, topic: str, close: Sequence[ForgottenItem]) -> TopicSurvey:
        reach = self._reached()
        running = RunningJobs(reach.temporal, tenant_id=self._tenant_id, agent_id=self._agent_id)
        survey = TopicSurvey(lambda: self._transaction(write=False), running=running)
        await survey.run(topic, close=close)
        return survey

    def _reached(self) -> Reach:
        if self._reach is None:
            why = "is needed to forget; use the memory of a connected MnesticClient"
            raise ConfigurationError(setting="TEMPORAL_ADDRESS", why=why)
        return self._reach


def _stale(table: str) -> LeftOver:
    why = "may quote what was there; ANALYZE it as its owner, and once more when it has rows again"
    return LeftOver(kind="statistics", name=f"pg_statistic of mnestic.{table}", why=why)
