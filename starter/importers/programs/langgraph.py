"""Reads the items of a LangGraph store: what `search` returns, or rows of its table, as a list or JSON lines.

An item is a value under a key, which becomes a long-term record.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from mnestic.memory.canonical import check_json
from mnestic.memory.knowledge.resources import check_name
from mnestic.starter.importers.programs import fields
from mnestic.starter.importers.programs.items import (
    ImportedRecord,
    ImportOptions,
    Item,
    Unstorable,
)
from mnestic.starter.importers.programs.json_items import read_each


class LangGraphStore:
    """The items of a LangGraph store. One at a time is in memory."""

    format = "langgraph"
    notes = ()

    def __init__(self, path: Path, options: ImportOptions, *, source: str, prefix: str) -> None:
        self._path, self._options, self._source, self._prefix = path, options, source, prefix

    def items(self) -> Iterator[Item]:
        """The records in the order of the file."""
        return read_each(self._path, self._prefix, self._source, read=_record)


def _record(item: Mapping[str, Any], *, place: str) -> Item:
    namespace = _namespace(item)
    key, value = fields.find_id(item, "key") or "", item.get("value")
    check_name(namespace, what=place, field="namespace")
    check_name(key, what=place, field="key")
    if value is None:
        return Unstorable(place, "has no value")
    check_json(value, what="value")
    return ImportedRecord(place, namespace, key, value)


def _namespace(item: Mapping[str, Any]) -> str:
    """The namespace as a path: the API has a list of parts, the table their names with dots."""
    if isinstance(item.get("namespace"), list):
        return "/".join(part or "" for part in fields.texts_of(item, "namespace"))
    path = fields.find(item, "namespace", str) or fields.find(item, "prefix", str) or ""
    return path.replace(".", "/")
