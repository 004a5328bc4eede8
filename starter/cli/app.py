"""The `mnestic` command: its subcommands, and what its exit code means.

Exit codes: 0 done · 1 failed, or an internal error · 2 refused, correct the command ·
3 a service does not answer, try again later · 130 interrupted.
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
    exit_process,
    fail,
    wants_tracebacks,
)
from mnestic.starter.cli.overrides import overrides

_CLI = "mnestic.starter.cli"


class _Commands(LazyGroup):
    command_targets: ClassVar = {
        "up": (
            f"{_CLI}.servers:up",
            "Start Postgres, Temporal with its UI, a worker and the HTTP API; Ctrl-C stops them.",
        ),
        "worker": (
            f"{_CLI}.servers:worker",
            "Run a worker alone, for a cluster; SIGTERM stops it once its activities have ended.",
        ),
        "api": (
            f"{_CLI}.access.api:api",
            "Serve the HTTP API alone; SIGTERM stops it once its requests are answered.",
        ),
        "keys": (
            f"{_CLI}.access.keys:app",
            "Make, list and revoke API keys, with which programs use memory over HTTP.",
        ),
        "audit": (
            f"{_CLI}.access.audit:app",
            "Show who read or wrote what, and what was denied.",
        ),
        "deploy": (
            f"{_CLI}.deploy:deploy",
            "Send new jobs, and jobs that continue as new, to a build of the workers; or list the builds.",
        ),
        "migrate": (
            f"{_CLI}.servers:migrate_schema",
            "Upgrade the database's schema to this version, restore its roles and rights, and register Temporal's search attributes.",
        ),
        "doctor": (
            f"{_CLI}.doctor:doctor",
            "Check each part of the installation, and say how to repair what is broken.",
        ),
        "extract": (
            f"{_CLI}.knowledge.extract:extract",
            "Show what would be extracted from a message, by the configured model or the local extractor; nothing is stored.",
        ),
        "stats": (
            f"{_CLI}.knowledge.statistics:stats",
            "Show the statistics of an agent's memory.",
        ),
        "agents": (
            f"{_CLI}.agents:agents",
            "List the agents of the tenant, with the size of each memory and its last write.",
        ),
        "costs": (
            f"{_CLI}.models.costs:costs",
            "Show tokens and costs by purpose, and the tokens that were retrieved before messages.",
        ),
        "config": (
            f"{_CLI}.config:config",
            "Show the settings in force and the source of each; secrets are hidden.",
        ),
        "demo": (
            f"{_CLI}.demo:demo",
            "Watch a job read a conversation, wait three weeks, lose its worker, and come back.",
        ),
        "contract": (
            f"{_CLI}.contract.contract:app",
            "Check, apply and compare contracts: YAML documents that say what an agent's memory is.",
        ),
        "collection": (
            f"{_CLI}.contract.collection:app",
            "Add files to the collections of an agent's contract, search them, and delete documents.",
        ),
        "maintenance": (
            f"{_CLI}.maintenance.runs:app",
            "Run maintenance now, show its reports, and read or change its policy.",
        ),
        "backup": (
            f"{_CLI}.maintenance.backups:app",
            "Back up memory into a folder, verify backups, and restore from them.",
        ),
        "embeddings": (
            f"{_CLI}.maintenance.embeddings:app",
            "Show which model's vectors searches compare, and go back to the model before.",
        ),
        "schedules": (
            f"{_CLI}.maintenance.schedules:app",
            "List, pause, resume and backfill the Schedules of maintenance.",
        ),
        "mcp": (
            f"{_CLI}.mcp:mcp",
            "Serve an agent's memory and jobs to an MCP client, over standard input and output.",
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
    exit_process(run_command_line())


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
        message = f"internal: {describe_error(error)} (MNESTIC_LOG_LEVEL=DEBUG shows where)"
        return fail(message, code=EXIT_FAILED)
    return 0


if __name__ == "__main__":
    main()
