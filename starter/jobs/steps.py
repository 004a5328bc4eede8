"""Reads the activities in a job's history: the steps of its plan, and its waits.

An activity has several events, or one marker if it ran inside a workflow task.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from temporalio.api.failure.v1 import Failure
from temporalio.api.history.v1 import HistoryEvent, MarkerRecordedEventAttributes

from mnestic.memory.jobs.timeline import TimelineEntry, TimelineEventKind, receipt_detail
from mnestic.memory.names import RESUME
from mnestic.starter.jobs.history_payloads import at_of, cause_of, fields_of, summary_of, value_of
from mnestic.starter.jobs.plan_walk import PlanWalk

_RESULT_FIELDS = ("waits", "model", "input_tokens", "output_tokens", "episode_id")
_READS = frozenset({"mnestic.find_arrival", "mnestic.pin_contract"})
_SNAPSHOT_SIZES = ("size_bytes", "message_count", "episode_count", "record_count")


@dataclass(frozen=True)
class Attempts:
    """The state of a running activity: its attempt, and why the last one failed."""

    number: int
    cause: str | None


@dataclass
class _Activity:
    """A running activity; `place` is the index of its entry.

    `tool` is the place of the tool whose call a `remember` stores.
    """

    place: int
    at: datetime
    name: str
    id: str
    activity_input: dict[str, Any]
    node: str | None = None
    kind: str | None = None
    attempts: int = 1
    cause: str | None = None
    tool: int | None = None

    @property
    def detail(self) -> dict[str, Any]:
        key = fields_of(self.activity_input.get("operation")).get("key")
        return {
            "kind": self.kind or self.name.removeprefix("mnestic."),
            "node": self.node,
            "activity": self.name,
            "attempts": self.attempts,
            "cause": self.cause,
            "operations": [key] if isinstance(key, str) else [],
        }


class Steps:
    """Turns activities into entries, in the order in which they started."""

    def __init__(self, entries: list[TimelineEntry | None]) -> None:
        """Adds to `entries`, where a place is None until its activity ends."""
        self._entries = entries
        self._walk: PlanWalk | None = None
        self._running: dict[int, _Activity] = {}
        self._tool: int | None = None
        self._wait: dict[str, Any] = {}
        self._attention: int | None = None
        self._parked: int | None = None
        self.ending: dict[str, Any] = {}

    def begin(self, walk: PlanWalk | None) -> None:
        """Starts a run, with the plan that it follows."""
        self._walk, self._running = walk, {}

    def scheduled(self, event: HistoryEvent) -> None:
        """Reads that an activity was scheduled."""
        attributes = event.activity_task_scheduled_event_attributes
        activity = self._begin(
            event,
            attributes.activity_type.name,
            fields_of(value_of(attributes.input.payloads)),
            activity_id=attributes.activity_id,
        )
        self._running[event.event_id] = activity

    def attempted(self, event: HistoryEvent) -> None:
        """Reads that the last attempt started; the history has no other attempts."""
        attributes = event.activity_task_started_event_attributes
        activity = self._running[attributes.scheduled_event_id]
        activity.attempts = attributes.attempt
        if attributes.HasField("last_failure"):
            activity.cause = cause_of(attributes.last_failure)

    def completed(self, event: HistoryEvent) -> None:
        """Reads that an activity completed."""
        attributes = event.activity_task_completed_event_attributes
        activity = self._running.pop(attributes.scheduled_event_id)
        self._succeeded(
            activity, value_of(attributes.result.payloads), took_s=_since(activity, event)
        )

    def failed(self, event: HistoryEvent, scheduled: int, failure: Failure) -> None:
        """Reads that an activity failed and is not retried."""
        activity = self._running.pop(scheduled)
        self._failed(activity, failure, took_s=_since(activity, event))

    def cancelled(self, event: HistoryEvent) -> None:
        """Reads that an activity was cancelled."""
        attributes = event.activity_task_canceled_event_attributes
        activity = self._running.pop(attributes.scheduled_event_id)
        self._put(activity, "step", state="cancelled", duration_s=_since(activity, event))

    def marked(self, event: HistoryEvent, marker: MarkerRecordedEventAttributes) -> None:
        """Reads the marker of a local activity, which has the activity's id but not its input."""
        data = fields_of(value_of(marker.details["data"].payloads))
        name = str(data.get("activity_type"))
        activity_input = _local_input(name, str(data.get("activity_id")))
        activity = self._begin(event, name, activity_input, activity_id="")
        activity.attempts = data.get("attempt") or 1
        if marker.HasField("failure"):
            self._failed(activity, marker.failure)
        else:
            self._succeeded(activity, value_of(marker.details["result"].payloads))

    def set_deadline(self, deadline: str) -> None:
        """Reads the published deadline of the wait that was opened last."""
        entry = None if self._parked is None else self._entries[self._parked]
        if entry is not None and self._parked is not None and "deadline" not in entry.detail:
            self._entries[self._parked] = entry.with_detail(deadline=deadline)
        self._parked = None

    def note_attention_request(self, request_id: str) -> None:
        """Adds the request to the entry that needs attention, since a local activity does not record it."""
        entry = None if self._attention is None else self._entries[self._attention]
        if entry is not None and self._attention is not None:
            self._entries[self._attention] = entry.with_detail(request_id=request_id)
        self._attention = None

    def end(self, pending: Mapping[str, Attempts]) -> None:
        """Adds entries for activities that are still running."""
        for activity in self._running.values():
            attempt = pending.get(activity.id)
            if attempt is not None:
                activity.attempts, activity.cause = attempt.number, attempt.cause
            self._put(activity, "step", state="running")

    def _begin(
        self, event: HistoryEvent, name: str, activity_input: dict[str, Any], *, activity_id: str
    ) -> _Activity:
        activity = _Activity(len(self._entries), at_of(event), name, activity_id, activity_input)
        self._entries.append(None)
        if name == "mnestic.keep_result" or (
            name == "mnestic.remember" and activity_input.get("tool_call")
        ):
            activity.tool = self._tool
        elif self._walk is not None:
            node = self._walk.node_of(name, activity_input, summary=summary_of(event))
            activity.node = node.id if node else None
            activity.kind = node.kind if node else None
        if activity.kind == "tool":
            self._tool = activity.place
        return activity

    def _put(self, activity: _Activity, what: TimelineEventKind, **detail: Any) -> None:
        self._entries[activity.place] = TimelineEntry(
            at=activity.at, what=what, detail={**activity.detail, **detail}
        )

    def _succeeded(self, activity: _Activity, result: Any, *, took_s: float | None = None) -> None:
        fields = fields_of(result)
        if activity.kind == "tool":
            self._put(activity, "step", state="done", duration_s=took_s)
        elif activity.name == "mnestic.open_wait":
            self._opened(activity, fields)
        elif activity.name == "mnestic.restore":
            self._restored(activity, fields)
        elif activity.name == "mnestic.extend_wait":
            extension = {name: fields.get(name) for name in ("wait_id", "deadline")}
            self._put(activity, "wait_extended", **extension)
        elif activity.name == "mnestic.end_job":
            self.ending = {**activity.detail, "episode_id": fields.get("episode_id")}
        elif _is_hidden(activity):
            pass
        elif activity.tool is None or not self._merge_operations(activity, activity.tool):
            self._put(activity, "step", state="done", duration_s=took_s, **_counts(fields))

    def _merge_operations(self, activity: _Activity, place: int) -> bool:
        """Merges an activity that stores a tool's call into the entry of the tool; returns whether it did."""
        tool = self._entries[place]
        if tool is None:
            return False
        keys = [*tool.detail.get("operations", ()), *activity.detail.get("operations", ())]
        self._entries[place] = tool.with_detail(operations=keys)
        return True

    def _opened(self, activity: _Activity, snapshot: dict[str, Any]) -> None:
        activity_input = activity.activity_input
        self._wait = _wait(activity_input.get("wait_id"), snapshot)
        wait_fields = {name: activity_input.get(name) for name in ("key", "policy", "deadline")}
        sizes = {name: snapshot.get(name) for name in _SNAPSHOT_SIZES}
        self._put(activity, "wait_opened", **self._wait, **wait_fields, **sizes)
        self._parked = activity.place

    def _restored(self, activity: _Activity, restored: dict[str, Any]) -> None:
        receipt = fields_of(restored.get("receipt"))
        ended = receipt_detail(receipt) if receipt else {"outcome": "timeout", "verified": True}
        counted = {name: restored.get(name) for name in ("drift_count", "set_aside")}
        self._put(activity, "restored", **{**self._wait_of(activity), **counted, **ended})
        if self._walk is not None:
            self._walk.chose(str(ended["outcome"]))

    def _failed(
        self, activity: _Activity, failure: Failure, *, took_s: float | None = None
    ) -> None:
        failure_fields = {"state": "failed", "cause": cause_of(failure), "duration_s": took_s}
        if activity.name != "mnestic.restore":
            self._put(activity, "step", **failure_fields)
        elif failure.application_failure_info.type == "ResumeRefusedError":
            self._put(activity, "refused", name=RESUME, **self._wait_of(activity), **failure_fields)
        else:
            self._put(activity, "needs_attention", **self._wait_of(activity), **failure_fields)
            self._attention = activity.place

    def _wait_of(self, activity: _Activity) -> dict[str, Any]:
        """The wait of a restore; for a local activity, the wait that was opened last."""
        activity_input = fields_of(activity.activity_input.get("wait"))
        return (
            _wait(activity_input["wait_id"], fields_of(activity_input.get("snapshot")))
            if activity_input
            else self._wait
        )


def _is_hidden(activity: _Activity) -> bool:
    """Whether an activity has no entry: its ledger row has one, or it only reads the job's own history or contract."""
    is_result_storage = activity.name == "mnestic.keep_result" and activity.tool is None
    return is_result_storage or activity.name in _READS


def _local_input(name: str, activity_id: str) -> dict[str, Any]:
    """The input of a local activity, as far as its id tells: the operation's key of a stored tool call."""
    if name != "mnestic.remember":
        return {}
    return {"operation": {"key": activity_id}, "tool_call": {"id": activity_id}}


def _wait(wait_id: str | None, snapshot: Mapping[str, Any]) -> dict[str, Any]:
    snapshot_fields = {"snapshot_id": snapshot.get("id"), "sha256": snapshot.get("sha256")}
    return {"wait_id": wait_id, **snapshot_fields}


def _counts(result: Mapping[str, Any]) -> dict[str, Any]:
    """The numbers and ids of a step's result, without texts."""
    counted = {name: result[name] for name in _RESULT_FIELDS if result.get(name) is not None}
    records = result.get("record_count") or len(result.get("records") or ())
    lists = {"missing": len(result.get("missing") or ())}
    lists["episodes"] = len(result.get("episode_ids") or ())
    return {**counted, **{k: v for k, v in {"records": records, **lists}.items() if v}}


def _since(activity: _Activity, event: HistoryEvent) -> float:
    return round((at_of(event) - activity.at).total_seconds(), 3)
