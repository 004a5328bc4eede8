"""`InboxClient`: sends messages to an agent's inbox, and reads its status."""

import asyncio
import uuid
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, TypeVar

from pydantic import ValidationError
from temporalio.api.errordetails.v1 import WorkflowNotReadyFailure
from temporalio.client import (
    Client,
    WorkflowExecutionDescription,
    WorkflowExecutionStatus,
    WorkflowHandle,
)
from temporalio.common import WorkflowIDConflictPolicy
from temporalio.service import RPCError, RPCStatusCode

from mnestic.memory.canonical import check_size
from mnestic.memory.errors import InvalidInputError, WorkerUnavailableError
from mnestic.memory.knowledge.inbox import (
    INBOX,
    LARGEST_SIGNAL_BYTES,
    Correction,
    InboxReport,
    InboxStatus,
    Insight,
    Interaction,
    MessageSignal,
    Statement,
    ToolOutput,
    extractable,
    first_problem,
)
from mnestic.memory.names import CORRECTION, INSIGHT, INTERACTION, STATUS, inbox_workflow_id
from mnestic.memory.ports import Memory
from mnestic.memory.scope import check_id
from mnestic.starter.checked_texts import ChecksTexts, FreeText
from mnestic.starter.jobs.listing import find_failing
from mnestic.starter.rpc import rpc_errors
from mnestic.starter.settings import Settings
from mnestic.workflows.knowledge.agent_inbox import AgentInbox, InboxInput

InboxItem = TypeVar("InboxItem", Interaction, Insight, Correction)
_QUERY_TIMEOUT = timedelta(seconds=10)
_TRY_TIMEOUT = timedelta(seconds=2)
_NO_ANSWER = frozenset({RPCStatusCode.DEADLINE_EXCEEDED, RPCStatusCode.CANCELLED})
_RETRY_S = 0.1


class InboxClient(ChecksTexts):
    """One agent's inbox. A worker stores what is sent and extracts facts from it, now or later.

    The same `source_id` in the same session is the same message, and is stored once, however often it
    is sent; without one, each call is another message. All raise:

    - `InvalidInputError`, when a value cannot be stored; says which. Nothing was sent.
    - `TemporalUnavailableError`, when Temporal does not answer: send it again, under its id.
    """

    def __init__(
        self, temporal: Client, memory: Memory, *, agent_id: str, settings: Settings, address: str
    ) -> None:
        self._temporal, self._memory = temporal, memory
        self._agent_id = check_id(agent_id, what="agent")
        self._settings, self._address = settings, address

    async def interaction(  # noqa: PLR0913 - the fields of the signal
        self,
        content: FreeText,
        *,
        speaker: str,
        source_id: str | None = None,
        tool_results: Sequence[ToolOutput] = (),
        replies: Sequence[MessageSignal] = (),
        session_id: str = INBOX,
        channel: str = INBOX,
        at: datetime | None = None,
        readers: Sequence[str] | None = None,
    ) -> str:
        """Sends an exchange: a message, results of tools, and the replies; returns its id.

        Args:
            content: The text of the message.
            speaker: Who said it.
            source_id: Its id; made up without one.
            tool_results: What tools returned in the course of it.
            replies: The messages that followed, in their order.
            session_id: The conversation that it is part of.
            channel: Where it came from.
            at: When it was said, aware; by default when it is received.
            readers: Who alone may read it.
        """
        item = self._checked_item(
            Interaction,
            content=content,
            speaker=speaker,
            source_id=source_id,
            tool_results=tuple(tool_results),
            replies=tuple(replies),
            session_id=session_id,
            channel=channel,
            at=at,
            readers=readers,
        )
        return await self._send(INTERACTION, item)

    async def insight(
        self,
        content: FreeText,
        *,
        subject: str | None = None,
        speaker: str | None = None,
        source_id: str | None = None,
        session_id: str = INBOX,
        channel: str = INBOX,
        at: datetime | None = None,
        readers: Sequence[str] | None = None,
    ) -> str:
        """Sends an insight of somebody, by default of the agent itself; returns its id.

        `subject` is the person or thing that it is about.
        """
        item = self._checked_item(
            Insight,
            content=content,
            subject=subject,
            speaker=speaker or self._agent_id,
            source_id=source_id,
            session_id=session_id,
            channel=channel,
            at=at,
            readers=readers,
        )
        return await self._send(INSIGHT, item)

    async def correction(  # noqa: PLR0913 - the fields of the signal
        self,
        content: FreeText = "",
        *,
        statement: Statement | None = None,
        corrects: str | None = None,
        speaker: str = "user",
        source_id: str | None = None,
        session_id: str = INBOX,
        channel: str = INBOX,
        at: datetime | None = None,
        readers: Sequence[str] | None = None,
    ) -> str:
        """Sends a correction of an earlier message: in words, as a statement or both; returns its id.

        Args:
            content: The correction in words.
            statement: The corrected fact itself, which supersedes the wrong one.
            corrects: Id of the message in the session that was wrong, which no search finds any more unless facts
                that were learned from both say that a part of it is right. Of a predicate with many objects, those
                that it named, and the correction does not, never were so.
            speaker: Who says so.
            source_id: Its id; made up without one.
            session_id: The conversation that it is part of.
            channel: Where it came from.
            at: When it was said, aware; by default when it is received.
            readers: Who alone may read it.
        """
        item = self._checked_item(
            Correction,
            content=content,
            statement=statement,
            corrects=corrects,
            speaker=speaker,
            source_id=source_id,
            session_id=session_id,
            channel=channel,
            at=at,
            readers=readers,
        )
        return await self._send(CORRECTION, item)

    async def status(self) -> InboxReport:
        """The status of the inbox; all zeros if nothing was sent yet.

        Raises:
            WorkerUnavailableError: no worker answers.
            TemporalUnavailableError: Temporal does not answer.
        """
        async with self._memory.transaction(
            tenant_id=self._settings.tenant_id,
            agent_id=self._agent_id,
            actor="client",
            write=False,
        ) as transaction:
            count = await transaction.ingest_states.count()
        description = await self._find()
        status = InboxStatus() if description is None else await self._query_status()
        running = description is not None and description.status is WorkflowExecutionStatus.RUNNING
        return InboxReport(
            **status.model_dump(),
            running=running,
            failing=await find_failing(self._temporal, description)
            if description is not None
            else (),
            waiting=count.waiting,
            learned=count.learned,
            parked=count.parked,
        )

    def _checked_item(
        self, shape: type[InboxItem], *, source_id: str | None, **fields: Any
    ) -> InboxItem:
        """An item to send, checked as the inbox will check it.

        Raises:
            InvalidInputError: a value cannot be stored.
        """
        try:
            item = shape(source_id=source_id or uuid.uuid4().hex, **fields)
        except ValidationError as error:
            raise InvalidInputError(what=shape.__name__.lower(), why=first_problem(error)) from None
        extractable(item, came_at=datetime.now(UTC))
        document = item.model_dump(mode="json")
        check_size(document, what=shape.__name__.lower(), limit_bytes=LARGEST_SIGNAL_BYTES)
        return item

    async def _send(self, name: str, item: Interaction | Insight | Correction) -> str:
        """Sends a signal; starts the inbox if it does not run."""
        settings = self._settings
        with rpc_errors(self._address, job_id=self._workflow_id):
            await self._temporal.start_workflow(
                AgentInbox.run,
                InboxInput(tenant_id=settings.tenant_id, agent_id=self._agent_id),
                id=self._workflow_id,
                task_queue=settings.task_queue,
                id_conflict_policy=WorkflowIDConflictPolicy.USE_EXISTING,
                start_signal=name,
                start_signal_args=[item],
                static_summary=f"inbox of {self._agent_id}",
            )
        return item.source_id

    async def _find(self) -> WorkflowExecutionDescription | None:
        try:
            return await self._handle.describe()
        except RPCError as error:
            if error.status is RPCStatusCode.NOT_FOUND:
                return None
            with rpc_errors(self._address, job_id=self._workflow_id):
                raise

    async def _query_status(self) -> InboxStatus:
        try:
            async with asyncio.timeout(_QUERY_TIMEOUT.total_seconds()):
                while (status := await self._try_query()) is None:  # noqa: ASYNC110 - there is no event to wait for
                    await asyncio.sleep(_RETRY_S)
        except TimeoutError as error:
            raise WorkerUnavailableError(
                job_id=self._workflow_id, limit=_QUERY_TIMEOUT, again="then"
            ) from error
        return status

    async def _try_query(self) -> InboxStatus | None:
        """The status that the workflow answers; None if it has to be asked again.

        That happens to a healthy inbox: Temporal repeats a workflow task that failed because a signal arrived
        while it continued as new, and no worker answers a query whose run ends meanwhile.
        """
        try:
            status: InboxStatus = await self._handle.query(
                STATUS, result_type=InboxStatus, rpc_timeout=_TRY_TIMEOUT
            )
        except RPCError as error:
            if _is_repeated(error) or error.status in _NO_ANSWER:
                return None
            if error.status is RPCStatusCode.FAILED_PRECONDITION:
                raise WorkerUnavailableError(
                    job_id=self._workflow_id, limit=_QUERY_TIMEOUT, again="then"
                ) from error
            with rpc_errors(self._address, job_id=self._workflow_id):
                raise
        return status

    @property
    def _handle(self) -> WorkflowHandle[Any, Any]:
        return self._temporal.get_workflow_handle(self._workflow_id)

    @property
    def _workflow_id(self) -> str:
        return inbox_workflow_id(self._settings.tenant_id, self._agent_id)


def _is_repeated(error: RPCError) -> bool:
    """Whether a query was refused for a workflow task that failed, and not for lack of a worker."""
    return any(
        detail.Is(WorkflowNotReadyFailure.DESCRIPTOR) for detail in error.grpc_status.details
    )
