"""Turns Temporal's history of a job into entries of a timeline.

Pure, so that tests read every recorded history. An entry has no texts of memory, only ids,
names, counts, durations and short causes.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from pydantic import ValidationError
from temporalio.api.enums.v1 import TimeoutType, WorkflowTaskFailedCause
from temporalio.api.history.v1 import HistoryEvent

from mnestic.memory.jobs.agent_job import JobInput
from mnestic.memory.jobs.timeline import TimelineEntry, TimelineEventKind
from mnestic.memory.names import JOB_HEADER
from mnestic.starter.jobs.history_payloads import (
    at_of,
    cause_of,
    fields_of,
    request_fields,
    summary_of,
    value_of,
)
from mnestic.starter.jobs.plan_walk import PlanWalk
from mnestic.starter.jobs.steps import Attempts, Steps
from mnestic.starter.short_texts import shortened

WAIT_DEADLINE = "WaitDeadline"  # the search attribute
_LOCAL_ACTIVITY = "core_local_activity"
_RESET = WorkflowTaskFailedCause.WORKFLOW_TASK_FAILED_CAUSE_RESET_WORKFLOW
_NO_ANSWER = TimeoutType.TIMEOUT_TYPE_START_TO_CLOSE


def entries_of(
    runs: Iterable[Iterable[HistoryEvent]], *, pending: Mapping[str, Attempts] | None = None
) -> tuple[TimelineEntry, ...]:
    """The entries of a job.

    Args:
        runs: The events of each run of the job, the first run first.
        pending: The activities of the last run that have not ended, by their ids.
    """
    reader = _Reader()
    for events in runs:
        for event in events:
            reader.read(event)
    return reader.end(pending or {})


class _Reader:
    """Reads events in order; the handler of an event is `_on_` and the name of its attributes."""

    def __init__(self) -> None:
        self._entries: list[TimelineEntry | None] = []
        self._steps = Steps(self._entries)
        self._timers: dict[str, dict[str, Any]] = {}
        self._updates: dict[int, dict[str, Any]] = {}

    def read(self, event: HistoryEvent) -> None:
        """Reads one event; events without a handler are skipped."""
        attributes = event.WhichOneof("attributes") or ""
        handler = getattr(self, f"_on_{attributes.removesuffix('_event_attributes')}", None)
        if handler is not None:
            handler(event, getattr(event, attributes))

    def end(self, pending: Mapping[str, Attempts]) -> tuple[TimelineEntry, ...]:
        """All entries; running activities are entries with the state `running`."""
        self._steps.end(pending)
        return tuple(entry for entry in self._entries if entry is not None)

    def _append(self, event: HistoryEvent, what: TimelineEventKind, **detail: Any) -> None:
        self._entries.append(TimelineEntry(at=at_of(event), what=what, detail=detail))

    def _on_workflow_execution_started(self, event: HistoryEvent, started: Any) -> None:
        self._timers, self._updates = {}, {}
        job_input = _job_of(value_of(started.input.payloads))
        progress = job_input.progress if job_input else None
        cursor = progress.cursor if progress else None
        self._steps.begin(PlanWalk(job_input.plan, cursor) if job_input else None)
        if started.continued_execution_run_id:
            self._append(event, "continued", epoch=progress.memory.epoch if progress else None)
        elif job_input is None:
            self._append(event, "started", by=started.identity)
        else:
            self._append(
                event,
                "started",
                plan=job_input.plan.name,
                agent=job_input.scope.agent_id,
                session=job_input.scope.session_id,
                by=started.identity,
                forked_from=job_input.origin.wait_id if job_input.origin else None,
            )

    def _on_activity_task_scheduled(self, event: HistoryEvent, _: Any) -> None:
        self._steps.scheduled(event)

    def _on_activity_task_started(self, event: HistoryEvent, _: Any) -> None:
        self._steps.attempted(event)

    def _on_activity_task_completed(self, event: HistoryEvent, _: Any) -> None:
        self._steps.completed(event)

    def _on_activity_task_failed(self, event: HistoryEvent, failed: Any) -> None:
        self._steps.failed(event, failed.scheduled_event_id, failed.failure)

    def _on_activity_task_timed_out(self, event: HistoryEvent, failed: Any) -> None:
        self._steps.failed(event, failed.scheduled_event_id, failed.failure)

    def _on_activity_task_canceled(self, event: HistoryEvent, _: Any) -> None:
        self._steps.cancelled(event)

    def _on_marker_recorded(self, event: HistoryEvent, marker: Any) -> None:
        if marker.marker_name == _LOCAL_ACTIVITY:
            self._steps.marked(event, marker)

    def _on_upsert_workflow_search_attributes(self, _: HistoryEvent, upserted: Any) -> None:
        deadline = value_of([upserted.search_attributes.indexed_fields[WAIT_DEADLINE]])
        if isinstance(deadline, str):
            self._steps.set_deadline(deadline)

    def _on_workflow_properties_modified(self, _: HistoryEvent, modified: Any) -> None:
        header = fields_of(value_of([modified.upserted_memo.fields[JOB_HEADER]]))
        if header.get("attention") and isinstance(header.get("request_id"), str):
            self._steps.note_attention_request(shortened(header["request_id"]))

    def _on_workflow_execution_signaled(self, event: HistoryEvent, signal: Any) -> None:
        fields = request_fields(signal.signal_name, value_of(signal.input.payloads))
        self._append(event, "requested", **fields, via="signal", identity=signal.identity)

    def _on_workflow_execution_update_accepted(self, event: HistoryEvent, accepted: Any) -> None:
        request = accepted.accepted_request
        fields = request_fields(request.input.name, value_of(request.input.args.payloads))
        self._updates[event.event_id] = fields
        self._append(event, "requested", **fields, via="update", identity=request.meta.identity)

    def _on_workflow_execution_update_completed(self, event: HistoryEvent, done: Any) -> None:
        fields = self._updates.pop(done.accepted_event_id, {})
        if done.outcome.HasField("failure"):
            self._append(event, "refused", **fields, cause=cause_of(done.outcome.failure))

    def _on_workflow_execution_update_rejected(self, event: HistoryEvent, rejected: Any) -> None:
        request = rejected.rejected_request.input
        fields = request_fields(request.name, value_of(request.args.payloads))
        self._append(event, "refused", **fields, cause=cause_of(rejected.failure))

    def _on_timer_started(self, event: HistoryEvent, timer: Any) -> None:
        after_s = timer.start_to_fire_timeout.ToTimedelta().total_seconds()
        self._timers[timer.timer_id] = {"key": summary_of(event), "after_s": after_s}

    def _on_timer_fired(self, event: HistoryEvent, fired: Any) -> None:
        self._append(event, "timer_fired", **self._timers.pop(fired.timer_id, {}))

    def _on_workflow_execution_cancel_requested(self, event: HistoryEvent, request: Any) -> None:
        self._append(
            event, "cancel_requested", by=request.identity, reason=shortened(request.cause)
        )

    def _on_workflow_task_failed(self, event: HistoryEvent, failed: Any) -> None:
        if failed.cause == _RESET:
            self._append(event, "reset", cause=cause_of(failed.failure))
        elif failed.HasField("failure"):
            self._append(event, "stuck", cause=cause_of(failed.failure), by=failed.identity)

    def _on_workflow_task_timed_out(self, event: HistoryEvent, timed_out: Any) -> None:
        if timed_out.timeout_type == _NO_ANSWER:
            self._append(event, "worker_lost")

    def _on_workflow_execution_time_skipping_transitioned(
        self, event: HistoryEvent, moved: Any
    ) -> None:
        if moved.HasField("target_time"):
            by = moved.target_time.ToDatetime() - event.event_time.ToDatetime()
            self._append(event, "clock_moved", by_s=by.total_seconds())

    def _on_workflow_execution_completed(self, event: HistoryEvent, completed: Any) -> None:
        waits = fields_of(value_of(completed.result.payloads)).get("waits")
        self._ended(event, "completed", waits=waits)

    def _on_workflow_execution_failed(self, event: HistoryEvent, failed: Any) -> None:
        message = failed.failure.message  # names the node
        self._ended(event, "failed", cause=shortened(message) or cause_of(failed.failure))

    def _on_workflow_execution_canceled(self, event: HistoryEvent, _: Any) -> None:
        self._ended(event, "cancelled")

    def _on_workflow_execution_terminated(self, event: HistoryEvent, ended: Any) -> None:
        self._ended(event, "terminated", cause=shortened(ended.reason), by=ended.identity)

    def _on_workflow_execution_timed_out(self, event: HistoryEvent, _: Any) -> None:
        self._ended(event, "timed_out")

    def _ended(self, event: HistoryEvent, outcome: str, **detail: Any) -> None:
        ending = self._steps.ending
        ending = {name: ending[name] for name in ("episode_id", "operations") if name in ending}
        self._append(event, "ended", outcome=outcome, **detail, **ending)


def _job_of(value: Any) -> JobInput | None:
    """The input of a run of `AgentJob`; None for a user's own workflow."""
    try:
        return JobInput.model_validate(value)
    except ValidationError:
        return None
