"""Forgets a topic: previews it, starts the workflow that removes it, and reports what remains.

It needs Temporal, so the client loads it only to forget.
"""

import itertools
import uuid
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from temporalio.client import WorkflowHandle

from mnestic.activities.callers import Caller
from mnestic.activities.forgetting.running_jobs import RunningJobs
from mnestic.activities.forgetting.steps import begin_forgetting
from mnestic.activities.forgetting.topic_meaning import find_entries_by_meaning
from mnestic.activities.retrieval.query_models import QueryModels
from mnestic.memory.errors import AlreadyExistsError, MnesticError, NotFoundError
from mnestic.memory.forgetting.confirmation_tokens import check_token, token_of
from mnestic.memory.forgetting.requests import (
    ForgetRequest,
    ForgottenItem,
    Purged,
    RemainingRow,
    TopicForgotten,
)
from mnestic.memory.names import FORGET_TOPIC, forget_workflow_id
from mnestic.memory.operations import Operation
from mnestic.memory.ports import Transaction
from mnestic.starter.forgetting.preview import TopicPreview
from mnestic.starter.rpc import rpc_errors
from mnestic.starter.temporal_connection import TemporalConnection

_FAILED = "start_failed"  # the result of an attempt


class TopicForgetting:
    """Forgets topics of one agent. `MemoryClient` describes what each method does and raises."""

    def __init__(
        self, caller: Caller, *, models: QueryModels, connection: TemporalConnection
    ) -> None:
        self._caller, self._models, self._connection = caller, models, connection

    async def preview(self, topic: str) -> TopicForgotten:
        """See `MemoryClient.preview_forget`."""
        # The day's budget does not limit what forgetting finds.
        embedders = self._models.embedders(self._caller, is_budgeted=False)
        meaning = await find_entries_by_meaning(self._caller, topic, embedders=embedders)
        survey = await self._survey(topic, meaning.close)
        return TopicForgotten(
            dry_run=True,
            token=token_of(topic, survey.items),
            purged=survey.purged,
            items=survey.items,
            left=(*survey.left, *meaning.uncompared),
        )

    async def confirmed(self, topic: str, token: str | None) -> TopicForgotten:
        """The current preview of a topic, if the token confirms it.

        Raises:
            InvalidInputError: there is no token.
            StaleRequestError: it is of another preview.
        """
        if token is None:
            check_token(None, "")
        preview = await self.preview(topic)
        check_token(token, preview.token or "")
        return preview

    async def find(self, request_id: str) -> WorkflowHandle[Any, Purged] | None:
        """The workflow that a request has started; None if it has started none.

        Raises:
            TemporalUnavailableError: Temporal does not answer.
        """
        workflow_id = forget_workflow_id(self._caller.tenant_id, request_id)
        handle = self._connection.temporal.get_workflow_handle(workflow_id, result_type=Purged)
        with suppress(NotFoundError), rpc_errors(self._connection.address, job_id=workflow_id):
            await handle.describe()
            return handle
        return None

    async def start(
        self,
        topic: str,
        preview: TopicForgotten,
        *,
        keep_out: bool,
        request_id: str | None = None,
    ) -> WorkflowHandle[Any, Purged]:
        """Starts the workflow that forgets what the preview shows; with `keep_out` nothing of it is learned from now on.

        Raises:
            AlreadyExistsError: a request with the id is being started.
            TemporalUnavailableError: Temporal does not answer.
        """
        request = ForgetRequest(
            tenant_id=self._caller.tenant_id,
            agent_id=self._caller.agent_id,
            forgetting_id=request_id or uuid.uuid4().hex,
        )
        memory = self._caller.memory
        async with begin_forgetting(memory, request, write=True) as transaction:
            attempt = await _begin_attempt(transaction, request.forgetting_id)
            await transaction.forgetting.begin(
                request.forgetting_id, topic, entries=preview.by_meaning
            )
            if keep_out:
                await transaction.suppression_list.add(request.forgetting_id, topic)
        workflow_id = forget_workflow_id(request.tenant_id, request.forgetting_id)
        try:
            with rpc_errors(self._connection.address, job_id=workflow_id):
                return await self._connection.temporal.start_workflow(
                    FORGET_TOPIC,
                    request,
                    id=workflow_id,
                    task_queue=self._connection.task_queue,
                    result_type=Purged,
                )
        except MnesticError:
            async with begin_forgetting(memory, request, write=True) as transaction:
                await transaction.forgetting.finish(
                    request.forgetting_id
                )  # the topic's words must not stay
                if keep_out:
                    await transaction.suppression_list.lift(request.forgetting_id)
                await transaction.complete(attempt, {_FAILED: True})
            raise

    async def report(
        self, topic: str, done: Purged, *, preview: TopicForgotten | None
    ) -> TopicForgotten:
        """See `ForgettingClient.report`."""
        survey = await self._survey(topic, ())
        stale = tuple(_stale(table) for table in done.stale)
        items = () if preview is None else preview.items
        return TopicForgotten(**done.model_dump(), items=items, left=(*survey.left, *stale))

    async def _survey(self, topic: str, close: Sequence[ForgottenItem]) -> TopicPreview:
        running = RunningJobs(
            self._connection.temporal,
            tenant_id=self._caller.tenant_id,
            agent_id=self._caller.agent_id,
        )
        survey = TopicPreview(lambda: self._caller(write=False), running=running)
        await survey.run(topic, close=close)
        return survey


async def _begin_attempt(transaction: Transaction, forgetting_id: str) -> Operation:
    """Lets one of several requests with an id begin, and another one once its start has failed; the ledger has nothing of the topic."""
    for number in itertools.count():
        key = f"forget/{forgetting_id}/{number}" if number else f"forget/{forgetting_id}"
        attempt = Operation(key=key, name="forget")
        result = await transaction.replay(attempt, attempt.request_hash({}))
        if result is None:
            await transaction.complete(attempt, {})
            return attempt
        if _FAILED not in result:
            break
    raise AlreadyExistsError(what="forgetting", name=forgetting_id)


def _stale(table: str) -> RemainingRow:
    why = (
        "may quote removed values; run ANALYZE on it as its owner, and again when it has rows again"
    )
    return RemainingRow(kind="statistics", name=f"pg_statistic of mnestic.{table}", why=why)
