"""Ingests a conversation: stores its messages and starts `IngestMessages`."""

from collections.abc import AsyncIterator, Iterator, Sequence
from itertools import islice
from typing import Any, NamedTuple

from temporalio.client import WorkflowHandle

from mnestic.memory.errors import InvalidInputError
from mnestic.memory.knowledge.ingestion import IncomingMessage, Ingested
from mnestic.memory.knowledge.resources import Resource
from mnestic.starter.client.memory_client import MemoryClient
from mnestic.starter.client.mnestic_client import MnesticClient
from mnestic.starter.importers.turns import Conversation, Refuse, refuse_or_raise
from mnestic.starter.temporal_connection import TemporalConnection

_BATCH = 500  # messages stored in one transaction


class ReceivedBatch(NamedTuple):
    """The number of messages in a batch, and how many of them were new."""

    messages: int
    new: int


async def receive_conversation(
    client: MnesticClient,
    conversation: Conversation,
    *,
    agent_id: str,
    channel: str,
    readers: Sequence[str] | None = None,
    refuse: Refuse | None = None,
    actor: str = "client",
) -> AsyncIterator[ReceivedBatch]:
    """Stores the messages of a conversation for extraction; yields each batch once it is stored.

    A message that is stored already is not stored again, so a repeated call continues where it stopped.

    Args:
        client: Connected to the agent's memory.
        conversation: As it was read.
        agent_id: The agent that gets the messages.
        channel: The channel of the messages.
        readers: Who alone may read those that name no readers.
        refuse: Called with each message that the database cannot store, while the others are stored;
            without it the first is raised.
        actor: Who stores them, for the audit log.

    Raises:
        InvalidInputError: a message cannot be stored; names it.
    """
    messages = _messages(conversation, channel=channel, readers=readers)
    memory = client.memory(agent_id, actor=actor)
    while batch := list(islice(messages, _BATCH)):
        yield ReceivedBatch(len(batch), await store_batch(memory, batch, refuse))


async def start_ingest(client: MnesticClient, *, agent_id: str) -> WorkflowHandle[Any, Ingested]:
    """Starts extraction from an agent's messages; a running extraction continues with the new ones.

    Raises:
        TemporalUnavailableError: Temporal does not answer.
    """
    connection = TemporalConnection(
        temporal=client.temporal,
        address=client.endpoints.temporal_address,
        task_queue=client.settings.task_queue,
    )
    return await connection.start_ingest(tenant_id=client.settings.tenant_id, agent_id=agent_id)


async def store_batch(
    memory: MemoryClient, batch: Sequence[tuple[str, IncomingMessage]], refuse: Refuse | None
) -> int:
    """Stores a batch, halving it to isolate messages that cannot be stored; returns how many are new.

    Args:
        memory: Of the agent that gets them.
        batch: Messages, each with the name that errors give it.
        refuse: Called with each message that cannot be stored; without it the first is raised.

    Raises:
        InvalidInputError: a message cannot be stored; names it.
    """
    try:
        return await memory.ingest([message for _, message in batch])
    except InvalidInputError as error:
        if len(batch) == 1:
            refuse_or_raise(InvalidInputError(what=batch[0][0], why=str(error)), refuse)
            return 0
    middle = len(batch) // 2
    stored_first = await store_batch(memory, batch[:middle], refuse)
    return stored_first + await store_batch(memory, batch[middle:], refuse)


def _messages(
    conversation: Conversation, *, channel: str, readers: Sequence[str] | None
) -> Iterator[tuple[str, IncomingMessage]]:
    """The messages, each with the name that errors give it."""
    for session in conversation.sessions:
        for turn in session.turns:
            resource = Resource(
                session_id=session.source_id,
                source_id=turn.source_id,
                channel=channel,
                speaker=turn.speaker,
                content=turn.text,
                at=turn.at,
                readers=readers if turn.readers is None else turn.readers,
            )
            message = IncomingMessage(
                resource=resource,
                kind=turn.kind,
                entry_type=turn.entry_type,
                attached_to=turn.attached_to,
            )
            yield f"turn {turn.id} of {session.id}", message
