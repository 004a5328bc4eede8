"""The `mnestic` command: its subcommands, and what its exit code means.

Exit codes: 0 done · 1 failed, or something that cannot be is · 2 refused, the command must change ·
3 something outside does not answer, try again later · 130 interrupted.
"""

import io
import sys
from importlib.metadata import version
from pathlib import Path
from typing import Annotated, NoReturn

import typer

from mnestic.memory.error_texts import describe_error
from mnestic.memory.errors import MnesticError
from mnestic.starter.cli import agents, config, demo, deploy, doctor, servers
from mnestic.starter.cli import memory as memories
from mnestic.starter.cli.jobs import jobs, steering, transcript
from mnestic.starter.cli.jobs import reports as job_reports
from mnestic.starter.cli.knowledge import entries, extract
from mnestic.starter.cli.models import costs
from mnestic.starter.cli.output import (
    EXIT_FAILED,
    EXIT_INTERRUPTED,
    err,
    exit_code,
    fail,
    leave,
    wants_tracebacks,
)
from mnestic.starter.cli.overrides import overrides

app = typer.Typer(
    name="mnestic",
    help="Durable memory for AI agents, on Temporal.",
    epilog=f"Exit codes: {(__doc__ or '').partition('Exit codes: ')[2].strip()}",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)
app.add_typer(jobs.app, name="job")
app.add_typer(memories.app, name="memory")
for _command in (
    job_reports.history,
    job_reports.diff,
    transcript.transcript,
    steering.override,
    steering.extend,
    steering.pause,
    steering.unpause,
    steering.poke,
    steering.fork,
):
    jobs.app.command()(_command)
app.command("up")(servers.up)
app.command("worker")(servers.worker)
app.command("deploy")(deploy.deploy)
app.command("migrate")(servers.migrate_schema)
app.command("index")(servers.index)
app.command("doctor")(doctor.doctor)
app.command("extract")(extract.extract)
app.command("stats")(entries.stats)
app.command("agents")(agents.agents)
app.command("costs")(costs.costs)
app.command("config")(config.config)
app.command("demo")(demo.demo)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(version("mnestic"))
        raise typer.Exit


@app.callback()
def common(
    data: Annotated[
        Path | None, typer.Option(help="Data directory of the embedded runtime to use.")
    ] = None,
    tenant: Annotated[str | None, typer.Option(help="Tenant to work for.")] = None,
    _version: Annotated[
        bool,
        typer.Option(
            "--version", help="Print the version.", callback=_print_version, is_eager=True
        ),
    ] = False,
) -> None:
    """Options of all commands."""
    overrides.update(data_dir=data, tenant_id=tenant)


def main() -> NoReturn:
    """Runs the command line and ends the process."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(
            stream, io.TextIOWrapper
        ):  # what its encoding has no character for is escaped
            stream.reconfigure(errors="backslashreplace")
    leave(run_command_line())


def run_command_line() -> int:
    """Runs the command line and returns the exit code; every error is one line."""
    try:
        app()
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else 0
    except MnesticError as error:
        return fail(str(error), code=exit_code(error))
    except KeyboardInterrupt:
        return EXIT_INTERRUPTED
    except Exception as error:  # noqa: BLE001 - the last place where one can be told in a line
        if wants_tracebacks():
            from mnestic.starter.logs import format_error

            err.print(format_error(error), soft_wrap=True)
        told = f"internal: {describe_error(error)} (MNESTIC_LOG_LEVEL=DEBUG shows where)"
        return fail(told, code=EXIT_FAILED)
    return 0


if __name__ == "__main__":
    main()
