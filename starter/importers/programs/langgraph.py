"""Reads the items of a LangGraph store: what `search` returns, or rows of its table, as a list or JSON lines.

It stands alone because an item is a value under a key, which becomes a long-term record.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from mnestic.memory.canonical import check_json
from mnestic.memory.errors import InvalidInputError
from mnestic.memory.knowledge.resources import check_name
from mnestic.starter.importers.programs.items import (
    ImportedRecord,
    ImportOptions,
    Item,
    Skipped,
)
from mnestic.starter.importers.programs.json_items import read_items


class LangGraphStore:
    """The items of a LangGraph store. One at a time is in memory."""

    format = "langgraph"
    notes = ()

    def __init__(self, path: Path, options: ImportOptions, *, source: str, prefix: str) -> None:
        self._path, self._options, self._source, self._prefix = path, options, source, prefix

    def items(self) -> Iterator[Item]:
        """The records in the order of the file."""
        return read_items(
            *(self._path, self._prefix, self._source),
            read=lambda number, item: [_record(item, place=f"item {number}")],
        )


def _record(item: Mapping[str, Any], *, place: str) -> Item:
    try:
        namespace = _namespace(item)
        key, value = str(item.get("key", "")), item.get("value")
        check_name(namespace, what=place, field="namespace")
        check_name(key, what=place, field="key")
        if value is None:
            return Skipped(place, "has no value")
        check_json(value, what="value")
    except InvalidInputError as error:
        return Skipped(place, str(error).removeprefix(f"{place}: "))
    return ImportedRecord(place, namespace, key, value)


def _namespace(item: Mapping[str, Any]) -> str:
    """The namespace as a path: the API has a list of parts, the table their names with dots."""
    namespace = item.get("namespace")
    if isinstance(namespace, list):
        return "/".join(map(str, namespace))
    return str(namespace or item.get("prefix") or "").replace(".", "/")
