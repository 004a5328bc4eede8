"""An agent's inbox from outside: tells it something, and asks how far that is."""

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
_ANSWER = timedelta(seconds=10)
_NO_WORKER = frozenset({RPCStatusCode.FAILED_PRECONDITION, RPCStatusCode.DEADLINE_EXCEEDED})
_PAUSE_S = 0.1


class InboxClient(ChecksTexts):
    """One agent's inbox. What it is told is kept and learned from, by a worker, also later.

    The same `source_id` in the same session is the same message, and is kept once, however often it
    is sent; without one, each call is another message. All raise:

    - `InvalidInputError`, when something in it cannot be kept; says what. Nothing was sent.
    - `TemporalUnavailableError`, when Temporal does not answer: send it again, under its id.
    """

    def __init__(
        self, temporal: Client, memory: Memory, *, agent_id: str, settings: Settings, address: str
    ) -> None:
        self._temporal, self._memory = temporal, memory
        self._agent_id = check_id(agent_id, what="agent")
        self._settings, self._address = settings, address

    async def interaction(
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
    ) -> str:
        """Tells of an exchange: a message, what tools returned, and what followed; returns its id.

        Args:
            content: What was said.
            speaker: Who said it.
            source_id: Its id; made up without one.
            tool_results: What tools returned in the course of it.
            replies: The messages that followed, in their order.
            session_id: The conversation that it is part of.
            channel: Where it came from.
            at: When it was said, aware; without it, when it comes.
        """
        told = self._made(
            Interaction,
            content=content,
            speaker=speaker,
            source_id=source_id,
            tool_results=tuple(tool_results),
            replies=tuple(replies),
            session_id=session_id,
            channel=channel,
            at=at,
        )
        return await self._tell(INTERACTION, told)

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
    ) -> str:
        """Tells what somebody, by default the agent itself, has found out; returns its id.

        `subject` is whom it is about.
        """
        told = self._made(
            Insight,
            content=content,
            subject=subject,
            speaker=speaker or self._agent_id,
            source_id=source_id,
            session_id=session_id,
            channel=channel,
            at=at,
        )
        return await self._tell(INSIGHT, told)

    async def correction(
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
    ) -> str:
        """Tells what is so, against what was said before: in words, as a statement or both.

        Args:
            content: The correction in words.
            statement: The same, outright; what it says takes the place of what was believed.
            corrects: Id of the message in the session that was wrong: of a predicate with many objects,
                those that it named, and the correction does not, never were so.
            speaker: Who says so.
            source_id: Its id; made up without one.
            session_id: The conversation that it is part of.
            channel: Where it came from.
            at: When it was said, aware; without it, when it comes.
        """
        told = self._made(
            Correction,
            content=content,
            statement=statement,
            corrects=corrects,
            speaker=speaker,
            source_id=source_id,
            session_id=session_id,
            channel=channel,
            at=at,
        )
        return await self._tell(CORRECTION, told)

    async def status(self) -> InboxReport:
        """How far it is; nothing but zeros of one that was told nothing yet.

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
        found = await self._find()
        status = InboxStatus() if found is None else await self._ask()
        running = found is not None and found.status is WorkflowExecutionStatus.RUNNING
        return InboxReport(
            **status.model_dump(),
            running=running,
            failing=await find_failing(self._temporal, found) if found is not None else (),
            waiting=count.waiting,
            learned=count.learned,
            parked=count.parked,
        )

    def _made(self, shape: type[InboxItem], *, source_id: str | None, **fields: Any) -> InboxItem:
        """What is told, checked as it will be where it is kept.

        Raises:
            InvalidInputError: something in it cannot be kept.
        """
        try:
            told = shape(source_id=source_id or uuid.uuid4().hex, **fields)
        except ValidationError as error:
            raise InvalidInputError(what=shape.__name__.lower(), why=first_problem(error)) from None
        extractable(told, came_at=datetime.now(UTC))
        document = told.model_dump(mode="json")
        check_size(document, what=shape.__name__.lower(), limit_bytes=LARGEST_SIGNAL_BYTES)
        return told

    async def _tell(self, name: str, told: Interaction | Insight | Correction) -> str:
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
                start_signal_args=[told],
                static_summary=f"inbox of {self._agent_id}",
            )
        return told.source_id

    async def _find(self) -> WorkflowExecutionDescription | None:
        try:
            return await self._handle.describe()
        except RPCError as error:
            if error.status is RPCStatusCode.NOT_FOUND:
                return None
            with rpc_errors(self._address, job_id=self._workflow_id):
                raise

    async def _ask(self) -> InboxStatus:
        try:
            async with asyncio.timeout(_ANSWER.total_seconds()):
                while (status := await self._answer()) is None:  # noqa: ASYNC110 - nobody tells
                    await asyncio.sleep(_PAUSE_S)
        except TimeoutError as error:
            raise WorkerUnavailableError(
                job_id=self._workflow_id, limit=_ANSWER, again="then"
            ) from error
        return status

    async def _answer(self) -> InboxStatus | None:
        """What it says; None while a workflow task that came to nothing is to be repeated.

        That happens to an inbox in good health, when a signal comes just while it goes on in a new run.
        """
        try:
            status: InboxStatus = await self._handle.query(
                STATUS, result_type=InboxStatus, rpc_timeout=_ANSWER
            )
        except RPCError as error:
            if _is_repeated(error):
                return None
            if error.status in _NO_WORKER:
                raise WorkerUnavailableError(
                    job_id=self._workflow_id, limit=_ANSWER, again="then"
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
