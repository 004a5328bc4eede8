"""`ForgetTopic`: removes a topic from the memory of an agent, table by table.

No word of the topic travels with it: the database has them, under the id that the workflow is given, until
the last step leaves the tombstone.
"""

from datetime import timedelta
from types import MappingProxyType

from temporalio import workflow

from mnestic.activities.forgetting.steps import ForgettingActivities, PurgeInput
from mnestic.activities.forgetting.topic_rows import TABLES
from mnestic.memory.forgetting.requests import ForgetRequest, Purged
from mnestic.memory.names import FORGET_TOPIC
from mnestic.workflows.calls import run_activity, run_to_the_end
from mnestic.workflows.handlers import takes_input
from mnestic.workflows.ownership import require_own_tenant

_PASS = timedelta(hours=12)  # all tables, of whatever size
_STEP = timedelta(minutes=30)  # a table
_LOST = timedelta(
    seconds=5
)  # without a heartbeat its worker was killed, and another takes the step
_SHORT = timedelta(minutes=1)
_MOST_PASSES = 10  # then somebody goes on writing about the topic, which is not what was asked for

_STATISTICS = "statistics"  # runs that began before leave them to Postgres
_TOGETHER = "all-tables"  # runs that began before have a step for each table
# Runs that began before pass these over, or reach them through the messages of archived entries, and the claims of facts, alone.
_LATER = MappingProxyType(
    {
        "archived_entry": "archive",
        "category": "categories",
        "summary": "summaries",
        "channel_event": "sharing",
        "lease": "sharing",
        "graph_node": "graph",
        "graph_edge": "graph",
        "document": "documents",
    }
)


@workflow.defn(name=FORGET_TOPIC, sandboxed=False)
@takes_input(ForgetRequest)
class ForgetTopic:
    """Goes through all tables until nothing in them speaks of the topic, and leaves a tombstone."""

    @workflow.run
    async def run(self, params: ForgetRequest) -> Purged:
        """Forgets, and tells what was purged, by table.

        It ends with the tombstone also when it is cancelled: what is gone by then is gone, from the
        planner's statistics too.
        """
        require_own_tenant(params.tenant_id)
        try:
            for _ in range(_MOST_PASSES):
                if not await self._pass(params):
                    break
        finally:
            purged = await run_to_the_end(ForgettingActivities.finish, params, timeout=_SHORT)
            if workflow.patched(_STATISTICS):
                purged = await run_to_the_end(
                    ForgettingActivities.renew_statistics, params, timeout=_STEP, heartbeat=_LOST
                )
        return purged

    async def _pass(self, params: ForgetRequest) -> int:
        """Goes through all tables once; returns how many rows spoke of the topic."""
        if workflow.patched(_TOGETHER):
            purged = await run_activity(
                ForgettingActivities.purge_tables, params, timeout=_PASS, heartbeat=_LOST
            )
            return purged.rows
        rows = 0
        for table in TABLES:
            if table in _LATER and not workflow.patched(_LATER[table]):
                continue
            step = PurgeInput(**params.model_dump(), table=table)
            purged = await run_activity(
                ForgettingActivities.purge, step, timeout=_STEP, heartbeat=_LOST
            )
            rows += purged.rows
        return rows
