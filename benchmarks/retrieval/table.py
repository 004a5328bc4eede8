"""Prints the table of docs/benchmarks.md: `python benchmarks/retrieval/table.py before.json [after.json]`.

The files hold what `python benchmarks/retrieval/retrieval.py --json` printed for two versions on one machine. The plain statement is
that of the later run; in parentheses are the ratios to the plain statement of the same run.
"""

import argparse
from collections.abc import Iterator
from pathlib import Path

from benchmarks.retrieval.figures import COLUMNS, RetrievalFigures, rows
from mnestic.starter.cli.output import out


def lines(before: RetrievalFigures, after: RetrievalFigures | None) -> Iterator[str]:
    """The table in Markdown."""
    earlier = {row[:2]: row for row in rows(before)}
    later = {row[:2]: row for row in rows(after or before)}
    yield _line((COLUMNS[0], "entries", "before", "after", "plain statement", "target"))
    yield "|---" * 6 + "|"
    for key, row in later.items():
        measured = _measured(row) if after else ""
        yield _line((*key, _measured(earlier.get(key)), measured, row[3], row[5]))


def _measured(row: tuple[str, ...] | None) -> str:
    if row is None:
        return ""
    _, _, product, _, ratio, _ = row
    return f"{product} ({ratio})" if ratio else product


def _line(cells: tuple[str, ...]) -> str:
    return "| " + " | ".join(cells) + " |"


def main() -> None:
    """Reads the files and prints the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("before", type=Path, help="what the earlier version printed")
    parser.add_argument("after", type=Path, nargs="?", help="what the later version printed")
    options = parser.parse_args()
    before, after = (
        path and RetrievalFigures.model_validate_json(path.read_bytes())
        for path in (options.before, options.after)
    )
    for line in lines(before, after):
        out.print(line, soft_wrap=True)


if __name__ == "__main__":
    main()
