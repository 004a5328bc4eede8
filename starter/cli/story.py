"""Runs the demo on its own servers, or on those that are up, and prints each step."""

import uuid
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from pydantic import SecretStr

from mnestic.starter.cli.output import err, out, print_progress
from mnestic.starter.client.mnestic_client import MnesticClient
from mnestic.starter.demo.scenario import Demo, DemoReport, Workers
from mnestic.starter.embedded.runtime import EmbeddedRuntime
from mnestic.starter.embedded.state import read_state
from mnestic.starter.importers.turns import Conversation
from mnestic.starter.settings import Settings
from mnestic.stores.postgres.schema import migrate


async def run_demo(settings: Settings, conversation: Conversation, *, as_json: bool) -> DemoReport:
    """Runs the demo; the story goes to standard output, or with `as_json` to standard error.

    Raises:
        MnesticError: something did not answer, or refused.
    """
    console = err if as_json else out

    def print_step(line: str) -> None:
        console.print(line, soft_wrap=True)

    async with (
        _runtime(settings, report=print_progress) as (runtime, in_force, time_skipping),
        await MnesticClient.connect(in_force) as client,
    ):
        return await Demo(
            client,
            Workers(runtime.start_worker, runtime.kill_worker),
            conversation,
            print_step=print_step,
            time_skipping=time_skipping,
        ).run()


@asynccontextmanager
async def _runtime(
    settings: Settings, *, report: Callable[[str], None]
) -> AsyncIterator[tuple[EmbeddedRuntime, Settings, bool]]:
    """The servers that are up on the data directory, or else some of our own, without a worker.

    The demo's jobs have a task queue of their own, so that no other worker takes them.
    """
    state = read_state(settings.data_dir)
    name = uuid.uuid4().hex[:8]
    changes: dict[str, object] = {"task_queue": f"demo-{name}"}
    time_skipping = settings.temporal_address is None
    if state is not None and state.ready:
        time_skipping = time_skipping and state.temporal_port is not None
        changes |= {
            "data_dir": settings.data_dir / "demos" / name,
            "database_url": SecretStr(state.database_url or ""),
            "database_admin_url": SecretStr(state.database_admin_url or ""),
            "temporal_address": state.temporal_address,
            "temporal_ui_url": settings.temporal_ui_url or state.temporal_ui,
        }
    in_force = settings.model_copy(update=changes)
    runtime = EmbeddedRuntime(in_force, report=report, migrate=migrate, start_worker=False)
    async with runtime:
        yield runtime, in_force, time_skipping


def print_report(report: DemoReport) -> None:
    """Prints the counts."""
    out.print(
        f"\nWrites expected {report.writes_expected}, present {report.writes_present}, "
        f"duplicated {report.writes_duplicated}. Snapshots verified at restore: "
        f"{report.restores_verified} of {report.waits}. {report.elapsed_s} s."
    )
    if report.sound:
        out.print("Nothing lost, nothing duplicated.", style="bold green")
    else:
        out.print("A count is wrong.", style="bold red")
    out.print(
        f"The job in the Temporal UI (run `mnestic up` for it): {report.temporal_ui}",
        soft_wrap=True,
    )
