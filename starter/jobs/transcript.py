"""A job's transcript: its timeline, with the texts that Temporal's history and memory have.

The timeline leaves all texts out, so that it can be shown to anybody.
"""

from collections.abc import Iterable, Iterator
from typing import Any

from pydantic import ValidationError
from temporalio.api.history.v1 import HistoryEvent
from temporalio.client import Client

from mnestic.activities.operations import OperationInput
from mnestic.memory.errors import NotFoundError
from mnestic.memory.jobs.tool_results import find_reference
from mnestic.memory.jobs.transcripts import JobTexts, JobTranscript, Prompt, place_of, transcript_of
from mnestic.memory.jobs.working_memory import Message, ToolCall, WorkingMemory
from mnestic.memory.operations import LedgerEntry, Operation
from mnestic.memory.ports import Memory, Transaction
from mnestic.memory.scope import Scope
from mnestic.starter.jobs.history import JobRecord, read_job
from mnestic.starter.jobs.history_payloads import fields_of, value_of
from mnestic.starter.pagination import list_all

_THINK = "mnestic.think"


async def job_transcript(
    temporal: Client, *, job_id: str, tenant_id: str, memory: Memory
) -> JobTranscript:
    """The transcript of a job; see `MnesticClient.job_transcript`."""
    record = await read_job(temporal, job_id=job_id, tenant_id=tenant_id, memory=memory)
    session_id = _session_of(record)
    async with memory.transaction(
        tenant_id=tenant_id, agent_id=record.agent_id, actor="client", write=False
    ) as transaction:
        state = await transaction.working.load(session_id) if session_id else WorkingMemory()
        operations = await list_all(transaction.list_operations, job_id)
        tools = [
            await _whole(transaction, call) for call in state.tool_calls if _is_of(call, job_id)
        ]
    scope = (
        None
        if not session_id
        else Scope(tenant_id=tenant_id, agent_id=record.agent_id, session_id=session_id)
    )
    events = [event for run in record.runs for event in run]
    texts = JobTexts(
        prompts=dict(_prompts(events)),
        payloads=dict(_payloads(events)) | dict(_stored_payloads(record)),
        messages=dict(_messages(state, operations, scope=scope)),
        tools={"/".join(map(str, place_of(call.id) or ())): call for call in tools},
    )
    return transcript_of(
        record.timeline, texts, session_id=session_id, waits=record.waits, episodes=record.episodes
    )


def _session_of(record: JobRecord) -> str:
    """The session of a job; empty if it has written nothing and Temporal no longer has it."""
    started = (entry.detail.get("session") for entry in record.timeline.entries)
    waited = (wait.scope.session_id for wait in record.waits)
    from_episodes = (episode.session_id for episode in record.episodes)
    return next((name for names in (started, waited, from_episodes) for name in names if name), "")


def _is_of(call: ToolCall, job_id: str) -> bool:
    place = place_of(call.id)
    return place is not None and place[0] == job_id


async def _whole(transaction: Transaction, call: ToolCall) -> ToolCall:
    """The call with its result, which may be stored apart."""
    reference = find_reference(call.result)
    if reference is None:
        return call
    try:
        return call.model_copy(update={"result": await transaction.tool_results.get(reference)})
    except NotFoundError:
        return call  # it was removed; the reference has its size


def _prompts(events: Iterable[HistoryEvent]) -> Iterator[tuple[str, Prompt]]:
    """The prompts of model calls, by operation."""
    for event in events:
        if not event.HasField("activity_task_scheduled_event_attributes"):
            continue
        scheduled = event.activity_task_scheduled_event_attributes
        if scheduled.activity_type.name != _THINK:
            continue
        activity_input = fields_of(value_of(scheduled.input.payloads))
        key = fields_of(activity_input.get("operation")).get("key")
        try:
            yield str(key), Prompt.model_validate(activity_input)
        except ValidationError:
            continue  # of a version with another input


def _payloads(events: Iterable[HistoryEvent]) -> Iterator[tuple[str, Any]]:
    """The payloads of resumes, by request."""
    for event in events:
        if event.HasField("workflow_execution_signaled_event_attributes"):
            payloads = event.workflow_execution_signaled_event_attributes.input.payloads
        elif event.HasField("workflow_execution_update_accepted_event_attributes"):
            accepted = event.workflow_execution_update_accepted_event_attributes
            payloads = accepted.accepted_request.input.args.payloads
        else:
            continue
        activity_input = fields_of(value_of(payloads))
        if isinstance(activity_input.get("request_id"), str):
            yield activity_input["request_id"], activity_input.get("payload")


def _stored_payloads(record: JobRecord) -> Iterator[tuple[str, Any]]:
    """The payloads of resumes that a later wait has stored."""
    for wait, later in zip(record.waits, record.waits[1:], strict=False):
        result = fields_of(later.context.payload_results.get(wait.context.cursor_node))
        if wait.receipt is not None and "payload" in result:
            yield wait.receipt.request_id, result["payload"]


def _messages(
    state: WorkingMemory, operations: Iterable[LedgerEntry], *, scope: Scope | None
) -> Iterator[tuple[str, Message]]:
    """The messages that the job wrote, by operation."""
    if scope is None:
        return
    by_id = {message.id: message for message in state.messages}
    for done in operations:
        operation = Operation(key=done.key, name=done.name)
        made = OperationInput(scope=scope, operation=operation).new_id("message")
        if made in by_id:
            yield done.key, by_id[made]
