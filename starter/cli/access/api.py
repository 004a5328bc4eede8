"""`mnestic api`: the HTTP API as a process of its own."""

from typing import Annotated

import typer

from mnestic.starter.cli.output import print_progress, run
from mnestic.starter.cli.overrides import command_settings
from mnestic.starter.logs import configure_logs, log_uncaught_errors


def api(
    host: Annotated[
        str | None, typer.Option(help="Address to listen on; default 127.0.0.1.")
    ] = None,
    port: Annotated[
        int | None, typer.Option(min=0, max=65535, help="Port; default 8420, 0: a free one.")
    ] = None,
    processes: Annotated[
        int | None,
        typer.Option(
            min=1, max=64, help="Processes that serve it; default: MNESTIC_HTTP_PROCESSES, or 1."
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Write logs as JSON lines.")] = False,
) -> None:
    """Serve the HTTP API alone; SIGTERM stops it once its requests are answered."""
    from mnestic.starter.embedded.api_process import FIRST_PORT
    from mnestic.starter.http.processes import share_port

    settings = command_settings(http_processes=processes, log_format="json" if as_json else None)
    configure_logs(settings)
    log_uncaught_errors()
    host = host or settings.http_host
    port = settings.http_port or FIRST_PORT if port is None else port
    share = share_port(host, port, processes=settings.http_processes)
    from mnestic.starter.http.server import serve  # in each process, as it starts threads

    of_several = "" if share.number is None else f", process {share.number}"
    run(
        serve(
            settings,
            share,
            host=host,
            ready=lambda url: print_progress(f"The HTTP API answers at {url}{of_several}"),
        )
    )
