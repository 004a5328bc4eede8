"""`mnestic job history` and `mnestic job diff`: a job's timeline, and changes of its memory."""

import json
from collections.abc import Iterator
from typing import Annotated, Any

import typer

from mnestic.memory.jobs.differences import JobDifference, WorkingMemoryChange
from mnestic.memory.jobs.timeline import JobTimeline, TimelineEntry
from mnestic.starter.cli.connection import connect_client
from mnestic.starter.cli.ids import resolve_job_id, resolve_wait_id
from mnestic.starter.cli.jobs.jobs import JobId
from mnestic.starter.cli.jobs.lines import about, title
from mnestic.starter.cli.output import AsJson, counted, out, print_json, print_table, run


def history(
    id_or_prefix: JobId,
    limit: Annotated[
        int, typer.Option(min=1, max=100_000, help="Maximum number of events, the latest ones.")
    ] = 200,
    as_json: AsJson = False,
) -> None:
    """Show the timeline of a job."""

    async def work() -> None:
        async with await connect_client() as client:
            job_id = await resolve_job_id(client, id_or_prefix)
            timeline = await client.job_history(job_id)
        visible_entries = timeline.entries[-limit:]
        earlier = len(timeline.entries) - len(visible_entries)
        if as_json:
            entries = [entry.model_dump(mode="json") for entry in visible_entries]
            print_json(timeline.model_dump(mode="json") | {"entries": entries, "earlier": earlier})
        else:
            _print_timeline(timeline, visible_entries, earlier=earlier)

    run(work())


def diff(
    id_or_prefix: JobId,
    wait: Annotated[
        str | None,
        typer.Option(
            metavar="N|ID", help="Number or id of the wait; default: the open one, else the latest."
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Show what changed in a job's memory since its snapshot."""

    async def work() -> None:
        async with await connect_client() as client:
            job_id = await resolve_job_id(client, id_or_prefix)
            difference = await client.diff_job(job_id, await resolve_wait_id(client, job_id, wait))
        if as_json:
            print_json(difference.model_dump(mode="json"))
        else:
            _print_difference(difference)

    run(work())


def _print_difference(difference: JobDifference) -> None:
    now = difference.working_memory
    out.print(
        f"Job {difference.job_id} · wait {difference.wait_id} ({difference.key}, {difference.state}) · snapshot of "
        f"{difference.snapshot_at:%Y-%m-%d %H:%M} UTC, verified {difference.snapshot_sha256[:12]}…",
        soft_wrap=True,
    )
    out.print(_verdict(difference), soft_wrap=True)
    if difference.redacted_at is not None:
        out.print(
            f"Parts of the snapshot were forgotten at {difference.redacted_at:%Y-%m-%d %H:%M} UTC; the rest "
            "is compared.",
            soft_wrap=True,
        )
    if difference.set_aside is not None:
        note = "Its restore set newer working memory aside, as snapshot"
        out.print(f"{note} {difference.set_aside}.", soft_wrap=True)
    records = [
        (
            f"{change.namespace}/{change.key}",
            f"{change.kind} {change.snapshot_version} → {change.current_version}",
            *_value_pair(change.before, change.now),
        )
        for change in difference.records
    ]
    empty = f"No record changed; records that the job has read: {difference.records_compared}."
    out.print()
    print_table(("record", "change", "before", "now"), records, empty=empty, cut=("before", "now"))
    if difference.newer_episodes:
        episodes = [
            (f"{episode.created_at:%Y-%m-%d %H:%M}", episode.job_id or "", episode.summary)
            for episode in difference.newer_episodes
        ]
        out.print()
        print_table(("newer episode", "job", "summary"), episodes, empty="", cut=("summary",))
    out.print()
    if now.snapshot_version == now.current_version:
        out.print("Working memory did not change.")
        return
    print_table(
        ("working memory", "change", "before", "now"),
        _working_rows(now),
        empty="Working memory was written; its content did not change.",
        cut=("before", "now"),
    )


def _verdict(difference: JobDifference) -> str:
    policies = ", ".join(
        f"{policy} {'continues' if passes else 'parks the job'}"
        for policy, passes in difference.passes.items()
    )
    changes = counted(difference.drift_count, "changes")
    return f"{changes} since; the wait's policy is {difference.policy} ({policies})."


def _working_rows(change: WorkingMemoryChange) -> Iterator[tuple[str, str, str, str]]:
    for what, added, removed in (
        ("messages", change.messages_added, change.messages_removed),
        ("tool calls", change.tool_calls_added, change.tool_calls_removed),
        ("segments", change.segment_entries_added, change.segment_entries_removed),
    ):
        if added or removed:
            counts = [f"{len(added)} added"] * bool(added) + [f"{len(removed)} removed"] * bool(
                removed
            )
            yield what, ", ".join(counts), "", ""
    for variable in change.variables:
        values = _value_pair(variable.before, variable.now)
        yield (f"variable {variable.name}", variable.kind, *values)
    if change.task_changed:
        yield ("task", "changed", *_value_pair(change.task_before, change.task_now))
    if change.scratchpad_changed:
        yield "scratchpad", "changed", "", ""


def _value_pair(before: Any, now: Any) -> tuple[str, str]:
    """Two values, each as a line of JSON, which holds no control characters.

    Of two objects only the fields that differ are shown.
    """
    if isinstance(before, dict) and isinstance(now, dict):
        fields = [name for name in {**before, **now} if before.get(name) != now.get(name)]
        before = {name: before[name] for name in fields if name in before}
        now = {name: now[name] for name in fields if name in now}
    return _value(before), _value(now)


def _value(value: Any) -> str:
    return "" if value is None else json.dumps(value, ensure_ascii=False)


def _print_timeline(
    timeline: JobTimeline, visible_entries: tuple[TimelineEntry, ...], *, earlier: int
) -> None:
    if not timeline.complete:
        out.print(_forgotten(timeline), soft_wrap=True)
    if earlier:
        out.print(f"{earlier} earlier lines are left out; --limit shows more.")
    rows, day = [], ""
    for entry in visible_entries:
        today = f"{entry.at:%Y-%m-%d}"
        if today != day:
            rows.append((today, "", ""))
            day = today
        rows.append((f"{entry.at:%H:%M:%S}", title(entry), about(entry)))
    print_table(("UTC", "what", "about"), rows, empty="Nothing happened yet.")


def _forgotten(timeline: JobTimeline) -> str:
    if any(entry.source != "rows" for entry in timeline.entries):
        return "Temporal no longer has the job's first runs; the events of these are from the database."
    return "Temporal no longer has the job's history; these events are from the database."
