"""Reads the memories of a mem0 dump: what `get_all` returns, or a list or JSON lines of memories.

A memory is a statement about somebody, not a message of a conversation.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from mnestic.memory.timestamps import parse_timestamp
from mnestic.starter.importers.programs import fields
from mnestic.starter.importers.programs.items import (
    ImportOptions,
    Item,
    LeftOut,
    Origin,
    Unstorable,
    message_of,
)
from mnestic.starter.importers.programs.json_items import read_each

_OWNERS = ("user_id", "actor_id", "agent_id")


class Mem0Dump:
    """The memories of a mem0 store. One at a time is in memory."""

    format = "mem0"
    notes = ()

    def __init__(self, path: Path, options: ImportOptions, *, source: str, prefix: str) -> None:
        self._path, self._options, self._source, self._prefix = path, options, source, prefix

    def items(self) -> Iterator[Item]:
        """The memories in the order of the file."""
        return read_each(self._path, self._prefix, self._source, read=self._item)

    def _item(self, memory: Mapping[str, Any], *, place: str) -> Item:
        text, source_id = fields.find(memory, "memory", str), fields.find_id(memory)
        if not text or not text.strip():
            return LeftOut("empty")
        if not source_id:
            return Unstorable(place, "has no id")
        try:
            at = parse_timestamp(memory.get("created_at"))
        except ValueError as error:
            return Unstorable(place, f"its created_at {error}")
        owners = (fields.find_id(memory, field) for field in _OWNERS)
        owner = next((name for name in owners if name and name.strip()), None)
        speaker = owner or self._options.speaker or "user"
        run = fields.find_id(memory, "run_id") or "memories"
        origin = Origin(
            session_id=f"mem0/{speaker}/{run}",
            source_id=source_id,
            channel=self._options.channel or "mem0",
            place=place,
        )
        return message_of(origin, speaker=speaker, text=text, at=at, entry_type="knowledge")
