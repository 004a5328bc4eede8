"""`mnestic schedules`: the Schedules of maintenance."""

from typing import Annotated

import typer

from mnestic.memory.maintenance.policies import MaintenanceKind
from mnestic.starter.cli.connection import connect_client
from mnestic.starter.cli.output import AsJson, out, print_json, print_table, run
from mnestic.starter.cli.timestamps import parse_timestamp

app = typer.Typer(
    help="List, pause, resume and backfill the Schedules of maintenance.", no_args_is_help=True
)
Kind = Annotated[MaintenanceKind, typer.Argument(help="The kind of maintenance.")]
Note = Annotated[str | None, typer.Option(help="Why; the list and the Temporal UI show it.")]


@app.command("list")
def list_(as_json: AsJson = False) -> None:
    """List the Schedules, with their last and next runs."""

    async def work() -> None:
        async with await connect_client() as client:
            schedules = await client.maintenance.list_schedules()
        if as_json:
            print_json({"schedules": [one.model_dump(mode="json") for one in schedules]})
            return
        rows = [
            (
                one.kind,
                one.state,
                f"{one.last_run_at:%Y-%m-%d %H:%M}" if one.last_run_at else "never",
                f"{one.next_run_at:%Y-%m-%d %H:%M}" if one.next_run_at else "",
                one.note or "",
            )
            for one in schedules
        ]
        columns = ("kind", "state", "last run", "next run", "note")
        print_table(columns, rows, empty="No Schedules; a worker creates them when it starts.")

    run(work())


@app.command()
def pause(kind: Kind, note: Note = None, as_json: AsJson = False) -> None:
    """Pause a Schedule until it is resumed."""

    async def work() -> None:
        async with await connect_client() as client:
            await client.maintenance.pause(kind, note=note)
        _print(kind, state="paused", as_json=as_json)

    run(work())


@app.command()
def resume(kind: Kind, note: Note = None, as_json: AsJson = False) -> None:
    """Resume a paused Schedule."""

    async def work() -> None:
        async with await connect_client() as client:
            await client.maintenance.resume(kind, note=note)
        _print(kind, state="active", as_json=as_json)

    run(work())


@app.command()
def backfill(
    kind: Kind,
    since: Annotated[str, typer.Option(help="Beginning of the period, such as 2026-03-01.")],
    until: Annotated[str, typer.Option(help="Its end; default: now.")] = "now",
    as_json: AsJson = False,
) -> None:
    """Start the runs of a period in the past, one after the other."""
    begins = parse_timestamp(since, what="--since")
    ends = parse_timestamp(until, what="--until")
    assert begins is not None
    assert ends is not None

    async def work() -> None:
        async with await connect_client() as client:
            await client.maintenance.backfill(kind, since=begins, until=ends)
        if as_json:
            print_json({"kind": kind, "since": begins, "until": ends})
        else:
            period = f"{begins:%Y-%m-%d %H:%M} to {ends:%Y-%m-%d %H:%M}"
            out.print(f"{kind} runs for {period} are queued.", highlight=False)

    run(work())


def _print(kind: MaintenanceKind, *, state: str, as_json: bool) -> None:
    if as_json:
        print_json({"kind": kind, "state": state})
    else:
        out.print(f"{kind} is {state}.")
