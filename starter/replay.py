"""Whether this version's code can go on with a job: it replays the job's history, as a worker would.

It stands alone because a job may have to go on with another build than the one that its history is of.
"""

from typing import Any

from temporalio.client import Client
from temporalio.worker import Replayer

from mnestic.memory.names import AGENT_JOB
from mnestic.workflows.plugin import MnesticPlugin

_LONGEST = 300  # characters of a failure


async def find_obstacle(temporal: Client, workflow_id: str) -> str | None:
    """Why this version's code cannot go on with a workflow; None if it replays its history.

    Raises:
        RPCError: Temporal does not answer, or knows no such workflow.
    """
    handle: Any = temporal.get_workflow_handle(workflow_id)
    found = await handle.describe()
    if found.workflow_type != AGENT_JOB:
        return f"its code, {found.workflow_type}, is not part of this version"
    codec = temporal.data_converter.payload_codec
    replayer = Replayer(workflows=[], plugins=[MnesticPlugin(codec=codec)])
    replayed = await replayer.replay_workflow(
        await handle.fetch_history(), raise_on_replay_failure=False
    )
    failure = replayed.replay_failure
    if failure is None:
        return None
    message = str(failure)
    message = message if len(message) <= _LONGEST else f"{message[:_LONGEST]}…"
    return f"the code of this version does not replay it ({type(failure).__name__}: {message})"
