"""What a job hears and says, received to be learned from.

It stands alone because whatever a job remembers, thinks or is given by a tool comes in the same way, and
because a job never fails over what cannot be learned from.
"""

from datetime import datetime

from temporalio import activity

from mnestic.activities.knowledge.ingest_starts import start_ingest_here
from mnestic.activities.knowledge.receiving import receive
from mnestic.activities.operations import OperationInput
from mnestic.memory.errors import InvalidInputError
from mnestic.memory.knowledge.entries import EntryQuery
from mnestic.memory.knowledge.extraction import TurnKind
from mnestic.memory.knowledge.ingestion import IncomingMessage
from mnestic.memory.knowledge.resources import Resource, check_message
from mnestic.memory.ports import Transaction

CHANNEL = "job"  # of what names none
_LARGEST_BYTES = 262_144  # with any words in it, it can be indexed
_LOOK_BACK = 50  # entries


async def receive_message(
    transaction: Transaction,
    asked: OperationInput,
    content: str,
    *,
    speaker: str,
    at: datetime,
    kind: TurnKind = "message",
    channel: str | None = None,
    part: str = "",
) -> None:
    """Receives a message or a tool's result of a job, in the transaction of its operation.

    Its source id is the operation's key. What cannot be learned from is noted in the audit log.

    Args:
        transaction: The operation's.
        asked: The operation.
        content: What was said.
        speaker: Who said it, or the tool.
        at: When.
        kind: A tool's result belongs to the session's last message.
        channel: Where it came from.
        part: Tells several of one operation apart.
    """
    job_id = asked.operation.job_id
    message = Resource(
        session_id=asked.scope.session_id,
        source_id=asked.operation.key + part,
        channel=channel or CHANNEL,
        speaker=speaker,
        content=content,
        at=at,
    )
    try:
        check_message(message, limit_bytes=_LARGEST_BYTES)
    except InvalidInputError as error:
        transaction.note("learning.skip", message.name, reason=str(error))
        return
    came = IncomingMessage(
        resource=message,
        kind=kind,
        job_id=job_id,
        workflow_run=activity.info().workflow_run_id,
        attached_to=await _last_message(transaction, asked) if kind == "tool_result" else None,
    )
    await receive(transaction, [came], owner=f"{asked.scope.tenant_id}/{asked.scope.agent_id}")


async def start_extraction(asked: OperationInput) -> None:
    """Has what was received learned from, once it is committed."""
    await start_ingest_here(tenant_id=asked.scope.tenant_id, agent_id=asked.scope.agent_id)


async def _last_message(transaction: Transaction, asked: OperationInput) -> str | None:
    """The source id of the session's last message, which is no tool's result."""
    query = EntryQuery(session_id=asked.scope.session_id)
    entries, _ = await transaction.entries.list_entries(query, limit=_LOOK_BACK)
    return next((one.source_id for one in entries if one.parent is None), None)
