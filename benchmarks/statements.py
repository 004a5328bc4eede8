"""The statements of a benchmark, out of the file of SQL beside it: `-- name: NAME` begins each, and the line after says what it is for."""

import re
from pathlib import Path

_NAME = re.compile(r"^-- name: (\w+)\n-- .+\n", re.MULTILINE)


def read_statements(path: Path) -> dict[str, str]:
    """The statements of a file by their names, with parameters as psycopg takes them (`%(name)s`)."""
    _, *parts = _NAME.split(path.read_text(encoding="utf-8"))
    return {name: text.strip() for name, text in zip(parts[::2], parts[1::2], strict=True)}
