"""Entries that tests of their store share."""

from datetime import UTC, datetime
from typing import Any

from mnestic.memory.knowledge.entries import Entry

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


def entry(name: str, content: str = "The map of the harbour", **fields: Any) -> Entry:
    values = {"id": name, "entry_type": "interaction", "content": content, "at": NOON}
    return Entry.model_validate(values | fields)
