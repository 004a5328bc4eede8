"""Finds workflow tasks that keep failing: no worker can run the code of such a workflow, so it does not continue.

Temporal tells of them in three places: a description has how often it was tried, the history why, and its lists which
workflows they are.
"""

from temporalio.api.common.v1 import WorkflowExecution
from temporalio.api.enums.v1 import EventType, WorkflowTaskFailedCause
from temporalio.api.history.v1 import WorkflowTaskFailedEventAttributes
from temporalio.api.workflowservice.v1 import GetWorkflowExecutionHistoryReverseRequest
from temporalio.client import Client, WorkflowExecutionDescription

from mnestic.memory.names import tenant_prefixes
from mnestic.memory.scope import check_id

_LATEST = 100  # events; after a task that fails there are only signals and results of activities
_CAUSE = "WORKFLOW_TASK_FAILED_CAUSE_"
# The code is not at fault: an event arrived while the task was ending, or somebody reset the workflow.
_HARMLESS = frozenset(
    {
        WorkflowTaskFailedCause.WORKFLOW_TASK_FAILED_CAUSE_UNHANDLED_COMMAND,
        WorkflowTaskFailedCause.WORKFLOW_TASK_FAILED_CAUSE_RESET_WORKFLOW,
    }
)


async def find_failing_task(
    temporal: Client, execution: WorkflowExecutionDescription
) -> str | None:
    """The number of failures of a workflow's task and the kind of the last one; None if it does not fail.

    The failure's message is left out, as it may quote memory.
    """
    attempt = execution.raw_description.pending_workflow_task.attempt
    if attempt <= 1:
        return None
    request = GetWorkflowExecutionHistoryReverseRequest(
        namespace=temporal.namespace,
        execution=WorkflowExecution(workflow_id=execution.id, run_id=execution.run_id),
        maximum_page_size=_LATEST,
    )
    answer = await temporal.workflow_service.get_workflow_execution_history_reverse(request)
    for event in answer.history.events:
        if event.event_type == EventType.EVENT_TYPE_WORKFLOW_TASK_COMPLETED:
            return None
        if event.HasField("workflow_task_failed_event_attributes"):
            failed = event.workflow_task_failed_event_attributes
            return None if failed.cause in _HARMLESS else _line(failed, attempt=attempt)
    return None


async def count_failing_workflows(temporal: Client, *, tenant_id: str) -> int:
    """How many running workflows of a tenant have a task that has failed several times in a row.

    Temporal's server counts a workflow from the fifth failure on, which is within a minute.

    Raises:
        RPCError: the server is too old to count them.
    """
    prefixes = tenant_prefixes(check_id(tenant_id, what="tenant"))
    ours = " OR ".join(f"WorkflowId STARTS_WITH '{prefix}'" for prefix in prefixes)
    query = f"ExecutionStatus = 'Running' AND TemporalReportedProblems IS NOT NULL AND ({ours})"
    return (await temporal.count_workflows(query)).count


def _line(failed: WorkflowTaskFailedEventAttributes, *, attempt: int) -> str:
    cause = WorkflowTaskFailedCause.Name(failed.cause).removeprefix(_CAUSE).lower()
    kind = failed.failure.application_failure_info.type
    why = f"{kind} ({cause})" if kind else cause
    return f"workflow task, attempt {attempt}: {why}; a mended worker goes on with it"
