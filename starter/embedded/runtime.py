"""The embedded runtime: everything Mnestic needs, as child processes on one machine.

`mnestic up`, the demo and the tests all want the same: start what is missing, in parallel; start again what ends by
itself; and leave nothing running, however they end themselves.
"""

import asyncio
import time
from collections.abc import Callable, Coroutine
from contextlib import AsyncExitStack
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any, Self

import psutil
from filelock import FileLock, Timeout

from mnestic.memory.errors import ConfigurationError, InUseError
from mnestic.starter.embedded.api_process import ApiServer, start_api, url_of
from mnestic.starter.embedded.connection import connect
from mnestic.starter.embedded.postgres import start_postgres
from mnestic.starter.embedded.process_group import ManagedProcess, ProcessGroup
from mnestic.starter.embedded.process_wiring import ProcessWiring
from mnestic.starter.embedded.provision import find_temporal
from mnestic.starter.embedded.search_attributes import ensure_search_attributes
from mnestic.starter.embedded.state import RuntimeState, read_last_state, write_state
from mnestic.starter.embedded.supervisor import RestartPolicy, SupervisedProcess, Supervisor
from mnestic.starter.embedded.temporal_server import start_temporal
from mnestic.starter.embedded.ui_guard import UiGuard
from mnestic.starter.embedded.worker_process import start_worker_process
from mnestic.starter.settings import Settings, WorkerRole


class EmbeddedRuntime:
    """Postgres, Temporal and workers; an async context manager.

    `report` gets one line a step. `migrate` is called with the URL of the schema's owner, in a thread,
    once Postgres answers. With `start_worker` a worker of jobs and one of maintenance are started last; without it, call
    `start_worker()` when you want one of jobs. With `start_api` the HTTP API is served, too.
    """

    def __init__(
        self,
        settings: Settings,
        *,
        report: Callable[[str], None],
        migrate: Callable[[str], object],
        start_worker: bool = True,
        start_api: bool = False,
        restarts: RestartPolicy | None = None,
    ) -> None:
        self._settings = settings
        self._report = report
        self._migrate = migrate
        self._with_worker, self._with_api = start_worker, start_api
        self._data_dir = settings.data_dir.expanduser().resolve()
        self._exits = AsyncExitStack()
        self._processes = ProcessGroup(self._data_dir / "logs" / "guardian.log", self._write_down)
        self._supervisor = Supervisor(report, restarts)
        self._guard = UiGuard(settings.temporal_ui_url)
        self._servers: list[SupervisedProcess] = []
        self._worker: SupervisedProcess | None = None
        me = psutil.Process()
        self._state = RuntimeState(
            pid=me.pid, create_time=me.create_time(), started_at=datetime.now(UTC)
        )

    async def __aenter__(self) -> Self:
        """Starts what is missing; returns once all of it answers.

        Raises:
            ConfigurationError: the data directory cannot be written.
            InUseError: the data directory or a port is taken.
            ProvisioningError: there is no Temporal, and none could be made.
            UnavailableError: a part did not come up; names it.
        """
        async with self._exits:
            await self._start()
            self._exits = self._exits.pop_all()
        return self

    async def __aexit__(self, *failure: object) -> None:
        """Stops everything."""
        await self.stop()

    @property
    def state(self) -> RuntimeState:
        """Where everything answers."""
        return self._state

    async def wait(self) -> None:
        """Waits until the runtime is stopped.

        Raises:
            ProcessCrashedError: Postgres, Temporal or the guardian ended by itself again and again.
        """
        await self._supervisor.wait()

    async def stop(self) -> None:
        """Stops the worker and the API, then Temporal and Postgres."""
        await self._exits.aclose()

    async def start_worker(self) -> int:
        """Starts a worker of jobs and returns its pid, once it polls.

        Raises:
            ProcessCrashedError: it ended instead.
            TemporalUnavailableError: it does not poll in time.
        """
        began = time.monotonic()
        part = await self._run_worker("jobs")
        restart = partial(self._restart_worker, "jobs")
        self._worker = self._supervisor.supervise(part, restart, give_up=self._go_on_without)
        self._report(f"The worker is ready ({time.monotonic() - began:.1f} s)")
        return part.mark.pid

    async def kill_worker(self) -> int | None:
        """Ends the worker by SIGKILL for good and returns its pid, None when there is none."""
        worker, self._worker = self._worker, None
        if worker is None:
            return None
        await worker.release()
        await worker.part.kill()
        return worker.part.mark.pid

    async def _start(self) -> None:
        began = time.monotonic()
        self._occupy()
        last = read_last_state(self._data_dir)
        await self._clear(last)
        self._change(
            temporal_port=last.temporal_port if last else None,
            ui_port=last.ui_port if last else None,
            api_port=last.api_port if last else None,
        )
        self._exits.callback(self._change, ready=False)
        await self._exits.enter_async_context(self._processes)
        await self._exits.enter_async_context(self._supervisor)
        self._supervisor.supervise(self._processes.guardian, self._processes.start_guardian)
        await _together(self._start_database(), self._start_temporal())
        programs: list[Coroutine[Any, Any, Any]] = []
        if self._with_worker:
            programs += [self.start_worker(), self._start_maintenance()]
        if self._with_api:
            programs.append(self._start_api())
        await _together(*programs)
        self._change(ready=True)
        self._report(f"Everything answers ({time.monotonic() - began:.1f} s)")

    def _occupy(self) -> None:
        """Makes the data directory ours alone."""
        try:
            self._data_dir.mkdir(parents=True, exist_ok=True, mode=0o700)
            lock = FileLock(self._data_dir / "lock", thread_local=False)
            lock.acquire(timeout=0)
        except Timeout:
            raise InUseError(
                what=f"data directory {self._data_dir}",
                by=_describe(read_last_state(self._data_dir)),
                remedy="use that one, stop it, or choose another directory (--data)",
            ) from None
        except OSError as error:
            why = f"{self._data_dir} cannot be used: {error.strerror}"
            raise ConfigurationError(setting="MNESTIC_DATA_DIR", why=why) from error
        self._exits.callback(lock.release)

    async def _clear(self, last: RuntimeState | None) -> None:
        """Ends what a runtime that was killed has left running."""
        for mark in sorted(last.parts if last else (), key=lambda mark: mark.stop_order):
            if await asyncio.to_thread(mark.end):
                self._report(f"Ended {mark.name}, left running by an earlier runtime")

    async def _start_database(self) -> None:
        began = time.monotonic()
        own = self._settings.database_url
        if own is not None:
            admin = self._settings.database_admin_url or own
            self._change(
                database_url=own.get_secret_value(), database_admin_url=admin.get_secret_value()
            )
        else:
            part, address = await start_postgres(self._data_dir, self._processes)
            self._servers.append(self._supervisor.supervise(part, self._restart_postgres))
            self._change(database_url=address.app_url, database_admin_url=address.admin_url)
            self._report(f"Postgres is ready ({time.monotonic() - began:.1f} s)")
        began = time.monotonic()
        assert self._state.database_admin_url is not None
        await asyncio.to_thread(self._migrate, self._state.database_admin_url)
        self._report(f"The schema is up to date ({time.monotonic() - began:.1f} s)")

    async def _start_temporal(self) -> None:
        own = self._settings.temporal_address
        if own is not None:
            await ensure_search_attributes(await connect(own, embedded=False))
            self._change(temporal_address=own, temporal_ui=self._settings.temporal_ui_url)
            return
        await self._guard.open(
            self._settings.ui_port,
            last=self._state.ui_port,
            but_not=self._settings.temporal_port,
        )
        self._exits.push_async_callback(self._guard.close)
        program = await find_temporal(self._report, self._processes)
        began = time.monotonic()
        server = await start_temporal(
            program,
            self._data_dir,
            self._processes,
            port=self._settings.temporal_port,
            last=self._state.temporal_port,
        )
        self._guard.upstream = server.hidden_ui
        self._change(
            temporal_address=server.target,
            temporal_ui=self._settings.temporal_ui_url or self._guard.url,
            temporal_port=server.port,
            ui_port=self._guard.port,
        )
        restart = partial(self._restart_temporal, program, server.port)
        self._servers.append(self._supervisor.supervise(server.part, restart))
        self._report(f"Temporal is ready ({time.monotonic() - began:.1f} s)")

    async def _restart_postgres(self) -> ManagedProcess:
        part, _ = await start_postgres(self._data_dir, self._processes)
        return part

    async def _restart_temporal(self, program: Path, port: int) -> ManagedProcess:
        server = await start_temporal(program, self._data_dir, self._processes, port=port)
        self._guard.upstream = server.hidden_ui
        return server.part

    async def _start_maintenance(self) -> None:
        part = await self._run_worker("maintenance")
        restart = partial(self._restart_worker, "maintenance")
        self._supervisor.supervise(part, restart, give_up=self._go_on_without)

    async def _restart_worker(self, serves: WorkerRole) -> ManagedProcess:
        for server in self._servers:  # a worker without them would end again
            await server.until_up()
        return await self._run_worker(serves)

    async def _run_worker(self, serves: WorkerRole) -> ManagedProcess:
        return await start_worker_process(
            self._processes,
            self._wiring(),
            serves=serves,
            prometheus_address=self._settings.prometheus_address,
        )

    async def _start_api(self) -> None:
        began = time.monotonic()
        server = await self._run_api(self._settings.http_port, last=self._state.api_port)
        restart = partial(self._restart_api, server.port)
        self._supervisor.supervise(server.part, restart, give_up=self._go_on_without)
        self._change(api_url=url_of(self._settings.http_host, server.port), api_port=server.port)
        self._report(f"The HTTP API is ready ({time.monotonic() - began:.1f} s)")

    async def _restart_api(self, port: int) -> ManagedProcess:
        for server in self._servers:  # it would end again without them
            await server.until_up()
        return (await self._run_api(port)).part

    async def _run_api(self, port: int | None, *, last: int | None = None) -> ApiServer:
        host = self._settings.http_host
        return await start_api(self._processes, self._wiring(), host=host, port=port, last=last)

    def _wiring(self) -> ProcessWiring:
        assert self._state.database_url is not None, "the runtime is not started"
        assert self._state.database_admin_url is not None, "the runtime is not started"
        assert self._state.temporal_address is not None, "the runtime is not started"
        return ProcessWiring(
            database_url=self._state.database_url,
            database_admin_url=self._state.database_admin_url,
            temporal_address=self._state.temporal_address,
            temporal_ui=self._state.temporal_ui,
            embedded=self._settings.temporal_address is None,
            task_queue=self._settings.task_queue,
            data_dir=self._data_dir,
        )

    def _go_on_without(self, error: BaseException) -> None:
        self._change(given_up=(*self._state.given_up, str(error)))
        self._report(f"{error}. The other parts go on")

    def _change(self, **changes: object) -> None:
        self._state = self._state.model_copy(update=changes)
        self._write_down()

    def _write_down(self) -> None:
        self._state = self._state.model_copy(update={"parts": self._processes.marks})
        write_state(self._data_dir, self._state)


async def _together(*starts: Coroutine[Any, Any, Any]) -> None:
    """Runs the starts side by side; when one fails, cancels the others and raises its error."""
    tasks = [asyncio.ensure_future(start) for start in starts]
    try:
        await asyncio.gather(*tasks)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def _describe(holder: RuntimeState | None) -> str:
    if holder is None or not holder.alive:
        return "a runtime that is starting"
    ui = f", Temporal UI {holder.temporal_ui}" if holder.temporal_ui else ""
    return f"pid {holder.pid}, since {holder.started_at:%Y-%m-%d %H:%M:%S} UTC{ui}"
