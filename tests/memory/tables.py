"""Tables of cases, which are YAML beside the tests that read them."""

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import yaml

from mnestic.memory.errors import InvalidInputError

Row = Sequence[Any]


def tables(test: str) -> dict[str, Any]:
    """The tables in the file beside a test module, by their names."""
    path = Path(test)
    text = path.with_name(f"{path.stem.removeprefix('test_')}.yaml").read_text("utf-8")
    found: dict[str, Any] = yaml.load(text, Loader=yaml.CSafeLoader)
    return found


def wrong(rows: Iterable[Row], result_of: Callable[..., Any]) -> list[tuple[Any, ...]]:
    """The rows whose last value is not the result of the others, each with that result."""
    results = [(*row, result_of(*row[:-1])) for row in rows]
    return [row for row in results if row[-2] != row[-1]]


def not_refused(
    rows: Iterable[Row], call: Callable[..., Any], *, error: type[Exception] = InvalidInputError
) -> list[tuple[Any, ...]]:
    """The rows of which no error says the last value, each with what the error of the others says."""
    said = [(*row, refusal(call, *row[:-1], error=error)) for row in rows]
    return [row for row in said if row[-2] not in row[-1]]


def refusal(
    call: Callable[..., Any], *values: Any, error: type[Exception] = InvalidInputError
) -> str:
    """What the error says that a call raises; nothing where it raises none."""
    try:
        call(*values)
    except error as raised:
        return str(raised)
    return ""
