"""`python crashing_worker.py POINT [PASSING]`: a worker that is killed at a point of its work.

It is the product's worker, built as `worker.py` builds it. What kills it is here alone: interceptors,
and a look at the database's commits.
"""

import asyncio
import os
import signal
import sys
from collections.abc import Sequence
from typing import Any

from psycopg import AsyncConnection
from temporalio import activity, workflow
from temporalio.worker import (
    ActivityInboundInterceptor,
    ContinueAsNewInput,
    ExecuteActivityInput,
    ExecuteWorkflowInput,
    Interceptor,
    StartLocalActivityInput,
    WorkflowInboundInterceptor,
    WorkflowInterceptorClassInput,
    WorkflowOutboundInterceptor,
)

from mnestic.activities.clients.local import LocalChatModel, LocalSummariser
from mnestic.starter.maintenance_wiring import maintenance_activities, make_maintenance_worker
from mnestic.starter.memory_wiring import find_database
from mnestic.starter.settings import load_settings
from mnestic.starter.wiring import connect_temporal, find_endpoints, open_memory
from mnestic.stores.postgres import connections
from mnestic.stores.postgres import unit_of_work as unit
from mnestic.stores.postgres.queries import Query
from mnestic.worker import activities_of, make_worker

POINT = sys.argv[1]
PASSING = int(sys.argv[2]) if len(sys.argv) > 2 else 1

BEFORE_COMMIT = {
    "before_snapshot_commit": "mnestic.open_wait",
    "during_restore_before_commit": "mnestic.restore",
    "before_remember_commit": "mnestic.remember",
    "before_purge_commit": "mnestic.purge_tables",
    "before_summary_commit": "mnestic.summarise_periods",
    "before_reembed_commit": "mnestic.reembed_entries",
}
AFTER_COMMIT = {
    "after_snapshot_commit": "mnestic.open_wait",
    "after_restore_commit": "mnestic.restore",
    "after_remember_commit_before_completion": "mnestic.remember",
    "after_call_commit": "mnestic.remember",
    "after_purge_commit": "mnestic.purge_tables",
    "after_tool_commit": "mnestic.read_session",
    "after_summaries": "mnestic.summarise_periods",
    "after_reembed": "mnestic.reembed_entries",
}
BEFORE_TASK_COMPLETION = {
    "after_open_before_wait": "mnestic.open_wait",
    "after_restore_before_task_completion": "mnestic.restore",
    "after_call_before_task_completion": "mnestic.remember",
}
# Of the transaction that maintains an agent.
MAINTENANCE = ("before_maintenance_entry", "before_maintenance_commit", "after_maintenance_commit")
POINTS = {
    *BEFORE_COMMIT,
    *MAINTENANCE,
    *AFTER_COMMIT,
    *BEFORE_TASK_COMPLETION,
    "before_continue_as_new",
    "after_the_new_run_began",
    "never",
}
passed = 0


def come_to(point: str) -> None:
    """Ends this process at once if it is the point, passed for the n-th time."""
    global passed  # noqa: PLW0603 - a process has one point
    if point != POINT:
        return
    passed += 1
    if passed == PASSING:
        os.kill(os.getpid(), signal.SIGKILL)


async def run_together(
    connection: AsyncConnection[Any], queries: Sequence[Query], *, opening: Sequence[Query] = ()
) -> list[list[Any]]:
    """As the store's own, but a transaction's last statements have run before it is committed."""
    before_entry, before_commit, after_commit = MAINTENANCE
    if is_maintained("INSERT INTO mnestic.operation", queries):
        come_to(before_entry)
    if not queries or queries[-1][0] != "COMMIT":
        return await connections.run_together(connection, queries, opening=opening)
    rows = []
    if opening or queries[:-1]:
        rows = await connections.run_together(connection, queries[:-1], opening=opening)
    is_last = is_maintained("UPDATE mnestic.operation", queries)
    if is_last:
        come_to(before_commit)
    on_commit()
    committed = await connections.run_together(connection, queries[-1:])
    if is_last:
        come_to(after_commit)
    return [*rows, *committed]


def is_maintained(statement: str, queries: Sequence[Query]) -> bool:
    """Whether one of the queries is such a statement, on the ledger row of an agent that is maintained."""
    is_maintenance = (
        activity.in_activity() and activity.info().activity_type == "mnestic.maintain_agents"
    )
    return is_maintenance and any(statement in text for text, _ in queries)


def on_commit() -> None:
    """A transaction is about to be committed."""
    running = activity.info().activity_type if activity.in_activity() else None
    for point, name in BEFORE_COMMIT.items():
        if name == running:
            come_to(point)


class Activities(ActivityInboundInterceptor):
    """Comes by when an activity has committed and its completion is still to be told."""

    async def execute_activity(self, input: ExecuteActivityInput) -> Any:  # noqa: A002 - Temporal's
        result = await super().execute_activity(input)
        for point, name in AFTER_COMMIT.items():
            if name == activity.info().activity_type:
                come_to(point)
        return result


class Calls(WorkflowOutboundInterceptor):
    """Comes by when a workflow has the result of a local activity, and when it goes on as new."""

    def start_local_activity(self, input: StartLocalActivityInput) -> Any:  # noqa: A002
        handle = super().start_local_activity(input)
        for point, name in BEFORE_TASK_COMPLETION.items():
            if name == input.activity:
                handle.add_done_callback(lambda _, point=point: come_to(point))
        return handle

    def continue_as_new(self, input: ContinueAsNewInput) -> Any:  # noqa: A002
        come_to("before_continue_as_new")
        super().continue_as_new(input)


class Workflows(WorkflowInboundInterceptor):
    """Comes by when a run begins that another one went on as."""

    def init(self, outbound: WorkflowOutboundInterceptor) -> None:
        super().init(Calls(outbound))

    async def execute_workflow(self, input: ExecuteWorkflowInput) -> Any:  # noqa: A002
        if workflow.info().continued_run_id:
            come_to("after_the_new_run_began")
        return await super().execute_workflow(input)


class Killer(Interceptor):
    """Everything that passes the points."""

    def intercept_activity(self, next: ActivityInboundInterceptor) -> Activities:  # noqa: A002
        return Activities(next)

    def workflow_interceptor_class(self, _: WorkflowInterceptorClassInput) -> type[Workflows]:
        return Workflows


async def main() -> None:
    assert POINT in POINTS, f"there is no point {POINT}"
    settings = load_settings()
    endpoints = find_endpoints(settings)
    memory = open_memory(endpoints)
    unit.run_together = run_together
    client = await connect_temporal(endpoints)
    activities = activities_of(memory, model=LocalChatModel(), summariser=LocalSummariser())
    worker = make_worker(client, settings, activities=activities, interceptors=[Killer()])
    _, admin_url = find_database(settings)
    maintained = maintenance_activities(memory, admin_url=admin_url.get_secret_value())
    maintenance = make_maintenance_worker(
        client, settings, activities=maintained, interceptors=[Killer()]
    )
    async with worker, maintenance:
        await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(main())
