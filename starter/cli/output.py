"""How commands print: tables for people, one JSON document for programs, one line for an error."""

import contextlib
import json
import logging
import os
import re
import sys
from collections.abc import Collection, Coroutine, Iterable, Sequence
from itertools import zip_longest
from typing import Annotated, Any, NoReturn, TypeVar

import typer
from rich.cells import cell_len
from rich.console import Console
from rich.table import Table
from rich.text import Text

from mnestic.memory.errors import (
    JobFailedError,
    MnesticError,
    RefusedError,
    UnavailableError,
)

EXIT_FAILED = 1
EXIT_REFUSED = 2
EXIT_UNAVAILABLE = 3
EXIT_INTERRUPTED = 130

AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON document.")]
PageLimit = Annotated[int, typer.Option(min=1, max=1000, help="Maximum number of results.")]
PageCursor = Annotated[str | None, typer.Option(help="The cursor at the end of the previous page.")]
Result = TypeVar("Result")

_MIN_CUT_WIDTH = 24  # characters that a column which is cut is left
_GAP = 2  # between columns
_MIN_ID_LENGTH = 8  # characters that are shown of one where there is too little room
# What moves the cursor, changes the terminal or turns the direction of writing.
_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")


class _Printer(Console):
    """Prints stored text without markup; control characters are shown as escapes."""

    def __init__(self, **fields: Any) -> None:
        super().__init__(highlight=False, markup=False, **fields)

    def print(self, *objects: Any, **fields: Any) -> None:
        """As `Console.print`."""
        super().print(
            *(visible(item) if isinstance(item, str) else item for item in objects), **fields
        )


out = _Printer()
err = _Printer(stderr=True)


def visible(text: str) -> str:
    """A text with its control characters escaped; it keeps its lines and tabs."""
    return _CONTROLS.sub(lambda match: ascii(match[0])[1:-1], text)


def one_line(text: str) -> str:
    """A text on one line."""
    return " ".join(text.split())


def run(work: Coroutine[Any, Any, Result]) -> Result:
    """Runs a command's work."""
    import asyncio

    return asyncio.run(work)


def print_json(document: Any) -> None:
    """Prints one JSON document on standard output."""
    text = json.dumps(document, ensure_ascii=False, default=str)
    try:
        text.encode(sys.stdout.encoding)
    except UnicodeEncodeError:  # another encoding than UTF-8, or bytes in a file's name
        text = json.dumps(document, default=str)
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def print_delay(why: str) -> None:
    """Prints on standard error why a command takes longer."""
    err.print(f"extraction is paused: {why}", soft_wrap=True)


def counted(number: int, things: str) -> str:
    """How many of something, whose plural ends in s."""
    return f"{number} {things.removesuffix('s') if number == 1 else things}"


def print_table(
    columns: Sequence[str],
    rows: Iterable[Sequence[Any]],
    *,
    empty: str,
    cut: Sequence[str] = (),
    ids: Sequence[str] = (),
) -> None:
    """Prints rows as a table, or the sentence that there are none; whole, unless a terminal is too narrow.

    On a narrow terminal the columns in `ids` show unambiguous prefixes, those in `cut` are cut to one line, and
    the others are folded if these would have too little room.
    """
    cells = [
        [_cell(cell, is_cut=name in cut) for name, cell in zip(columns, row, strict=True)]
        for row in rows
    ]
    if not cells:
        out.print(empty)
        return
    widths = _widths(columns, cells)
    if not out.is_terminal:
        _print_whole(columns, cells, widths)
        return
    if sum(widths) + _GAP * (len(columns) - 1) > out.width:
        cells = _with_short_ids(columns, cells, ids)
    _print_at_width(columns, cells, cut=cut, ids=ids)


def _print_at_width(
    columns: Sequence[str],
    cells: Sequence[Sequence[Text]],
    *,
    cut: Sequence[str],
    ids: Sequence[str],
) -> None:
    """Prints a table as wide as the terminal at most; the columns in `cut` share the room that the others leave."""
    widths = zip(columns, _widths(columns, cells), strict=True)
    room = out.width - sum(_GAP + width for name, width in widths if name not in cut)
    is_narrow = room < (_MIN_CUT_WIDTH + _GAP) * len(cut)
    share: dict[str, Any] = {"width": _MIN_CUT_WIDTH} if is_narrow else {"ratio": 1}
    table = Table(box=None, pad_edge=False, header_style="bold", expand=bool(cut))
    for column in columns:
        if column in cut:
            table.add_column(column, overflow="ellipsis", no_wrap=True, **share)
        else:
            table.add_column(column, overflow="fold", no_wrap=column in ids)
    for row in cells:
        table.add_row(*row)
    out.print(table)


def fits(columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> bool:
    """Whether a table is whole where it is printed: always, unless a terminal is too narrow."""
    cells = [[_cell(cell, is_cut=False) for cell in row] for row in rows]
    needed = sum(_widths(columns, cells)) + _GAP * (len(columns) - 1)
    return not out.is_terminal or needed <= out.width


def _print_whole(
    columns: Sequence[str], cells: Sequence[Sequence[Text]], widths: Sequence[int]
) -> None:
    """Prints a table for programs and files, which have no width."""
    for row in ([Text(name) for name in columns], *cells):
        for parts in zip_longest(*(cell.plain.split("\n") for cell in row), fillvalue=""):
            padded = (
                part + " " * (width - cell_len(part))
                for part, width in zip(parts, widths, strict=True)
            )
            out.print((" " * _GAP).join(padded).rstrip(), soft_wrap=True)


def _with_short_ids(
    columns: Sequence[str], cells: list[list[Text]], ids: Sequence[str]
) -> list[list[Text]]:
    """The cells, with each id shortened to a prefix that is unambiguous within this table."""
    short = [[*row] for row in cells]
    for index, name in enumerate(columns):
        if name in ids:
            whole = {row[index].plain for row in cells}
            for row in short:
                row[index] = Text(_short_id(row[index].plain, whole))
    return short


def _short_id(whole: str, among: Collection[str]) -> str:
    for length in range(_MIN_ID_LENGTH, len(whole)):
        if sum(other.startswith(whole[:length]) for other in among) == 1:
            return whole[:length]
    return whole


def _widths(columns: Sequence[str], cells: Sequence[Sequence[Text]]) -> list[int]:
    return [
        max(map(_width, (Text(name), *(row[index] for row in cells))))
        for index, name in enumerate(columns)
    ]


def _cell(value: Any, *, is_cut: bool) -> Text:
    text = "" if value is None else str(value)
    return Text(visible(one_line(text) if is_cut else text))


def _width(cell: Text) -> int:
    return max(map(cell_len, cell.plain.split("\n")))


def print_progress(line: str) -> None:
    """Prints a step of long work on standard error."""
    err.print(line, style="dim", soft_wrap=True)


def print_warning(line: str) -> None:
    """Prints a warning on standard error."""
    err.print(f"warning: {line}", soft_wrap=True)


def print_refusal(line: str) -> None:
    """Prints on standard error what a command refused and left out."""
    err.print(f"refused: {line}", soft_wrap=True)


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
        f" {visible(' '.join(message.splitlines()))}", style="default"
    )
    err.print(line, soft_wrap=True)
    return code


def exit_process(code: int) -> NoReturn:
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
