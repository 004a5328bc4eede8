"""Having messages learned from: a conversation's messages are kept, and `IngestMessages` is started."""

from collections.abc import AsyncIterator, Iterator
from itertools import islice

from temporalio.client import WorkflowHandle
from temporalio.common import WorkflowIDConflictPolicy

from mnestic.memory.conversations import Conversation
from mnestic.memory.names import MORE, ingest_workflow_id
from mnestic.memory.resources import Resource
from mnestic.starter.client import MnesticClient
from mnestic.starter.rpc import rpc_errors
from mnestic.workflows.ingest import Ingested, IngestMessages, IngestRequest

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


async def start_ingest(
    client: MnesticClient, *, agent_id: str
) -> WorkflowHandle[IngestMessages, Ingested]:
    """Has an agent's messages learned from; if that is going on, it goes on with the new ones.

    Raises:
        TemporalUnavailableError: Temporal does not answer.
    """
    tenant_id = client.settings.tenant_id
    workflow_id = ingest_workflow_id(tenant_id, agent_id)
    with rpc_errors(client.endpoints.temporal_address, job_id=workflow_id):
        return await client.temporal.start_workflow(
            IngestMessages.run,
            IngestRequest(tenant_id=tenant_id, agent_id=agent_id),
            id=workflow_id,
            task_queue=client.settings.task_queue,
            id_conflict_policy=WorkflowIDConflictPolicy.USE_EXISTING,
            start_signal=MORE,
        )


def _messages(conversation: Conversation, *, channel: str) -> Iterator[Resource]:
    for session in conversation.sessions:
        for turn in session.turns:
            yield Resource(
                session_id=session.id,
                source_id=turn.id,
                channel=channel,
                speaker=turn.speaker,
                content=turn.text,
                at=turn.at,
            )
