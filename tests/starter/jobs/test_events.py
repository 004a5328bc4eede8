"""Temporal's histories, recorded and made up, as entries of a timeline."""

import json
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from temporalio.api.common.v1 import Payload, Payloads
from temporalio.api.enums.v1 import WorkflowTaskFailedCause
from temporalio.api.history.v1 import HistoryEvent
from temporalio.client import WorkflowHistory

from mnestic.memory.jobs.timeline import TimelineEntry
from mnestic.starter.jobs.events import entries_of
from mnestic.starter.jobs.steps import Attempts
from tests.starter.case_files import read_cases

FOLDER = Path(__file__).parents[2] / "histories"
NAMES = [  # of jobs
    path.stem
    for path in sorted(FOLDER.glob("*.json"))
    if not path.stem.partition("-")[2].startswith(
        ("flush", "forget", "inbox", "ingest", "maintenance")
    )
]
TIMELINES: dict[str, list[str]] = read_cases(__file__, "timelines")
TOLD = ("kind", "node", "state", "epoch", "via", "request_id", "outcome", "verified", "drift_count")
SNAPSHOT = {"id": "s-1", "sha256": "a" * 64, "message_count": 2}

Event = Callable[..., HistoryEvent]


def recorded(name: str) -> tuple[TimelineEntry, ...]:
    text = (FOLDER / f"{name}.json").read_text(encoding="utf-8")
    return entries_of([WorkflowHistory.from_json(name, text).events])


def told(entry: TimelineEntry) -> str:
    """An entry in a line, with what stays the same whoever recorded it."""
    detail = [f"{name}={entry.detail[name]}" for name in TOLD if name in entry.detail]
    keys = [key.partition("/")[2] for key in entry.detail.get("operations", ())]
    return " ".join([entry.what, *detail, *keys])


@pytest.mark.parametrize("name", TIMELINES)
def test_a_recorded_history_is_told_entry_by_entry(name: str) -> None:
    entries = recorded(name)

    assert [told(entry) for entry in entries] == TIMELINES[name]
    assert all(len(entry.detail.get("cause", "")) <= 200 for entry in entries)
    assert all("payload" not in entry.detail for entry in entries)


def payloads(value: Any) -> Payloads:
    encoded = Payload(metadata={"encoding": b"json/plain"}, data=json.dumps(value).encode())
    return Payloads(payloads=[encoded])


@pytest.fixture
def event() -> Event:
    """Makes an event of a kind, a second after the one before."""
    made: list[HistoryEvent] = []

    def make(kind: str, **fields: Any) -> HistoryEvent:
        event = HistoryEvent(event_id=len(made) + 1)
        event.event_time.FromDatetime(datetime(2026, 3, 1, 12, 0, len(made), tzinfo=UTC))
        attributes = getattr(event, f"{kind}_event_attributes")
        attributes.SetInParent()
        for name, value in fields.items():
            holder, _, last = name.rpartition("__")
            target = getattr(attributes, holder) if holder else attributes
            if hasattr(value, "DESCRIPTOR"):
                getattr(target, last).CopyFrom(value)
            else:
                setattr(target, last, value)
        made.append(event)
        return event

    return make


@pytest.fixture
def marker(event: Event) -> Callable[..., HistoryEvent]:
    """Makes the marker of a local activity."""

    def make(activity: str, result: Any = None, *, failure: str | None = None) -> HistoryEvent:
        made = event("marker_recorded", marker_name="core_local_activity")
        attributes = made.marker_recorded_event_attributes
        data = payloads({"activity_type": activity, "attempt": 2})
        attributes.details["data"].CopyFrom(data)
        if failure is None:
            attributes.details["result"].CopyFrom(payloads(result))
        else:
            attributes.failure.message = "no"
            attributes.failure.application_failure_info.type = failure
        return made

    return make


def test_waits_of_local_activities_are_told_from_their_markers(
    marker: Callable[..., HistoryEvent],
) -> None:
    moved = {"wait_id": "j1/w1", "deadline": "2026-04-01T00:00:00Z"}
    events = [
        marker("mnestic.open_wait", SNAPSHOT),
        marker("mnestic.extend_wait", moved),
        marker("mnestic.restore", failure="SnapshotCorruptedError"),
        marker("mnestic.restore", {"drift_count": 3, "receipt": None}),
        marker("mnestic.restore", failure="ResumeRefusedError"),
    ]

    entries = entries_of([events])

    assert [entry.what for entry in entries] == [
        "wait_opened",
        "wait_extended",
        "needs_attention",
        "restored",
        "refused",
    ]
    assert {entry.detail["attempts"] for entry in entries} == {2}
    assert entries[1].detail["deadline"] == moved["deadline"]
    assert entries[3].detail["snapshot_id"] == "s-1"
    assert (entries[3].detail["outcome"], entries[3].detail["drift_count"]) == ("timeout", 3)


def test_an_activity_that_is_tried_again_is_told_as_it_stands(event: Event) -> None:
    scheduled = event("activity_task_scheduled", activity_id="7", activity_type__name="mail.send")

    (entry,) = entries_of([[scheduled]], pending={"7": Attempts(4, "it is down")})

    assert entry.detail["state"] == "running"
    assert (entry.detail["attempts"], entry.detail["cause"]) == (4, "it is down")


@pytest.mark.parametrize(("name", "asked", "detail"), read_cases(__file__, "signals"))
def test_a_signal_is_told_without_what_is_none_of_ours(
    event: Event, name: str, asked: Any, detail: dict[str, Any]
) -> None:
    signal = event("workflow_execution_signaled", signal_name=name, input=payloads(asked))

    (entry,) = entries_of([[signal]])

    assert entry.what == "requested"
    assert entry.detail == {**detail, "via": "signal"}


def test_what_happens_to_the_workflow_itself_is_told(event: Event) -> None:
    reset = WorkflowTaskFailedCause.WORKFLOW_TASK_FAILED_CAUSE_RESET_WORKFLOW
    events = [
        event("workflow_execution_started", identity="me", input=payloads({"own": "input"})),
        event("workflow_task_failed", cause=1, failure__message="not deterministic"),
        event("workflow_task_failed", cause=reset, failure__message="again from here"),
        event("workflow_task_timed_out", timeout_type=1),
        event("workflow_task_timed_out", timeout_type=2),
        event("workflow_execution_terminated", reason="enough", identity="ops"),
    ]

    entries = entries_of([events])

    assert [(entry.what, entry.detail.get("cause")) for entry in entries] == [
        ("started", None),
        ("stuck", "not deterministic"),
        ("reset", "again from here"),
        ("worker_lost", None),
        ("ended", "enough"),
    ]
    assert "own" not in json.dumps(entries[0].detail)


@pytest.mark.parametrize("encoding", [b"binary/encrypted", b"json/plain"])
def test_values_that_nobody_can_read_are_left_out(event: Event, encoding: bytes) -> None:
    sealed = Payloads(payloads=[Payload(metadata={"encoding": encoding}, data=b"\xff{")])
    events = [
        event("workflow_execution_started", input=sealed),
        event("activity_task_scheduled", activity_type__name="mnestic.open_wait", input=sealed),
        event("activity_task_completed", scheduled_event_id=2, result=sealed),
        event("workflow_execution_completed", result=sealed),
    ]

    entries = entries_of([events])

    assert [entry.what for entry in entries] == ["started", "wait_opened", "ended"]


@pytest.mark.parametrize("name", NAMES)
def test_a_recorded_history_is_told_in_order_with_the_nodes_and_without_texts(name: str) -> None:
    entries = recorded(name)

    assert entries[0].what in ("started", "continued")
    assert entries[-1].what == "ended" or name == "0.2.0-poked", "that run goes on in another"
    assert [entry.at for entry in entries] == sorted(entry.at for entry in entries)
    steps = [entry.detail for entry in entries if entry.what in ("step", "wait_opened")]
    assert steps
    assert all("node" in step or step.get("kind") == "fork" for step in steps)  # which is no node
    document = json.dumps([entry.model_dump(mode="json") for entry in entries])
    assert not any(text in document for text in ("Hello", "My name is", "dear", "Mara", "Lisbon"))


def test_an_activity_that_was_cancelled_says_so_and_other_markers_are_passed_over(
    event: Event,
) -> None:
    events = [
        event("activity_task_scheduled", activity_type__name="mail.send"),
        event("activity_task_canceled", scheduled_event_id=1),
        event("marker_recorded", marker_name="core_patch"),
    ]

    (entry,) = entries_of([events])

    assert (entry.detail["state"], entry.detail["duration_s"]) == ("cancelled", 1.0)
