"""Having messages learned from: a conversation's messages are kept, and `IngestMessages` is started."""

from collections.abc import AsyncIterator, Iterator
from itertools import islice
from typing import Any

from temporalio.client import WorkflowHandle

from mnestic.activities import ingests
from mnestic.memory.conversations import Conversation
from mnestic.memory.learning import Incoming, Ingested
from mnestic.memory.names import ingest_workflow_id
from mnestic.memory.resources import Resource
from mnestic.starter.client import MnesticClient
from mnestic.starter.rpc import rpc_errors

_BATCH = 500  # messages kept in one transaction


async def receive_conversation(
    client: MnesticClient, conversation: Conversation, *, agent_id: str, channel: str
) -> AsyncIterator[int]:
    """Keeps the messages of a conversation, to be learned from; yields how many of a batch are new.

    A message that is there already is not kept again, so it goes on where it stopped.
    """
    said = _messages(conversation, channel=channel)
    memory = client.memory(agent_id)
    while batch := list(islice(said, _BATCH)):
        yield await memory.learn(batch)


async def start_ingest(client: MnesticClient, *, agent_id: str) -> WorkflowHandle[Any, Ingested]:
    """Has an agent's messages learned from; if that is going on, it goes on with the new ones.

    Raises:
        TemporalUnavailableError: Temporal does not answer.
    """
    tenant_id = client.settings.tenant_id
    with rpc_errors(
        client.endpoints.temporal_address, job_id=ingest_workflow_id(tenant_id, agent_id)
    ):
        return await ingests.start_ingest(
            client.temporal,
            tenant_id=tenant_id,
            agent_id=agent_id,
            task_queue=client.settings.task_queue,
        )


def _messages(conversation: Conversation, *, channel: str) -> Iterator[Incoming]:
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
            yield Incoming(resource=said, kind=turn.kind, came_with=turn.came_with)
