from datetime import UTC, datetime, timedelta
from typing import Any

from mnestic.memory.jobs.episodes import Episode
from mnestic.memory.jobs.timeline import TimelineEntry, join_rows
from mnestic.memory.jobs.waits import JobWait, Override, ResumeReceipt, ResumptionContext
from mnestic.memory.operations import LedgerEntry
from mnestic.memory.scope import Scope

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


def at(minutes: int) -> datetime:
    return NOON + timedelta(minutes=minutes)


def wait(number: int = 1, **fields: Any) -> JobWait:
    values = {
        "wait_id": f"j1/w{number}",
        "job_id": "j1",
        "scope": Scope(tenant_id="t", agent_id="ada", session_id="s1"),
        "key": "approval",
        "state": "waiting",
        "policy": "rebase",
        "snapshot_id": f"snapshot-{number}",
        "context": ResumptionContext(cursor_node="ask", plan_decision_id="p"),
        "deadline": at(1000),
        "opened_at": at(number * 10),
    }
    return JobWait.model_validate(values | fields)


def resumed(number: int = 1, **fields: Any) -> JobWait:
    receipt = ResumeReceipt(
        request_id="r1",
        job_id="j1",
        wait_id=f"j1/w{number}",
        outcome="approved",
        snapshot_id=f"snapshot-{number}",
        snapshot_sha256="a" * 64,
        restored_at=at(number * 10 + 5),
        drift_count=2,
        **fields,
    )
    return wait(number, state="resumed", closed_at=at(number * 10 + 5), receipt=receipt)


def done(name: str, minutes: int) -> LedgerEntry:
    return LedgerEntry(key=f"j1/0/{minutes}/{name}", name=name, created_at=at(minutes))


def episode(minutes: int, **payload: Any) -> Episode:
    return Episode(
        id=f"e{minutes}",
        agent_id="ada",
        job_id="j1",
        summary="met Mara",
        payload=payload,
        created_at=at(minutes),
    )


def entry(minutes: int, what: Any, **detail: Any) -> TimelineEntry:
    return TimelineEntry(at=at(minutes), what=what, detail=detail)


def test_without_a_history_the_rows_tell_the_job() -> None:
    operations = [done("remember", 1), done("open_wait", 10), done("restore", 15), done("end", 20)]
    episodes = [episode(1), episode(20, outcome="completed", plan="order", waits=1)]

    told = join_rows([], waits=[resumed()], operations=operations, episodes=episodes)

    assert [(line.what, line.source) for line in told] == [
        ("step", "rows"),
        ("wait_opened", "rows"),
        ("restored", "rows"),
        ("ended", "rows"),
    ]
    assert told[0].detail["episode_id"] == "e1"
    assert "Mara" not in str(told), "no text of an episode is told"
    assert (told[1].detail["key"], told[1].detail["sha256"]) == ("approval", "a" * 64)
    assert (told[2].detail["request_id"], told[2].detail["drift_count"]) == ("r1", 2)
    assert (told[3].detail["outcome"], told[3].detail["episode_id"]) == ("completed", "e20")


def test_what_both_tell_is_one_entry() -> None:
    entries = [
        entry(1, "step", operations=["j1/0/1/remember"]),
        entry(10, "wait_opened", wait_id="j1/w1"),
        entry(15, "restored", wait_id="j1/w1", drift_count=2),
        entry(20, "ended", episode_id="e20"),
    ]
    operations = [done("remember", 1), done("open_wait", 10), done("restore", 15)]

    told = join_rows(entries, waits=[resumed()], operations=operations, episodes=[episode(20)])

    assert [(line.what, line.source) for line in told] == [
        ("step", "both"),
        ("wait_opened", "both"),
        ("restored", "both"),
        ("ended", "both"),
    ]


def test_a_wait_that_a_local_activity_opened_is_found_by_its_snapshot() -> None:
    entries = [
        entry(
            10,
            "wait_opened",
            snapshot_id="snapshot-1",
            sha256="b" * 64,
            deadline="as Temporal has it",
        ),
        entry(12, "restored", snapshot_id="snapshot-1", outcome="timeout"),
    ]
    row = wait(state="timed_out", closed_at=at(12))

    opened, restored = join_rows(entries, waits=[row], operations=[], episodes=[])

    assert (opened.detail["wait_id"], opened.detail["key"]) == ("j1/w1", "approval")
    assert opened.detail["sha256"] == "b" * 64
    assert (restored.detail["wait_id"], restored.source) == ("j1/w1", "both")
    assert (opened.detail["deadline"], opened.detail["policy"]) == ("as Temporal has it", "rebase")


def test_a_wait_that_was_extended_is_told_once_for_each_time() -> None:
    entries = [entry(12, "wait_extended", wait_id="j1/w1")]
    operations = [done("extend_wait", 2), done("extend_wait", 12)]

    told = join_rows(entries, waits=[], operations=operations, episodes=[])

    assert [(line.at, line.source) for line in told] == [(at(2), "rows"), (at(12), "temporal")]


def test_of_a_wait_that_was_extended_each_deadline_is_told_where_it_was_set() -> None:
    later = at(2000).isoformat()
    extension = done("extend_wait", 12).model_copy(update={"key": f"j1/w1/extend_wait/{later}"})

    opened, extended = join_rows([], waits=[wait()], operations=[extension], episodes=[])

    assert "deadline" not in opened.detail
    assert (extended.detail["wait_id"], extended.detail["deadline"]) == ("j1/w1", later)


def test_an_override_is_told_with_its_reason() -> None:
    override = Override(reason="I looked", by="Ana")
    row = resumed(override=override, verified=False)

    _, restored = join_rows([], waits=[row], operations=[], episodes=[])

    assert (restored.detail["reason"], restored.detail["by"]) == ("I looked", "Ana")
    assert restored.detail["verified"] is False


def test_a_wait_that_is_open_or_was_cancelled_has_no_restore() -> None:
    rows = [wait(1, state="cancelled", closed_at=at(12)), wait(2)]

    told = join_rows([], waits=rows, operations=[], episodes=[])

    assert [line.what for line in told] == ["wait_opened", "wait_opened"]


def test_what_nobody_knows_is_left_out() -> None:
    line = entry(1, "step", node=None, cause="", operations=[], drift_count=0, verified=False)

    assert line.detail == {"drift_count": 0, "verified": False}
