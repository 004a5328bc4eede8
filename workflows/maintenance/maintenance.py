"""`Maintenance`: one kind of maintenance for the agents of a tenant, in batches, and its report."""

from collections import Counter
from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import Any

from temporalio import workflow
from temporalio.common import SearchAttributeKey

from mnestic.activities.maintenance.backups import BackupActivities
from mnestic.activities.maintenance.integrity import IntegrityActivities
from mnestic.activities.maintenance.period_summary_steps import PeriodSummaryActivities
from mnestic.activities.maintenance.reembedding import ReembedActivities
from mnestic.activities.maintenance.steps import (
    MaintenanceActivities,
    MaintenanceFinished,
    MaintenanceStep,
    StepResult,
)
from mnestic.activities.maintenance.summaries import SummaryActivities
from mnestic.activities.maintenance.vacuum import VacuumActivities
from mnestic.memory.errors import InvalidInputError
from mnestic.memory.maintenance.reports import (
    MaintenanceProgress,
    MaintenanceReport,
    MaintenanceRequest,
    is_future,
)
from mnestic.memory.names import MAINTENANCE, PROGRESS
from mnestic.workflows.calls import run_activity
from mnestic.workflows.handlers import answer_query, takes_input
from mnestic.workflows.ownership import require_own_tenant

_STEP = timedelta(hours=6)  # a batch of agents, however large their memories
_LOST = timedelta(
    seconds=10
)  # without a heartbeat its worker was killed, and another takes the step
_SHORT = timedelta(minutes=1)
_MOST_PROBLEMS = 200  # of a report; each may be one agent's, and counts say how many there were
_PERIOD_SUMMARIES = "period summaries"  # runs that began before build none
_DRY_RUN = (
    "dry run counts"  # dry runs that began before count no indexes, and no summaries of a model
)
_INDEXES_ONE = "index of one agent"  # runs for one agent that began before build no index
_INTEGRITY = "integrity"  # nights that began before check nothing
_REFUSES_FUTURE = "no future"  # a run for the future that began before goes on
_SCHEDULED = SearchAttributeKey.for_datetime("TemporalScheduledStartTime")


@workflow.defn(name=MAINTENANCE, sandboxed=False)
@takes_input(MaintenanceRequest)
class Maintenance:
    """Maintains the agents of a tenant, batch by batch; its result is the report.

    The time for which it was scheduled decides what has expired and what is old enough, so a backfilled run decides as it
    would have done then. One for the future fails, and changes nothing.
    """

    @workflow.run
    async def run(self, params: MaintenanceRequest) -> MaintenanceReport:
        """Maintains, and keeps the report."""
        require_own_tenant(params.tenant_id)
        params = _begun(params)
        self._counted = params
        answer_query(PROGRESS, self.progress)
        if params.kind == "backup":
            params, _ = _with_result(params, await _run(BackupActivities.back_up, params))
        else:
            params = await self._maintain(params)
        self._counted = params
        finished = MaintenanceFinished(tenant_id=params.tenant_id, report=_report(params))
        report = await run_activity(MaintenanceActivities.finish, finished, timeout=_SHORT)
        workflow.set_current_details(_details(params, report=report))
        return report

    def progress(self) -> MaintenanceProgress:
        """How far the run is, up to the last step that has ended."""
        return MaintenanceProgress(agents=self._counted.agents, counts=self._counted.counts)

    async def _maintain(self, params: MaintenanceRequest) -> MaintenanceRequest:
        """Maintains agents, and what concerns all; returns the request with what was counted."""
        if params.stage == "agents":
            params = await self._in_batches(MaintenanceActivities.maintain, params)
        indexes = params.kind in {"nightly", "monthly"}
        is_counted = indexes and (not params.dry_run or workflow.patched(_DRY_RUN))
        if params.kind == "nightly" and is_counted:
            params, _ = _with_result(params, await _run(SummaryActivities.summarise, params))
        if params.kind == "nightly" and workflow.patched(_PERIOD_SUMMARIES):
            result = await _run(PeriodSummaryActivities.summarise, params)
            params, _ = _with_result(params, result)
        if params.kind == "monthly":
            params = params.model_copy(update={"stage": "embeddings"})
            params = await self._in_batches(ReembedActivities.reembed, params)
        if is_counted and (params.agent_id is None or workflow.patched(_INDEXES_ONE)):
            params, _ = _with_result(params, await _run(MaintenanceActivities.index, params))
        is_night = params.kind == "nightly" and params.agent_id is None and not params.dry_run
        if is_night and workflow.patched(_INTEGRITY):
            params, _ = _with_result(params, await _run(IntegrityActivities.check, params))
        if params.kind == "monthly" and params.agent_id is None:
            params, _ = _with_result(params, await _run(VacuumActivities.vacuum, params))
        return params

    async def _in_batches(
        self,
        method: Callable[[Any, MaintenanceStep], Awaitable[StepResult]],
        params: MaintenanceRequest,
    ) -> MaintenanceRequest:
        """Runs an activity for one batch of agents after the other; returns the request with what was counted."""
        while True:
            params, is_last = _with_result(params, await _run(method, params))
            self._counted = params
            workflow.set_current_details(_details(params))
            if is_last:
                return params
            if workflow.info().is_continue_as_new_suggested():
                workflow.continue_as_new(params)


async def _run(
    method: Callable[[Any, MaintenanceStep], Awaitable[StepResult]], params: MaintenanceRequest
) -> StepResult:
    return await run_activity(method, _step(params), timeout=_STEP, heartbeat=_LOST)


def _begun(params: MaintenanceRequest) -> MaintenanceRequest:
    """The request with the times of the run, which a Schedule or this first run decides.

    Raises:
        InvalidInputError: it is for the future, where memory would be lost before its time; the workflow fails by it.
    """
    if params.started_at is not None:
        return params
    started = workflow.info().start_time
    scheduled = workflow.info().typed_search_attributes.get(_SCHEDULED)
    at = params.scheduled_at or scheduled or started
    if is_future(at, now=started) and workflow.patched(_REFUSES_FUTURE):
        why = (
            f"is scheduled for {at:%Y-%m-%d %H:%M %Z}, which is in the future; nothing was changed"
        )
        raise InvalidInputError(what=f"{params.kind} maintenance", why=why)
    return params.model_copy(update={"started_at": started, "scheduled_at": at})


def _step(params: MaintenanceRequest) -> MaintenanceStep:
    return MaintenanceStep.model_validate(params.model_dump())


def _with_result(params: MaintenanceRequest, result: StepResult) -> tuple[MaintenanceRequest, bool]:
    """The request with what a step has counted, and whether that was the last batch."""
    counted = params.model_copy(
        update={
            "after": result.after,
            "dry_run": params.dry_run or result.dry_run,
            "agents": params.agents + result.agents,
            "counts": dict(Counter(params.counts) + Counter(result.counts)),
            "problems": (*params.problems, *result.problems)[:_MOST_PROBLEMS],
        }
    )
    return counted, result.after is None


def _report(params: MaintenanceRequest) -> MaintenanceReport:
    assert params.started_at is not None
    assert params.scheduled_at is not None
    return MaintenanceReport(
        id=workflow.info().workflow_id.partition("/")[2].partition("/")[2],
        kind=params.kind,
        agent_id=params.agent_id,
        dry_run=params.dry_run,
        scheduled_at=params.scheduled_at,
        started_at=params.started_at,
        finished_at=workflow.now(),
        agents=params.agents,
        counts=params.counts,
        problems=params.problems,
    )


def _details(params: MaintenanceRequest, *, report: MaintenanceReport | None = None) -> str:
    """What the Temporal UI shows of the run."""
    state = "Done" if report else "Running"
    of = "" if params.kind == "backup" else f", {params.agents} agents"
    title = f"**{state}**: {params.kind}{', dry run' if params.dry_run else ''}{of}"
    calls = [f"- {report.usage}"] if report and report.usage.calls else []
    counts = [f"- {name.replace('_', ' ')}: {number}" for name, number in params.counts.items()]
    problems = [f"- problem: {problem}" for problem in params.problems]
    return "\n".join([title, "", *counts, *calls, *problems])
