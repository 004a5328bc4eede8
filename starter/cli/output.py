"""How commands speak: tables for people, one JSON document for programs, one line for an error."""

import asyncio
import contextlib
import json
import logging
import os
import sys
from collections.abc import Coroutine, Iterable, Sequence
from typing import Annotated, Any, NoReturn, TypeVar

import typer
from pydantic import TypeAdapter, ValidationError
from rich.console import Console
from rich.table import Table
from rich.text import Text

from mnestic.memory.errors import (
    InvalidInputError,
    JobFailedError,
    MnesticError,
    RefusedError,
    UnavailableError,
)
from mnestic.memory.validation import refused

EXIT_FAILED = 1
EXIT_REFUSED = 2
EXIT_UNAVAILABLE = 3
EXIT_INTERRUPTED = 130

AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON document.")]
Result = TypeVar("Result")

# Without markup: what is printed is often text that somebody stored.
out = Console(highlight=False, markup=False)
err = Console(stderr=True, highlight=False, markup=False)


def run(work: Coroutine[Any, Any, Result]) -> Result:
    """Runs a command's work."""
    return asyncio.run(work)


def print_json(document: Any) -> None:
    """Prints one JSON document on standard output."""
    told = json.dumps(document, ensure_ascii=False, default=str)
    try:
        told.encode(sys.stdout.encoding)
    except UnicodeEncodeError:  # another encoding than UTF-8, or bytes in a file's name
        told = json.dumps(document, default=str)
    sys.stdout.write(told + "\n")
    sys.stdout.flush()


def print_delay(why: str) -> None:
    """Tells a person why a command takes longer, on standard error."""
    err.print(f"learning waits: {why}", soft_wrap=True)


def counted(number: int, things: str) -> str:
    """How many of something, whose plural ends in s."""
    return f"{number} {things.removesuffix('s') if number == 1 else things}"


def print_table(
    columns: Sequence[str], rows: Iterable[Sequence[Any]], *, empty: str, cut: Sequence[str] = ()
) -> None:
    """Prints rows as a table, or the sentence that there are none.

    The columns in `cut` are kept to one line, whatever is in them.
    """
    table = Table(box=None, pad_edge=False, header_style="bold", expand=bool(cut))
    for column in columns:
        if column in cut:  # they share the room that the others leave
            table.add_column(column, overflow="ellipsis", no_wrap=True, ratio=1)
        else:
            table.add_column(column, overflow="fold")
    for row in rows:
        table.add_row(*(Text("" if cell is None else str(cell)) for cell in row))
    if table.row_count:
        out.print(table)
    else:
        out.print(empty)


def print_progress(line: str) -> None:
    """Prints a step of long work on standard error."""
    err.print(line, style="dim", soft_wrap=True)


def print_refusal(line: str) -> None:
    """Prints on standard error what was left out of a command's work."""
    err.print(f"refused: {line}", soft_wrap=True)


def parse_value(text: str, *, what: str) -> Any:
    """A value from the command line: JSON, and what is not JSON is text.

    Raises:
        InvalidInputError: it is more than JSON can be here.
    """
    try:
        return _read_json(text, what)
    except json.JSONDecodeError:
        return text


def parse_as(kind: Any, text: Any, *, what: str) -> Any:
    """A value of a pydantic type, written as text or given as its parts; None stays None.

    Raises:
        InvalidInputError: it is no such value.
    """
    if text is None:
        return None
    try:
        return TypeAdapter(kind).validate_python(text)
    except ValidationError as error:
        raise refused(what, error) from None


def parse_json(text: str, *, what: str) -> Any:
    """A value that must be JSON.

    Raises:
        InvalidInputError: says where it is not.
    """
    try:
        return _read_json(text, what)
    except json.JSONDecodeError as error:
        why = f"is not JSON: {error.msg} at character {error.pos + 1}"
        raise InvalidInputError(what=what, why=why) from None


def _read_json(text: str, what: str) -> Any:
    try:
        return json.loads(text)
    except json.JSONDecodeError:
        raise
    except RecursionError:
        raise InvalidInputError(what=what, why="is nested too deep") from None
    except ValueError:  # Python's limit on digits
        raise InvalidInputError(what=what, why="holds an integer that is too long") from None


def exit_code(error: MnesticError) -> int:
    """The exit code of an error's branch."""
    if isinstance(error, JobFailedError):
        return EXIT_FAILED  # the command was right, the job was not
    if isinstance(error, RefusedError):
        return EXIT_REFUSED
    return EXIT_UNAVAILABLE if isinstance(error, UnavailableError) else EXIT_FAILED


def fail(message: str, *, code: int) -> int:
    """Prints an error as one line on standard error; returns the code to exit with."""
    line = Text("error:", style="bold red").append(
        f" {' '.join(message.splitlines())}", style="default"
    )
    err.print(line, soft_wrap=True)
    return code


def leave(code: int) -> NoReturn:
    """Ends the process at once, with its output written.

    Threads of Temporal's SDK outlive the event loop and may crash an interpreter that winds down: on
    two busy cores that ended 16 of 75 short commands by SIGABRT or SIGSEGV, after their work was done.
    """
    logging.shutdown()
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError):  # nobody reads it any more
            stream.flush()
    os._exit(code)


def wants_tracebacks() -> bool:
    """Whether an internal error shows its traceback."""
    return os.environ.get("MNESTIC_LOG_LEVEL", "").upper() == "DEBUG"
