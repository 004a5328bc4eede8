"""The program of a process that runs Cypher on one graph, in memory, by the engine Ladybug (`engines.py` starts it).

It stands alone: it imports nothing of ours, and after it has loaded the graph it can open no file and no connection. A line
on standard input is a document, the first one the graph, and so is each line that it answers.
"""

import json
import math
import re
import resource
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import ladybug

_POOL_BYTES, _DATABASE_BYTES = 512 * 2**20, 2**30
_MEMORY_BYTES = 3 * 2**30  # of addresses; the engine takes 1.8 GiB of these at once
_LARGEST_RESULT = 4 * 2**20  # characters
_NODE = {"key": "STRING", "id": "STRING"}
_EDGE = {
    **dict.fromkeys(("id", "source", "target"), "STRING"),
    "weight": "DOUBLE",
    "valid_from": "TIMESTAMP",
    "valid_to": "TIMESTAMP",
}
_WARMING = "RETURN $text, $number, $list, $map, date('2026-01-01'), timestamp('2026-01-01'), interval('1 day')"
_PARAMETERS = {"text": "", "number": 1.5, "list": [1], "map": {"a": [1]}}
_CSV = "header=false, parallel=false, escape='\"'"
_OF_ENGINE = {"_ID", "_LABEL", "_SRC", "_DST"}
_UNKNOWN = re.compile(r"Table (.+) does not exist")
_REFUSED = (RuntimeError, MemoryError, OSError, TypeError, ValueError, LookupError, AttributeError)
_MOST_UNKNOWN = 20  # types in a query that the graph has no edges of


def main() -> None:
    """Loads the graph and runs queries, until standard input ends."""
    database = ladybug.Database(
        ":memory:", buffer_pool_size=_POOL_BYTES, max_db_size=_DATABASE_BYTES, max_num_threads=2
    )
    connection = ladybug.Connection(database)
    document = json.loads(sys.stdin.readline())
    with tempfile.TemporaryDirectory() as directory:
        _load(connection, document, file=Path(directory, "rows.csv"))
    del document
    _run(
        connection, cypher=_WARMING, parameters=_PARAMETERS, limit=1
    )  # what it imports at its first query
    for limit, value in ((resource.RLIMIT_NOFILE, 0), (resource.RLIMIT_AS, _MEMORY_BYTES)):
        resource.setrlimit(limit, (value, value))
    _answer({})
    for line in sys.stdin:
        request = json.loads(line)
        connection.set_query_timeout(request.pop("timeout_ms"))
        try:
            _answer(_run(connection, **request))
        except _REFUSED as error:
            _answer({"error": str(error) or type(error).__name__})


def _answer(document: Mapping[str, Any]) -> None:
    sys.stdout.write(json.dumps(document, allow_nan=False) + "\n")
    sys.stdout.flush()


def _load(connection: Any, document: Mapping[str, Any], *, file: Path) -> None:
    """Makes a table of each type of nodes and edges; its columns are of the types that their values have."""
    types = {node["key"]: node["type"] for node in document["nodes"]}
    nodes = defaultdict(list)
    for node in document["nodes"]:
        nodes[node["type"]].append(node)
    for name, declared in document["node_types"].items():
        rows = nodes[name]
        columns = _columns(_NODE, declared, rows)
        made = ", ".join(f"{_quoted(one)} {type_}" for one, type_ in columns.items())
        connection.execute(f"CREATE NODE TABLE {_quoted(name)} ({made}, PRIMARY KEY (`key`))")
        _copy(connection, name, rows, columns=columns, file=file)
    for name, declared in document["edge_types"].items():
        rows = [{**row, "properties": row["properties"] or {}} for row in declared["rows"]]
        columns = _columns(_EDGE, declared["properties"], rows)
        by_pair = defaultdict(list, {tuple(pair): [] for pair in declared["pairs"]})
        for row in rows:
            by_pair[types[row["source_key"]], types[row["target_key"]]].append(row)
        _create_edges(connection, name, pairs=by_pair, columns=columns)
        ends = {"source_key": "STRING", "target_key": "STRING"}
        for (source, target), some in by_pair.items():
            pair = f"from={_text(source)}, to={_text(target)}, "
            _copy(connection, name, some, columns={**ends, **columns}, file=file, options=pair)


def _create_edges(
    connection: Any, name: str, *, pairs: Iterable[tuple[str, str]], columns: Mapping[str, str]
) -> None:
    parts = [f"FROM {_quoted(source)} TO {_quoted(target)}" for source, target in pairs]
    parts += [f"{_quoted(one)} {type_}" for one, type_ in columns.items()]
    connection.execute(f"CREATE REL TABLE {_quoted(name)} ({', '.join(parts)})")


def _columns(
    own: Mapping[str, str], declared: Iterable[str], rows: Iterable[Mapping[str, Any]]
) -> dict[str, str]:
    """The columns of a table: its own, and properties, of which one may take the place of `weight`."""
    values: dict[str, set[Any]] = defaultdict(set, {name: set() for name in declared})
    for row in rows:
        for name, value in row["properties"].items():
            values[name].add(_type(value))
    given = own.keys() - {"weight"}
    # Of two that differ by case, one.
    names = {name.casefold(): name for name in values if name.casefold() not in given}
    return {
        **{name: type_ for name, type_ in own.items() if name not in names},
        **{name: _common(values[name] - {None}) for name in names.values()},
    }


def _type(value: Any) -> str | None:
    if value is None or isinstance(value, bool):
        return None if value is None else "BOOL"
    if isinstance(value, int | float):
        return "INT64" if isinstance(value, int) and abs(value) < 2**63 else "DOUBLE"
    return "STRING"


def _common(types: set[Any]) -> str:
    """The type that holds all values of a property; what is no text, number or truth value is JSON."""
    if len(types) == 1:
        return str(*types)
    return "DOUBLE" if types == {"INT64", "DOUBLE"} else "STRING"


def _copy(
    connection: Any,
    name: str,
    rows: Iterable[Mapping[str, Any]],
    *,
    columns: Mapping[str, str],
    file: Path,
    options: str = "",
) -> None:
    if not rows:
        return
    with file.open("w", encoding="utf-8", newline="") as stream:
        for row in rows:
            values = {**row, **row["properties"]}
            stream.write(",".join(_field(values.get(one)) for one in columns) + "\n")
    parts = ("COPY", _quoted(name), "FROM", _text(str(file)), f"({options}{_CSV})")
    connection.execute(" ".join(parts))


def _field(value: Any) -> str:
    """A value in a row of CSV; nothing at all is null."""
    if value is None:
        return ""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return '"' + text.replace('"', '""') + '"'


def _quoted(name: str) -> str:
    return f"`{name.replace('`', '``')}`"


def _text(value: str) -> str:
    return "'" + value.replace("\\", "\\\\").replace("'", "\\'") + "'"


def _run(connection: Any, *, cypher: str, parameters: dict[str, Any], limit: int) -> dict[str, Any]:
    """A query's columns and first rows, with the nodes and edges in these."""
    found: dict[str, Any] = {"nodes": {}, "edges": {}}
    try:
        return _read(_execute(connection, cypher, parameters), found, limit)
    finally:
        _end(connection)


def _read(result: Any, found: dict[str, Any], limit: int) -> dict[str, Any]:
    rows: list[Any] = []
    size = 0
    while result.has_next() and len(rows) < limit and size < _LARGEST_RESULT:
        rows.append([_shown(value, found) for value in result.get_next()])
        size += len(json.dumps(rows[-1]))
    return {
        "columns": result.get_column_names(),
        "rows": rows,
        "is_cut": result.has_next(),
        "nodes": [*found["nodes"].values()],
        "edges": [*found["edges"].values()],
    }


def _execute(connection: Any, cypher: str, parameters: dict[str, Any]) -> Any:
    """Runs a query, which cannot write; types of edges that the graph has none of are no error in it, as in other engines."""
    for _ in range(_MOST_UNKNOWN):
        connection.execute("BEGIN TRANSACTION READ ONLY")
        try:
            return connection.execute(cypher, parameters)
        except RuntimeError as error:
            _end(connection)
            unknown = _UNKNOWN.search(str(error))
            name = unknown[1] if unknown else ""
            if not unknown or not re.search(rf"\[[^\]]*[:|]\s*`?{re.escape(name)}\b", cypher):
                raise
            _create_edges(connection, name, pairs=[("Name", "Name")], columns=_EDGE)
    raise ValueError(f"names more than {_MOST_UNKNOWN} types of edges that the graph lacks")


def _end(connection: Any) -> None:
    """Ends the transaction of a query, unless an error has."""
    with suppress(RuntimeError):
        connection.execute("ROLLBACK")


def _shown(value: Any, found: dict[str, Any]) -> Any:
    """A value as JSON; nodes and edges in it are found."""
    if isinstance(value, dict):
        return _shown_object(value, found)
    if isinstance(value, list | tuple):
        return [_shown(one, found) for one in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if hasattr(value, "isoformat"):
        return value.isoformat()
    return value if value is None or isinstance(value, bool | int | float | str) else str(value)


def _shown_object(value: dict[str, Any], found: dict[str, Any]) -> Any:
    """A path as the list of its nodes and edges, each of these without what the engine adds."""
    if "_NODES" in value:
        return [_shown(one, found) for one in (*value["_NODES"], *value["_RELS"])]
    members = {name: _shown(one, found) for name, one in value.items() if name not in _OF_ENGINE}
    if "_LABEL" not in value:
        return members
    shown = {"type": value["_LABEL"]} | {k: v for k, v in members.items() if v is not None}
    kind, key = ("edges", "id") if "_SRC" in value else ("nodes", "key")
    found[kind][shown[key]] = shown
    return shown


if __name__ == "__main__":
    main()
