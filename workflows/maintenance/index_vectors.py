"""`IndexVectors`: builds the vector index of an agent's memory, soon after that has grown past the size.

The night does the same, and drops those that are not worth their place any more.
"""

from datetime import timedelta

from temporalio import workflow

from mnestic.activities.maintenance.steps import MaintenanceActivities, MaintenanceStep, StepResult
from mnestic.memory.names import INDEX_VECTORS
from mnestic.workflows.calls import run_activity
from mnestic.workflows.handlers import takes_input
from mnestic.workflows.ownership import require_own_tenant

_STEP = timedelta(hours=6)
_LOST = timedelta(
    seconds=10
)  # without a heartbeat its worker was killed, and another takes the step


@workflow.defn(name=INDEX_VECTORS, sandboxed=False)
@takes_input(MaintenanceStep)
class IndexVectors:
    """One activity on the task queue of maintenance; `IngestMessages` starts it, once an agent."""

    @workflow.run
    async def run(self, params: MaintenanceStep) -> StepResult:
        """Builds the index, and those of the agent's collections."""
        require_own_tenant(params.tenant_id)
        return await run_activity(
            MaintenanceActivities.index, params, timeout=_STEP, heartbeat=_LOST
        )
