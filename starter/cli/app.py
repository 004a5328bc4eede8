"""The `mnestic` command: its subcommands, and what its exit code means.

Exit codes: 0 done · 1 failed, or something that cannot be is · 2 refused, the command must change ·
3 something outside does not answer, try again later · 130 interrupted.
"""

import io
import sys
from pathlib import Path
from typing import Annotated, ClassVar, NoReturn

import typer

from mnestic.memory.errors import MnesticError
from mnestic.starter.cli.lazy_groups import LazyGroup
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

_CLI = "mnestic.starter.cli"


class _Commands(LazyGroup):
    listed: ClassVar = {
        "up": (
            f"{_CLI}.servers:up",
            "Start Postgres, Temporal with its UI and a worker; Ctrl-C stops them.",
        ),
        "worker": (
            f"{_CLI}.servers:worker",
            "Run a worker alone, for a cluster; SIGTERM stops it once its activities have ended.",
        ),
        "deploy": (
            f"{_CLI}.deploy:deploy",
            "Send new jobs, and jobs that continue as new, to a build of the workers; or list the builds.",
        ),
        "migrate": (
            f"{_CLI}.servers:migrate_schema",
            "Bring the database's schema to this version, and put roles and rights right.",
        ),
        "index": (
            f"{_CLI}.servers:index",
            "Build the vector indexes that large memories of the tenant lack; everybody goes on meanwhile.",
        ),
        "doctor": (
            f"{_CLI}.doctor:doctor",
            "Check each part, and say how to repair it.",
        ),
        "extract": (
            f"{_CLI}.knowledge.extract:extract",
            "Show what a message claims, by the configured model or the local rules; nothing is stored.",
        ),
        "stats": (f"{_CLI}.knowledge.entries:stats", "Tell an agent's memory in numbers."),
        "agents": (
            f"{_CLI}.agents:agents",
            "List the agents of the tenant, with how much each has in memory and when that was last written.",
        ),
        "costs": (
            f"{_CLI}.models.costs:costs",
            "Show tokens and money by purpose, and apart what was put before messages.",
        ),
        "config": (
            f"{_CLI}.config:config",
            "Show the settings in force and where each came from; secrets are hidden.",
        ),
        "demo": (
            f"{_CLI}.demo:demo",
            "Watch a job read a conversation, wait three weeks, lose its worker, and come back.",
        ),
        "job": (f"{_CLI}.job:app", "Start, show, resume, steer and cancel jobs."),
        "memory": (f"{_CLI}.memory:app", "Read and write an agent's memory."),
    }


app = typer.Typer(
    name="mnestic",
    cls=_Commands,
    help="Durable memory for AI agents, on Temporal.",
    epilog=f"Exit codes: {(__doc__ or '').partition('Exit codes: ')[2].strip()}",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)


def _print_version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

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
        from mnestic.memory.error_texts import describe_error

        if wants_tracebacks():
            from mnestic.starter.logs import format_error

            err.print(format_error(error), soft_wrap=True)
        told = f"internal: {describe_error(error)} (MNESTIC_LOG_LEVEL=DEBUG shows where)"
        return fail(told, code=EXIT_FAILED)
    return 0


if __name__ == "__main__":
    main()
