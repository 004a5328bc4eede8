"""What an agent knows, inside a workflow: facts, and what it is to learn.

None of it is part of a wait's snapshot.
"""

from collections.abc import Sequence
from datetime import datetime

from temporalio import workflow

from mnestic.activities.jobs.retrievals import RetrievalActivities, RetrievedText, RetrieveInput
from mnestic.activities.knowledge.job_knowledge import (
    FactsInput,
    IngestExchangeInput,
    IngestExchangeResult,
    KnowledgeActivities,
)
from mnestic.memory.knowledge.facts import Fact
from mnestic.memory.knowledge.inbox import Interaction, MessageSignal, ToolOutput
from mnestic.memory.knowledge.prompt_facts import KnowledgeSelection
from mnestic.memory.retrieval.selections import AutoSelection
from mnestic.memory.scope import Scope
from mnestic.workflows.calls import run_activity
from mnestic.workflows.jobs.controls import JobControls
from mnestic.workflows.jobs.operation_keys import OperationKeys
from mnestic.workflows.jobs.publishing import publish_paused, publish_running


class AgentKnowledge:
    """What one job knows of what its agent has learned, and adds to it."""

    def __init__(self, scope: Scope, *, keys: OperationKeys, controls: JobControls) -> None:
        self._scope, self._keys, self._controls = scope, keys, controls

    @property
    def scope(self) -> Scope:
        """Whose memory it is."""
        return self._scope

    async def until_unpaused(self) -> None:
        """Waits while the job is paused; every operation calls it first."""
        if self._controls.paused:
            publish_paused(None)
            await workflow.wait_condition(lambda: not self._controls.paused)
            publish_running()

    async def facts(
        self,
        subject: str | None = None,
        *,
        predicate: str | None = None,
        limit: int = 50,
    ) -> tuple[Fact, ...]:
        """The facts that are believed now about a subject, a predicate, or both.

        Unlike other memory, these facts travel through the workflow's history, so read only those that the
        workflow decides by. They contain words of others: to put facts into a prompt, use `think(know=)`, which
        quotes them.
        """
        await self.until_unpaused()
        select = KnowledgeSelection(
            subjects=() if subject is None else (subject,),
            predicates=() if predicate is None else (predicate,),
            limit=limit,
        )
        params = FactsInput(scope=self._scope, operation=self._keys.next("facts"), select=select)
        return (await run_activity(KnowledgeActivities.list_facts, params)).facts

    async def auto_retrieve(
        self,
        message: str,
        channel: str,
        *,
        max_tokens: int = 1000,
        prompt_texts: Sequence[str] = (),
    ) -> RetrievedText:
        """Memories and notes to put before a message in a prompt, as one text that quotes them.

        It travels through the workflow's history. To keep it out of there, use `think(retrieve=)`.

        Args:
            message: The message.
            channel: Its channel.
            max_tokens: The limit of the text.
            prompt_texts: What the prompt has anyway; memories that say the same are left out.
        """
        await self.until_unpaused()
        params = RetrieveInput(
            scope=self._scope,
            operation=self._keys.next("auto_retrieve"),
            message=message,
            select=AutoSelection(channel=channel, max_tokens=max_tokens),
            prompt_texts=tuple(prompt_texts),
        )
        return await run_activity(RetrievalActivities.auto_retrieve, params)

    async def learn(
        self,
        content: str,
        *,
        speaker: str,
        tool_results: Sequence[ToolOutput] = (),
        replies: Sequence[MessageSignal] = (),
        at: datetime | None = None,
        readers: Sequence[str] | None = None,
    ) -> IngestExchangeResult:
        """Stores an exchange once and extracts its facts; does not add it to working memory.

        Args:
            content: What was said. It travels through the workflow's history.
            speaker: Who said it.
            tool_results: Results of tools in the exchange.
            replies: The messages that followed, in their order.
            at: When it was said, aware; now by default.
            readers: Who alone may read it; those of the session by default.

        Raises:
            ActivityError: something in it cannot be stored.
        """
        await self.until_unpaused()
        operation = self._keys.next("learn")
        exchange = Interaction(
            source_id=operation.key,
            session_id=self._scope.session_id,
            channel="job",
            at=at or workflow.now(),
            speaker=speaker,
            content=content,
            tool_results=tuple(tool_results),
            replies=tuple(replies),
            readers=None if readers is None else tuple(readers),
        )
        params = IngestExchangeInput(scope=self._scope, operation=operation, exchange=exchange)
        return await run_activity(KnowledgeActivities.ingest_exchange, params)
