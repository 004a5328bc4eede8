"""`FlushRecords`: sends an agent's records to the backends that lack them, until they have them."""

from datetime import timedelta

from temporalio import workflow
from temporalio.common import RetryPolicy

from mnestic.activities.jobs.record_flushes import FlushRequest, FlushResult, RecordFlushActivities
from mnestic.memory.jobs.long_term.backends import FLUSH_DELAY
from mnestic.memory.names import FLUSH_RECORDS
from mnestic.workflows.calls import run_activity
from mnestic.workflows.handlers import takes_input
from mnestic.workflows.ownership import require_own_tenant

_STEP = timedelta(minutes=10)
_LOST = timedelta(seconds=5)  # without a heartbeat: its worker was killed, and another goes on
# A backend that is away is asked for as long as it takes, and has all of it soon after it is back.
_UNTIL_IT_ANSWERS = RetryPolicy(
    initial_interval=timedelta(milliseconds=200), maximum_interval=FLUSH_DELAY
)


@workflow.defn(name=FLUSH_RECORDS, sandboxed=False)
@takes_input(FlushRequest)
class FlushRecords:
    """One activity; a worker starts it for each agent with records that a backend lacks, and again for later ones."""

    @workflow.run
    async def run(self, params: FlushRequest) -> FlushResult:
        """Sends the records."""
        require_own_tenant(params.tenant_id)
        return await run_activity(
            RecordFlushActivities.flush,
            params,
            timeout=_STEP,
            heartbeat=_LOST,
            retry=_UNTIL_IT_ANSWERS,
        )
