"""Having messages learned from: a conversation's messages are kept, and `IngestMessages` is started."""

from collections.abc import AsyncIterator, Iterator, Sequence
from itertools import islice
from typing import Any, NamedTuple

from temporalio.client import WorkflowHandle

from mnestic.memory.errors import InvalidInputError
from mnestic.memory.knowledge.conversations import Conversation
from mnestic.memory.knowledge.ingestion import IncomingMessage, Ingested
from mnestic.memory.knowledge.resources import Resource
from mnestic.starter.client.memory_client import MemoryClient
from mnestic.starter.client.mnestic_client import MnesticClient
from mnestic.starter.importers.turns import Refuse, refuse_or_raise
from mnestic.starter.temporal_connection import TemporalConnection

_BATCH = 500  # messages kept in one transaction


class Received(NamedTuple):
    """How many messages a batch had, and how many of them were not there before."""

    messages: int
    new: int


async def receive_conversation(
    client: MnesticClient,
    conversation: Conversation,
    *,
    agent_id: str,
    channel: str,
    refuse: Refuse | None = None,
) -> AsyncIterator[Received]:
    """Keeps the messages of a conversation, to be learned from; tells of each batch once it is kept.

    A message that is there already is not kept again, so it goes on where it stopped.

    Args:
        client: Connected to where they are kept.
        conversation: As it was read.
        agent_id: Who hears it.
        channel: Where it comes from.
        refuse: Is told of each message that the database cannot keep, and the others are kept;
            without it the first is raised.

    Raises:
        InvalidInputError: a message cannot be kept; names it.
    """
    said = _messages(conversation, channel=channel)
    memory = client.memory(agent_id)
    while batch := list(islice(said, _BATCH)):
        yield Received(len(batch), await _keep(memory, batch, refuse))


async def start_ingest(client: MnesticClient, *, agent_id: str) -> WorkflowHandle[Any, Ingested]:
    """Has an agent's messages learned from; if that is going on, it goes on with the new ones.

    Raises:
        TemporalUnavailableError: Temporal does not answer.
    """
    reach = TemporalConnection(
        temporal=client.temporal,
        address=client.endpoints.temporal_address,
        task_queue=client.settings.task_queue,
    )
    return await reach.start_ingest(tenant_id=client.settings.tenant_id, agent_id=agent_id)


async def _keep(
    memory: MemoryClient, batch: Sequence[tuple[str, IncomingMessage]], refuse: Refuse | None
) -> int:
    """Keeps what can be kept of a batch, by halves where something cannot; returns how many are new."""
    try:
        return await memory.ingest([message for _, message in batch])
    except InvalidInputError as error:
        if len(batch) == 1:
            refuse_or_raise(InvalidInputError(what=batch[0][0], why=str(error)), refuse)
            return 0
    middle = len(batch) // 2
    first = await _keep(memory, batch[:middle], refuse)
    return first + await _keep(memory, batch[middle:], refuse)


def _messages(conversation: Conversation, *, channel: str) -> Iterator[tuple[str, IncomingMessage]]:
    """The messages, each with how it is named to a person."""
    for session in conversation.sessions:
        for turn in session.turns:
            said = Resource(
                session_id=session.source_id,
                source_id=turn.source_id,
                channel=channel,
                speaker=turn.speaker,
                content=turn.text,
                at=turn.at,
            )
            message = IncomingMessage(
                resource=said,
                kind=turn.kind,
                entry_type=turn.entry_type,
                attached_to=turn.attached_to,
            )
            yield f"turn {turn.id} of {session.id}", message
