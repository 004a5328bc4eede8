"""`mnestic up`, `worker` and `migrate`: servers, workers and the database."""

import asyncio
import signal
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from mnestic.starter.cli.output import (
    EXIT_INTERRUPTED,
    EXIT_UNAVAILABLE,
    AsJson,
    err,
    out,
    print_json,
    print_progress,
    run,
)
from mnestic.starter.cli.overrides import command_settings
from mnestic.starter.logs import configure_logs, log_uncaught_errors
from mnestic.starter.settings import Settings, WorkerRole

if TYPE_CHECKING:
    from mnestic.starter.embedded.runtime import EmbeddedRuntime

_OPEN_TO_ACCOUNTS = (
    "note: Temporal's dev server has no passwords, so every account of this machine can read and "
    "steer its jobs. On a machine that you share, set TEMPORAL_ADDRESS to a cluster of your own with "
    "TLS or an API key."
)


def up(
    data: Annotated[Path | None, typer.Option(help="Folder of databases and logs.")] = None,
    port: Annotated[int | None, typer.Option(help="Port of Temporal; default 7233.")] = None,
    ui_port: Annotated[int | None, typer.Option(help="Port of its UI; default 8233.")] = None,
    api_port: Annotated[
        int | None, typer.Option(help="Port of the HTTP API; default 8420.")
    ] = None,
    no_worker: Annotated[bool, typer.Option("--no-worker", help="Start no worker.")] = False,
    no_api: Annotated[bool, typer.Option("--no-api", help="Serve no HTTP API.")] = False,
    as_json: AsJson = False,
) -> None:
    """Start Postgres, Temporal with its UI, a worker and the HTTP API; Ctrl-C stops them."""
    settings = command_settings(
        data_dir=data, temporal_port=port, ui_port=ui_port, http_port=api_port
    )
    run(_up(settings, start_worker=not no_worker, start_api=not no_api, as_json=as_json))


def worker(
    build_id: Annotated[
        str | None, typer.Option(help="Build of this worker's code; jobs stay with their build.")
    ] = None,
    serves: Annotated[WorkerRole | None, typer.Option(help="What it does; default: all.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Write logs as JSON lines.")] = False,
) -> None:
    """Run a worker alone, for a cluster; SIGTERM stops it once its activities have ended."""
    from mnestic.worker import run_worker

    settings = command_settings(
        build_id=build_id, worker_serves=serves, log_format="json" if as_json else None
    )
    configure_logs(settings)
    log_uncaught_errors()
    run(run_worker(settings))


def migrate_schema(as_json: AsJson = False) -> None:
    """Upgrade the database's schema to this version, restore its roles and rights, and register Temporal's search attributes."""
    from mnestic.starter.memory_wiring import find_database
    from mnestic.stores.postgres.schema import migrate

    settings = command_settings()
    _, admin_url = find_database(settings)
    version = migrate(admin_url.get_secret_value(), report=print_progress)
    registered = run(_register_search_attributes(settings))
    if as_json:
        print_json({"schema": version, "search_attributes": list(registered)})
        return
    out.print(f"The schema is at version {version}.")
    if registered:
        out.print(f"Search attributes that were missing: {', '.join(registered)}.")


async def _register_search_attributes(settings: Settings) -> tuple[str, ...]:
    """Registers those that a Temporal of the user's own lacks; that of `mnestic up` has them."""
    from mnestic.starter.embedded.connection import connect
    from mnestic.starter.embedded.search_attributes import ensure_search_attributes

    if settings.temporal_address is None:
        return ()
    return await ensure_search_attributes(await connect(settings.temporal_address, embedded=False))


async def _up(settings: Settings, *, start_worker: bool, start_api: bool, as_json: bool) -> None:
    from mnestic.starter.embedded.runtime import EmbeddedRuntime
    from mnestic.stores.postgres.schema import migrate

    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop.set)
    runtime = EmbeddedRuntime(
        settings,
        report=print_progress,
        migrate=migrate,
        start_worker=start_worker,
        start_api=start_api,
    )
    starting = asyncio.create_task(runtime.__aenter__())
    stopping = asyncio.create_task(stop.wait())
    await asyncio.wait({starting, stopping}, return_when=asyncio.FIRST_COMPLETED)
    if not starting.done():
        err.print("Stopping …")
        starting.cancel()
        await asyncio.wait({starting})
        err.print("Stopped before it was ready; nothing is left running.")
        raise typer.Exit(EXIT_INTERRUPTED)
    await starting
    try:
        key_file = await _local_key(settings) if start_api else None
        data_dir = settings.data_dir.expanduser().resolve()
        _announce(runtime, data_dir, key_file=key_file, as_json=as_json)
        if settings.temporal_address is None:
            err.print(_OPEN_TO_ACCOUNTS, soft_wrap=True)
        ended = asyncio.create_task(runtime.wait())
        await asyncio.wait({ended, stopping}, return_when=asyncio.FIRST_COMPLETED)
        if ended.done():
            await ended
        err.print("Stopping …")
        ended.cancel()
    finally:
        stopping.cancel()
        await runtime.stop()
    err.print("Stopped.")
    if runtime.state.given_up:
        raise typer.Exit(EXIT_UNAVAILABLE)


async def _local_key(settings: Settings) -> Path:
    from mnestic.starter.access.local_key import ensure_local_key, local_key_file
    from mnestic.starter.client.memory_connection import MemoryConnection

    path = local_key_file(settings)
    async with await MemoryConnection.connect(settings) as connection:
        await ensure_local_key(connection.api_keys(), path)
    return path


def _announce(
    runtime: "EmbeddedRuntime", data_dir: Path, *, key_file: Path | None, as_json: bool
) -> None:
    from mnestic.starter.http.pages.access import ROOT as PAGE

    state = runtime.state
    if as_json:
        print_json(
            {
                "ready": True,
                "pid": state.pid,
                "temporal": state.temporal_address,
                "temporal_ui": state.temporal_ui,
                "database": state.database_url,
                "api": state.api_url,
                "page": None if state.api_url is None else f"{state.api_url}{PAGE}",
                "api_key_file": None if key_file is None else str(key_file),
                "data_dir": str(data_dir),
            }
        )
        return
    out.print(f"Temporal UI  {state.temporal_ui or '(your own)'}")
    out.print(f"Temporal     {state.temporal_address}")
    out.print(f"Postgres     {state.database_url}", soft_wrap=True)
    if key_file is not None:
        out.print(f"HTTP API     {state.api_url}, key in {key_file}", markup=False, soft_wrap=True)
        page = f"{state.api_url}{PAGE}, sign in with that key"
        out.print(f"Page         {page}", markup=False, soft_wrap=True)
    out.print(f"Data         {data_dir}", markup=False, soft_wrap=True)
    out.print("ready; press Ctrl-C to stop")
