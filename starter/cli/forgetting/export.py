"""`mnestic memory export`: an agent's whole memory as JSON lines."""

import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import aclosing, contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, Annotated

import typer

from mnestic.memory.errors import InvalidInputError
from mnestic.starter.cli.known_agents import Reader, open_agent_memory
from mnestic.starter.cli.output import counted, print_progress, run

if TYPE_CHECKING:
    from mnestic.starter.client.memory_client import MemoryClient


def export(
    agent: Annotated[str, typer.Option(help="The agent whose memory is used.")],
    output: Annotated[
        Path | None,
        typer.Option(help="The file to write, replaced once complete; default: standard output."),
    ] = None,
    reader: Reader = None,
) -> None:
    """Write all of an agent's memory as JSON lines, which `memory ingest` reads back.

    It is consistent: all as of one moment. Jobs, costs, events and the audit log are not in it.
    """

    async def work() -> None:
        async with open_agent_memory(agent, reader=reader) as memory:
            if output is None:
                await _write(memory, sys.stdout.buffer)
                return
            with _replacing(output) as file:
                lines = await _write(memory, file)
            print_progress(f"{counted(lines, 'lines')} written to {output}")

    run(work())


@contextmanager
def _replacing(output: Path) -> Iterator[IO[bytes]]:
    """A file beside another, put in its place once it is whole; only its owner can read it.

    Raises:
        InvalidInputError: it cannot be written.
    """
    partial: Path | None = None
    try:
        handle, name = tempfile.mkstemp(dir=output.parent, prefix=f".{output.name}.")
        partial = Path(name)
        with os.fdopen(handle, "wb") as file:
            yield file
        partial.replace(output)
    except OSError as error:
        why = f"cannot be written: {error.strerror}"
        raise InvalidInputError(what=f"--output {output}", why=why) from error
    finally:
        if partial is not None:
            partial.unlink(missing_ok=True)


async def _write(memory: "MemoryClient", file: IO[bytes]) -> int:
    """Writes the lines in UTF-8, whatever the terminal's encoding; returns how many."""
    line_count = 0
    async with aclosing(memory.export()) as lines:
        async for line in lines:
            file.write(line.model_dump_json().encode() + b"\n")
            line_count += 1
    file.flush()
    return line_count
