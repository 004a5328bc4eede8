from datetime import UTC, datetime, timedelta
from typing import Any

from mnestic.memory.jobs.differences import JobDifference, MemoryNow, difference
from mnestic.memory.jobs.episodes import Episode
from mnestic.memory.jobs.long_term.records import LongTermRecord, ReadRecord
from mnestic.memory.jobs.short_term.segments import SegmentEntry, Segments
from mnestic.memory.jobs.snapshots import MemorySnapshot, seal, unseal
from mnestic.memory.jobs.waits import JobWait, ResumptionContext
from mnestic.memory.jobs.working_memory import Message, ToolCall, WorkingMemory
from mnestic.memory.scope import Scope

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
WAIT = JobWait(
    wait_id="j1/w1",
    job_id="j1",
    scope=Scope(tenant_id="t", agent_id="ada", session_id="s1"),
    key="approval",
    state="waiting",
    policy="strict",
    snapshot_id="n1",
    context=ResumptionContext(cursor_node="ask", plan_decision_id="p"),
    deadline=NOON + timedelta(days=21),
    opened_at=NOON,
)
THEN = WorkingMemory(
    version=3,
    messages=(Message(id="m1", role="user", content="hello", at=NOON),),
    variables={"city": "Malmö", "gone": 1, "same": [1]},
    tool_calls=(ToolCall(id="c1", activity="mail.send"),),
    scratchpad="one",
    current_task="ask",
)
READS = (
    ReadRecord(namespace="p", key="name", version=2, value="Mara"),
    ReadRecord(namespace="p", key="city", version=0),
    ReadRecord(namespace="p", key="pet", version=1, value="cat"),
)


def record(key: str, version: int, value: Any) -> LongTermRecord:
    return LongTermRecord(
        namespace="p", key=key, value=value, version=version, created_at=NOON, updated_at=NOON
    )


def compared(now: WorkingMemory, *records: LongTermRecord) -> JobDifference:
    snapshot = MemorySnapshot(
        working_memory=THEN, read_set=READS, episodic_tail=(EARLIER,), snapshot_at=NOON
    )
    body, sha256 = seal(snapshot.parts)
    return difference(
        WAIT,
        unseal(body, snapshot_id="n1", sha256=sha256),
        sha256=sha256,
        now=MemoryNow(
            working=now,
            working_ref=now.document().ref,
            records={(one.namespace, one.key): one for one in records},
            versions={("p", "pet"): 1} | {(one.namespace, one.key): one.version for one in records},
            episodes=(LATER, EARLIER),
            read_at=NOON + timedelta(days=1),
        ),
    )


EARLIER = Episode(id="e1", agent_id="ada", summary="Before.", created_at=NOON)
LATER = Episode(id="e2", agent_id="ada", summary="Since.", created_at=NOON + timedelta(hours=1))
SAME = (record("name", 2, "Mara"), record("pet", 1, "cat"))


def test_memory_as_it_was_has_no_difference_and_passes_every_policy() -> None:
    found = compared(THEN, *SAME)

    assert (found.records, found.drift_count, found.records_compared) == ((), 0, 3)
    assert found.passes == {"pinned": True, "rebase": True, "strict": True}
    assert found.newer_episodes == (LATER,)
    assert found.working_memory.variables == ()


def test_records_that_changed_are_told_with_their_values() -> None:
    found = compared(THEN, record("name", 3, "Maria"), record("city", 1, "Lund"))

    assert [(c.key, c.kind, c.before, c.now) for c in found.records] == [
        ("name", "changed", "Mara", "Maria"),
        ("city", "created", None, "Lund"),
        ("pet", "deleted", "cat", None),
    ]
    assert found.drift_count == 3
    assert found.passes == {"pinned": True, "rebase": True, "strict": False}


def test_working_memory_is_told_part_by_part() -> None:
    now = THEN.model_copy(
        update={
            "version": 5,
            "messages": (*THEN.messages, Message(id="m2", role="user", content="x", at=NOON)),
            "variables": {"city": "Lund", "new": {"a": 1}, "same": [1]},
            "tool_calls": (),
            "scratchpad": "one\ntwo",
            "current_task": None,
            "segments": Segments(
                entries=(SegmentEntry(id="m2", segment_id="s", content="x", at=NOON),)
            ),
        }
    )

    found = compared(now, *SAME)

    change = found.working_memory
    assert (change.snapshot_version, change.current_version) == (3, 5)
    assert (change.messages_added, change.messages_removed) == (("m2",), ())
    assert (change.tool_calls_added, change.tool_calls_removed) == ((), ("c1",))
    assert (change.segment_entries_added, change.segment_entries_removed) == (("m2",), ())
    assert [(v.name, v.kind, v.before, v.now) for v in change.variables] == [
        ("city", "changed", "Malmö", "Lund"),
        ("gone", "removed", 1, None),
        ("new", "added", None, {"a": 1}),
    ]
    assert change.scratchpad_changed
    assert (change.task_changed, change.task_before, change.task_now) == (True, "ask", None)


def test_working_memory_that_was_written_counts_as_drift_but_is_no_record() -> None:
    found = compared(THEN.with_note("more").model_copy(update={"version": 4}), *SAME)

    assert (found.records, found.drift_count) == ((), 1)
    assert not found.passes["strict"]
