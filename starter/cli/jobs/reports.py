"""`mnestic job history` and `mnestic job diff`: what happened to a job, and to its memory."""

import json
from collections.abc import Iterator
from typing import Annotated, Any

import typer

from mnestic.memory.jobs.differences import JobDifference, WorkingMemoryChange
from mnestic.memory.jobs.timeline import JobTimeline, TimelineEntry
from mnestic.starter.cli.connection import connect_client
from mnestic.starter.cli.ids import job_named, wait_named
from mnestic.starter.cli.jobs.jobs import JobId
from mnestic.starter.cli.jobs.lines import about, title
from mnestic.starter.cli.output import AsJson, counted, out, print_json, print_table, run


def history(
    given: JobId,
    limit: Annotated[
        int, typer.Option(min=1, max=100_000, help="How many at most, the latest.")
    ] = 200,
    as_json: AsJson = False,
) -> None:
    """Show what happened to a job, in the order of time."""

    async def work() -> None:
        async with await connect_client() as client:
            job_id = await job_named(client, given)
            timeline = await client.job_history(job_id)
        shown = timeline.entries[-limit:]
        earlier = len(timeline.entries) - len(shown)
        if as_json:
            entries = [entry.model_dump(mode="json") for entry in shown]
            print_json(timeline.model_dump(mode="json") | {"entries": entries, "earlier": earlier})
        else:
            _print_timeline(timeline, shown, earlier=earlier)

    run(work())


def diff(
    given: JobId,
    wait: Annotated[
        str | None,
        typer.Option(metavar="N|ID", help="The wait; the open one, else the latest, without it."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Show what changed in a job's memory since its snapshot."""

    async def work() -> None:
        async with await connect_client() as client:
            job_id = await job_named(client, given)
            found = await client.diff_job(job_id, await wait_named(client, job_id, wait))
        if as_json:
            print_json(found.model_dump(mode="json"))
        else:
            _print_difference(found)

    run(work())


def _print_difference(found: JobDifference) -> None:
    now = found.working_memory
    out.print(
        f"Job {found.job_id} · wait {found.wait_id} ({found.key}, {found.state}) · snapshot of "
        f"{found.snapshot_at:%Y-%m-%d %H:%M} UTC, verified {found.snapshot_sha256[:12]}…",
        soft_wrap=True,
    )
    out.print(_verdict(found), soft_wrap=True)
    if found.redacted_at is not None:
        out.print(
            f"Something in the snapshot was forgotten at {found.redacted_at:%Y-%m-%d %H:%M} UTC; what is "
            "left of it is compared.",
            soft_wrap=True,
        )
    if found.set_aside is not None:
        told = "Its restore set newer working memory aside, as snapshot"
        out.print(f"{told} {found.set_aside}.", soft_wrap=True)
    records = [
        (
            f"{change.namespace}/{change.key}",
            f"{change.kind} {change.snapshot_version} → {change.current_version}",
            *_values(change.before, change.now),
        )
        for change in found.records
    ]
    empty = f"No record changed; the job has read {found.records_compared}."
    out.print()
    print_table(("record", "change", "before", "now"), records, empty=empty, cut=("before", "now"))
    if found.newer_episodes:
        episodes = [
            (f"{each.created_at:%Y-%m-%d %H:%M}", each.job_id or "", each.summary)
            for each in found.newer_episodes
        ]
        out.print()
        print_table(("newer episode", "job", "summary"), episodes, empty="", cut=("summary",))
    out.print()
    if now.snapshot_version == now.current_version:
        out.print("Working memory is as it was.")
        return
    print_table(
        ("working memory", "change", "before", "now"),
        _working_rows(now),
        empty="Working memory was written, and is as it was.",
        cut=("before", "now"),
    )


def _verdict(found: JobDifference) -> str:
    policies = ", ".join(
        f"{policy} {'goes on' if passes else 'parks the job'}"
        for policy, passes in found.passes.items()
    )
    changes = counted(found.drift_count, "changes")
    return f"{changes} since; the wait's policy is {found.policy} ({policies})."


def _working_rows(change: WorkingMemoryChange) -> Iterator[tuple[str, str, str, str]]:
    for what, came, went in (
        ("messages", change.messages_added, change.messages_removed),
        ("tool calls", change.tool_calls_added, change.tool_calls_removed),
    ):
        if came or went:
            counts = [f"{len(came)} added"] * bool(came) + [f"{len(went)} removed"] * bool(went)
            yield what, ", ".join(counts), "", ""
    for variable in change.variables:
        values = _values(variable.before, variable.now)
        yield (f"variable {variable.name}", variable.kind, *values)
    if change.task_changed:
        yield ("task", "changed", *_values(change.task_before, change.task_now))
    if change.scratchpad_changed:
        yield "scratchpad", "changed", "", ""


def _values(before: Any, now: Any) -> tuple[str, str]:
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
    timeline: JobTimeline, shown: tuple[TimelineEntry, ...], *, earlier: int
) -> None:
    if not timeline.complete:
        out.print(_forgotten(timeline), soft_wrap=True)
    if earlier:
        out.print(f"{earlier} earlier lines are left out; --limit shows more.")
    rows, day = [], ""
    for entry in shown:
        today = f"{entry.at:%Y-%m-%d}"
        if today != day:
            rows.append((today, "", ""))
            day = today
        rows.append((f"{entry.at:%H:%M:%S}", title(entry), about(entry)))
    print_table(("UTC", "what", "about"), rows, empty="Nothing happened yet.")


def _forgotten(timeline: JobTimeline) -> str:
    if any(entry.source != "rows" for entry in timeline.entries):
        return "Temporal does not keep the job's first runs any more; our rows alone tell of them."
    return "Temporal does not keep the job's history any more; this is from our rows alone."
