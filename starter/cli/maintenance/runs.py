"""`mnestic maintenance`: runs now, reports and the policy."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Annotated

import typer
from rich.progress import Progress, TaskID

from mnestic.memory.maintenance.policies import MaintenanceKind
from mnestic.memory.maintenance.policy_changes import paths_of
from mnestic.starter.cli.connection import connect_client
from mnestic.starter.cli.known_agents import warn_if_unknown
from mnestic.starter.cli.output import (
    EXIT_FAILED,
    AsJson,
    PageCursor,
    PageLimit,
    counted,
    err,
    fail,
    out,
    print_json,
    print_progress,
    print_table,
    run,
)
from mnestic.starter.cli.overrides import command_settings
from mnestic.starter.cli.progress import progress_bars

if TYPE_CHECKING:
    from mnestic.memory.maintenance.policies import MaintenancePolicy
    from mnestic.memory.maintenance.reports import MaintenanceReport
    from mnestic.starter.client.mnestic_client import MnesticClient

app = typer.Typer(
    help="Run maintenance now, show its reports, and read or change its policy.",
    no_args_is_help=True,
)
policy_app = typer.Typer(
    help="Show or change when maintenance runs and what it may do.", no_args_is_help=True
)
app.add_typer(policy_app, name="policy")
_POLL_S = 0.5
Kind = Annotated[MaintenanceKind, typer.Argument(help="The kind of maintenance.")]


@app.command("run")
def run_now(
    kind: Kind,
    agent: Annotated[
        str | None, typer.Option(help="The agent to maintain; default: all of the tenant.")
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Change nothing; show what would change.")
    ] = False,
    allow_removals: Annotated[
        bool,
        typer.Option(
            "--allow-removals", help="Let it remove more of this agent than the policy allows."
        ),
    ] = False,
    renew_vectors: Annotated[
        bool,
        typer.Option(
            "--renew-vectors",
            help="Have a monthly run make all vectors again, also those of the same model.",
        ),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Run maintenance now, and show its report.

    The exit code is 1 if the run fails, or leaves agents as the report's problems say.
    """

    async def work() -> "MaintenanceReport":
        from temporalio.client import WorkflowFailureError

        from mnestic.starter.client.ingest_status import wait_for_end

        async with await connect_client() as client, warn_if_unknown(client, agent):
            handle = await client.maintenance.start(
                kind,
                agent_id=agent,
                dry_run=dry_run,
                allow_removals=allow_removals,
                renew_vectors=renew_vectors,
            )
            run_id = handle.id.rpartition("/")[2]
            async with _shown_progress(client, run_id, kind=kind, agent_id=agent):
                try:
                    return await wait_for_end(client, handle, report=_print_delay)
                except WorkflowFailureError as error:
                    raise SystemExit(
                        fail(f"run {run_id} failed: {_reason(error)}", code=EXIT_FAILED)
                    ) from None

    report = run(work())
    if as_json:
        print_json(report.model_dump(mode="json"))
    else:
        _print_report(report)
    if report.agents_stopped:
        raise typer.Exit(EXIT_FAILED)


def _print_report(report: "MaintenanceReport") -> None:
    would = ", nothing was changed" if report.dry_run else ""
    of = "" if report.kind == "backup" else f"{counted(report.agents, 'agents')} "
    out.print(f"{report.kind}: {of}in {report.seconds:.1f} s{would}.", highlight=False)
    for name, number in report.counts.items():
        out.print(f"  {name.replace('_', ' ')}: {number}", highlight=False)
    if report.usage.calls:
        out.print(f"  {report.usage}", highlight=False)
    for problem in report.problems:
        out.print(f"  problem: {problem}", highlight=False, soft_wrap=True, markup=False)


@app.command()
def reports(
    kind: Annotated[MaintenanceKind | None, typer.Option(help="Of this kind alone.")] = None,
    limit: PageLimit = 20,
    cursor: PageCursor = None,
    as_json: AsJson = False,
) -> None:
    """List the reports of maintenance runs, newest first."""

    async def work() -> None:
        async with await connect_client() as client:
            page, next_cursor = await client.maintenance.list_reports(
                kind, limit=limit, cursor=cursor
            )
        if as_json:
            listed = [report.model_dump(mode="json") for report in page]
            print_json({"reports": listed, "cursor": next_cursor})
            return
        rows = [
            (
                report.id,
                f"{report.started_at:%Y-%m-%d %H:%M}",
                f"{report.seconds:.1f} s",
                _scope(report),
                ", ".join(f"{name} {number}" for name, number in report.counts.items()),
                len(report.problems),
            )
            for report in page
        ]
        columns = ("run", "started", "took", "of", "counts", "problems")
        print_table(columns, rows, empty="No run has ended yet.")
        if next_cursor:
            out.print(f"More: --cursor {next_cursor}", soft_wrap=True)

    run(work())


@app.command()
def sizes(as_json: AsJson = False) -> None:
    """Show what tables and indexes take, and how much each tenant has; it needs the owner of the tables."""
    from mnestic.starter.maintenance_wiring import database_sizes

    found = database_sizes(command_settings())
    if as_json:
        print_json(found.model_dump(mode="json"))
        return
    tables = [
        (one.name, one.rows, _mib(one.table_bytes), _mib(one.index_bytes)) for one in found.tables
    ]
    print_table(("table", "rows", "table MiB", "indexes MiB"), tables, empty="")
    tenants = [
        (name, of.agents, of.entries, of.facts, of.messages, of.archived, _mib(of.memory_bytes))
        for name, of in found.tenants.items()
    ]
    columns = ("tenant", "agents", "entries", "facts", "messages", "archived", "rows MiB")
    print_table(columns, tenants, empty="No tenant has memory yet.")


def _mib(size: int) -> str:
    return f"{size / 2**20:.1f}"


@policy_app.command("get")
def get_policy(as_json: AsJson = False) -> None:
    """Show the policy."""

    async def work() -> None:
        async with await connect_client() as client:
            policy = await client.maintenance.policy()
        _print_policy(policy, as_json=as_json)

    run(work())


@policy_app.command(
    "set",
    context_settings={"ignore_unknown_options": True},  # -1 is a value
)
def set_policy(
    path: Annotated[str, typer.Argument(help="Such as nightly.times.hour; `get` shows all.")],
    value: Annotated[str, typer.Argument(help="JSON, or text.")],
    as_json: AsJson = False,
) -> None:
    """Change one value of the policy; the Schedule follows."""
    from mnestic.starter.cli.values import parse_value

    parsed = parse_value(value, what=path)

    async def work() -> None:
        async with await connect_client() as client:
            policy = await client.maintenance.set_policy(path, parsed)
        _print_policy(policy, as_json=as_json)

    run(work())


@asynccontextmanager
async def _shown_progress(
    client: "MnesticClient", run_id: str, *, kind: str, agent_id: str | None
) -> AsyncIterator[None]:
    """Shows how far a run is: a bar on a terminal, elsewhere one line that names the run."""
    with progress_bars() as progress:
        if progress.disable:
            print_progress(f"run {run_id} has started")
            yield
            return
        total = 1 if agent_id else (await client.maintenance.growth()).sizes.agents
        bar = progress.add_task(f"{kind}: agents", total=None if kind == "backup" else total)
        watching = asyncio.create_task(_watch(progress, bar, client, run_id))
        try:
            yield
        finally:
            watching.cancel()
            await asyncio.wait([watching])
            await _update(progress, bar, client, run_id)
        progress.update(
            bar, completed=total
        )  # the run has ended, even if its worker does not say so


async def _watch(progress: Progress, bar: TaskID, client: "MnesticClient", run_id: str) -> None:
    while True:
        await _update(progress, bar, client, run_id)
        await asyncio.sleep(_POLL_S)


async def _update(progress: Progress, bar: TaskID, client: "MnesticClient", run_id: str) -> None:
    """Updates the bar; where nobody answers, it stays as it is."""
    found = await client.maintenance.find_progress(run_id)
    if found is not None:
        counts = ", ".join(f"{name.replace('_', ' ')} {n}" for name, n in found.counts.items())
        title = progress.tasks[bar].description.partition(";")[0]
        progress.update(
            bar, completed=found.agents, description=f"{title}; {counts}" if counts else title
        )


def _scope(report: "MaintenanceReport") -> str:
    """What a run was of, and whether it changed nothing."""
    if report.kind == "backup":
        of = "the tenant"
    elif report.agent_id is not None:
        of = f"agent {report.agent_id}"
    else:
        of = counted(report.agents, "agents")
    return f"{of}, dry run" if report.dry_run else of


def _reason(error: BaseException) -> str:
    """What ended a run, which is the innermost cause."""
    while error.__cause__ is not None:
        error = error.__cause__
    return str(getattr(error, "message", error))


def _print_delay(why: str) -> None:
    err.print(f"maintenance waits: {why}", soft_wrap=True)


def _print_policy(policy: "MaintenancePolicy", *, as_json: bool) -> None:
    document = policy.model_dump(mode="json")
    if as_json:
        print_json(document)
        return
    rows = [(path, "" if value is None else value) for path, value in paths_of(document).items()]
    print_table(("path", "value"), rows, empty="")
