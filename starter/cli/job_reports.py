"""`mnestic job history` and `mnestic job diff`: what happened to a job, and to its memory."""

from typing import Annotated

import typer

from mnestic.memory.timeline import JobTimeline, TimelineEntry
from mnestic.starter.cli.connection import connect_client
from mnestic.starter.cli.job_lines import about, title
from mnestic.starter.cli.jobs import JobId
from mnestic.starter.cli.output import AsJson, out, print_json, print_table, run


def history(
    job_id: JobId,
    limit: Annotated[
        int, typer.Option(min=1, max=100_000, help="At most so many, the latest.")
    ] = 200,
    as_json: AsJson = False,
) -> None:
    """Show what happened to a job, in the order of time."""

    async def work() -> None:
        async with await connect_client() as client:
            timeline = await client.job_history(job_id)
        shown = timeline.entries[-limit:]
        earlier = len(timeline.entries) - len(shown)
        if as_json:
            entries = [entry.model_dump(mode="json") for entry in shown]
            print_json(timeline.model_dump(mode="json") | {"entries": entries, "earlier": earlier})
        else:
            _print_timeline(timeline, shown, earlier=earlier)

    run(work())


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
