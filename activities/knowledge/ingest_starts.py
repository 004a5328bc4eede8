"""Having messages learned from, by the one `IngestMessages` of their agent.

Every way in ends here: a client, a job and an inbox each say that there is something new, and the workflow's id sees to
it that one of them learns at a time, so that no model is asked twice about one message.
"""

from typing import Any

from temporalio import activity
from temporalio.client import Client, WorkflowHandle
from temporalio.common import WorkflowIDConflictPolicy
from temporalio.service import RPCError

from mnestic.memory.errors import TemporalUnavailableError
from mnestic.memory.knowledge.ingestion import Ingested, IngestRequest
from mnestic.memory.names import INGEST_MESSAGES, MORE, ingest_workflow_id


async def start_ingest(
    temporal: Client, *, tenant_id: str, agent_id: str, task_queue: str, is_more: bool = True
) -> WorkflowHandle[Any, Ingested]:
    """Starts an agent's `IngestMessages`, or tells the one that runs; twice does no harm.

    Without `is_more` the one that runs is left alone: there is nothing that it may not have seen.

    Raises:
        RPCError: Temporal does not answer.
    """
    return await temporal.start_workflow(
        INGEST_MESSAGES,
        IngestRequest(tenant_id=tenant_id, agent_id=agent_id),
        id=ingest_workflow_id(tenant_id, agent_id),
        task_queue=task_queue,
        id_conflict_policy=WorkflowIDConflictPolicy.USE_EXISTING,
        start_signal=MORE if is_more else None,
        result_type=Ingested,
    )


async def start_ingest_here(*, tenant_id: str, agent_id: str) -> None:
    """Does so from an activity, on its task queue; its retry does so again.

    An activity does it because that takes no event of the history of its workflow, and because it
    comes after the commit: whatever is lost in between is made good by the attempt that follows.

    Raises:
        TemporalUnavailableError: Temporal does not answer.
    """
    try:
        await start_ingest(
            activity.client(),
            tenant_id=tenant_id,
            agent_id=agent_id,
            task_queue=activity.info().task_queue,
        )
    except RPCError as error:
        raise TemporalUnavailableError(where="the worker's server", why=error.message) from error
