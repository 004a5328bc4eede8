"""Waits for the extraction of messages that a command has stored: progress, delays, and how to continue.

`memory ingest` and `memory import` end in the same wait.
"""

import asyncio
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING, Any

from rich.progress import Progress, TaskID

from mnestic.memory.errors import ExtractionPausedError, UnavailableError
from mnestic.starter.cli.output import print_delay, print_progress, print_warning, run

if TYPE_CHECKING:
    from mnestic.memory.knowledge.ingestion import IngestCounts
    from mnestic.starter.client.memory_client import MemoryClient
    from mnestic.starter.client.mnestic_client import MnesticClient

_POLL_S = 0.5


def run_resumable(work: Coroutine[Any, Any, None]) -> None:
    """Runs it; an interruption prints how to continue."""
    try:
        run(work)
    except KeyboardInterrupt:
        print_progress("What was stored stays; the same command continues where it stopped.")
        raise


async def extract_messages(client: "MnesticClient", agent_id: str) -> ExtractionPausedError | None:
    """Starts extraction and waits for its end; returns why it is paused, if it is."""
    from mnestic.starter.client.ingest_status import wait_for_end
    from mnestic.starter.client.ingestion import start_ingest

    try:
        handle = await start_ingest(client, agent_id=agent_id)
        await wait_for_end(client, handle, report=print_delay)
    except ExtractionPausedError as error:
        return error
    return None


def warn_without_extractor(before: "IngestCounts", after: "IngestCounts") -> None:
    """Prints it where the worker has no extractor."""
    if after.without_extractor > before.without_extractor:
        from mnestic.starter.extraction_wiring import NO_FACTS

        print_warning(NO_FACTS)


@asynccontextmanager
async def extraction_progress(progress: Progress, memory: "MemoryClient") -> AsyncIterator[None]:
    """Shows the progress of extraction on a terminal, if messages wait for it."""
    waiting = 0 if progress.disable else (await memory.messages.count()).waiting
    if not waiting:
        yield
        return
    bar = progress.add_task("messages extracted", total=waiting)
    watching = asyncio.create_task(_watch(progress, bar, memory))
    try:
        yield
    finally:
        watching.cancel()
        await asyncio.wait([watching])
        await _count(progress, bar, memory)


async def _watch(progress: Progress, bar: TaskID, memory: "MemoryClient") -> None:
    while True:
        await _count(progress, bar, memory)
        await asyncio.sleep(_POLL_S)


async def _count(progress: Progress, bar: TaskID, memory: "MemoryClient") -> None:
    """Updates the bar; messages that others send meanwhile count too, so the total may grow."""
    with suppress(
        UnavailableError
    ):  # nothing to show for now; the wait for extraction reports the reason
        waiting = (await memory.messages.count()).waiting
        total = max(progress.tasks[bar].total or 0, waiting)
        progress.update(bar, total=total, completed=total - waiting)
