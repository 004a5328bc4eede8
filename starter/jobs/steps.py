"""The activities of a job, as its history tells them: steps of its plan, and its waits.

They stand apart from the other events because an activity is told by several, or by a marker when
it ran inside a workflow task.
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

_COUNTED = ("waits", "model", "input_tokens", "output_tokens", "episode_id")
_SEALED = ("size_bytes", "message_count", "episode_count", "record_count")


@dataclass(frozen=True)
class Attempts:
    """How an activity stands that is not over: its attempt, and why the one before failed."""

    number: int
    cause: str | None


@dataclass
class _Activity:
    """An activity on its way; `place` is where its entry will stand.

    `tool` is the place of the tool whose call a `remember` keeps.
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
    """Reads activities into entries, each in the place at which it began."""

    def __init__(self, entries: list[TimelineEntry | None]) -> None:
        """Adds to `entries`; a place is None until its activity is over."""
        self._entries = entries
        self._walk: PlanWalk | None = None
        self._going: dict[int, _Activity] = {}
        self._tool: int | None = None
        self._wait: dict[str, Any] = {}
        self._attention: int | None = None
        self._parked: int | None = None
        self.ending: dict[str, Any] = {}

    def begin(self, walk: PlanWalk | None) -> None:
        """A run begins, with the plan that it follows."""
        self._walk, self._going = walk, {}

    def scheduled(self, event: HistoryEvent) -> None:
        """An activity begins."""
        told = event.activity_task_scheduled_event_attributes
        activity = self._begin(
            event,
            told.activity_type.name,
            fields_of(value_of(told.input.payloads)),
            activity_id=told.activity_id,
        )
        self._going[event.event_id] = activity

    def attempted(self, event: HistoryEvent) -> None:
        """Its last attempt began; the others were not written down."""
        told = event.activity_task_started_event_attributes
        activity = self._going[told.scheduled_event_id]
        activity.attempts = told.attempt
        if told.HasField("last_failure"):
            activity.cause = cause_of(told.last_failure)

    def completed(self, event: HistoryEvent) -> None:
        """It gave a result."""
        told = event.activity_task_completed_event_attributes
        activity = self._going.pop(told.scheduled_event_id)
        self._succeeded(activity, value_of(told.result.payloads), took_s=_since(activity, event))

    def failed(self, event: HistoryEvent, scheduled: int, failure: Failure) -> None:
        """It failed for good."""
        activity = self._going.pop(scheduled)
        self._broke(activity, failure, took_s=_since(activity, event))

    def cancelled(self, event: HistoryEvent) -> None:
        """It was cancelled."""
        told = event.activity_task_canceled_event_attributes
        activity = self._going.pop(told.scheduled_event_id)
        self._put(activity, "step", state="cancelled", duration_s=_since(activity, event))

    def marked(self, event: HistoryEvent, marker: MarkerRecordedEventAttributes) -> None:
        """A local activity is over; what it was asked is not written down, but for its id."""
        data = fields_of(value_of(marker.details["data"].payloads))
        name = str(data.get("activity_type"))
        activity_input = _local_input(name, str(data.get("activity_id")))
        activity = self._begin(event, name, activity_input, activity_id="")
        activity.attempts = data.get("attempt") or 1
        if marker.HasField("failure"):
            self._broke(activity, marker.failure)
        else:
            self._succeeded(activity, value_of(marker.details["result"].payloads))

    def waits_until(self, deadline: str) -> None:
        """The job publishes the deadline of the wait that it has just opened, or a later one."""
        entry = None if self._parked is None else self._entries[self._parked]
        if entry is not None and self._parked is not None and "deadline" not in entry.detail:
            self._entries[self._parked] = entry.with_detail(deadline=deadline)
        self._parked = None

    def met_by(self, request_id: str) -> None:
        """The job tells which request met what needs attention; a local activity does not."""
        entry = None if self._attention is None else self._entries[self._attention]
        if entry is not None and self._attention is not None:
            self._entries[self._attention] = entry.with_detail(request_id=request_id)
        self._attention = None

    def end(self, pending: Mapping[str, Attempts]) -> None:
        """Tells of what is not over as it stands."""
        for activity in self._going.values():
            told = pending.get(activity.id)
            if told is not None:
                activity.attempts, activity.cause = told.number, told.cause
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
        told = fields_of(result)
        if activity.kind == "tool":
            self._put(activity, "step", state="done", duration_s=took_s)
        elif activity.name == "mnestic.open_wait":
            self._opened(activity, told)
        elif activity.name == "mnestic.restore":
            self._restored(activity, told)
        elif activity.name == "mnestic.extend_wait":
            moved = {name: told.get(name) for name in ("wait_id", "deadline")}
            self._put(activity, "wait_extended", **moved)
        elif activity.name == "mnestic.end_job":
            self.ending = {**activity.detail, "episode_id": told.get("episode_id")}
        elif _is_no_step(activity):
            pass
        elif activity.tool is None or not self._keeps_call(activity, activity.tool):
            self._put(activity, "step", state="done", duration_s=took_s, **_counts(told))

    def _keeps_call(self, activity: _Activity, place: int) -> bool:
        """Whether it keeps a tool's call: then its ledger row is told with the tool."""
        tool = self._entries[place]
        if tool is None:
            return False
        keys = [*tool.detail.get("operations", ()), *activity.detail.get("operations", ())]
        self._entries[place] = tool.with_detail(operations=keys)
        return True

    def _opened(self, activity: _Activity, snapshot: dict[str, Any]) -> None:
        activity_input = activity.activity_input
        self._wait = _wait(activity_input.get("wait_id"), snapshot)
        told = {name: activity_input.get(name) for name in ("key", "policy", "deadline")}
        sizes = {name: snapshot.get(name) for name in _SEALED}
        self._put(activity, "wait_opened", **self._wait, **told, **sizes)
        self._parked = activity.place

    def _restored(self, activity: _Activity, restored: dict[str, Any]) -> None:
        receipt = fields_of(restored.get("receipt"))
        ended = receipt_detail(receipt) if receipt else {"outcome": "timeout", "verified": True}
        counted = {name: restored.get(name) for name in ("drift_count", "set_aside")}
        self._put(activity, "restored", **{**self._waited(activity), **counted, **ended})
        if self._walk is not None:
            self._walk.chose(str(ended["outcome"]))

    def _broke(self, activity: _Activity, failure: Failure, *, took_s: float | None = None) -> None:
        told = {"state": "failed", "cause": cause_of(failure), "duration_s": took_s}
        if activity.name != "mnestic.restore":
            self._put(activity, "step", **told)
        elif failure.application_failure_info.type == "ResumeRefusedError":
            self._put(activity, "refused", name=RESUME, **self._waited(activity), **told)
        else:
            self._put(activity, "needs_attention", **self._waited(activity), **told)
            self._attention = activity.place

    def _waited(self, activity: _Activity) -> dict[str, Any]:
        """The wait that a restore is of; a local one is of the wait that was opened last."""
        activity_input = fields_of(activity.activity_input.get("wait"))
        return (
            _wait(activity_input["wait_id"], fields_of(activity_input.get("snapshot")))
            if activity_input
            else self._wait
        )


def _is_no_step(activity: _Activity) -> bool:
    """Whether nothing is told of it: its ledger row does, or the job only looked at its own history."""
    kept = activity.name == "mnestic.keep_result" and activity.tool is None
    return kept or activity.name == "mnestic.find_arrival"


def _local_input(name: str, activity_id: str) -> dict[str, Any]:
    """What a local activity was asked, as far as it is known: to keep a tool's call, by the operation's key."""
    if name != "mnestic.remember":
        return {}
    return {"operation": {"key": activity_id}, "tool_call": {"id": activity_id}}


def _wait(wait_id: str | None, snapshot: Mapping[str, Any]) -> dict[str, Any]:
    sealed = {"snapshot_id": snapshot.get("id"), "sha256": snapshot.get("sha256")}
    return {"wait_id": wait_id, **sealed}


def _counts(result: Mapping[str, Any]) -> dict[str, Any]:
    """What a step's result says that is no text."""
    counted = {name: result[name] for name in _COUNTED if result.get(name) is not None}
    records = result.get("record_count") or len(result.get("records") or ())
    lists = {"missing": len(result.get("missing") or ())}
    lists["episodes"] = len(result.get("episode_ids") or ())
    return {**counted, **{k: v for k, v in {"records": records, **lists}.items() if v}}


def _since(activity: _Activity, event: HistoryEvent) -> float:
    return round((at_of(event) - activity.at).total_seconds(), 3)
