"""Reads exports as `memory import` does."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from mnestic.memory.knowledge.resources import Resource
from mnestic.starter.importers.programs.detection import find_export
from mnestic.starter.importers.programs.items import (
    ImportedMessage,
    ImportOptions,
    Item,
)

SAMPLES = Path(__file__).parents[1] / "samples"

Read = Callable[..., list[Item]]
ReadMessages = Callable[..., list[Resource]]


@pytest.fixture
def read(tmp_path: Path) -> Read:
    """The items of a sample, or of a text."""

    def items(name: str, *, text: str | bytes | None = None, **options: Any) -> list[Item]:
        path = SAMPLES / name
        if text is not None:
            path = tmp_path / name
            path.write_bytes(text.encode() if isinstance(text, str) else text)
        export = find_export(path, ImportOptions(**options), source=f"file {name}")
        assert export is not None
        return list(export.items())

    return items


@pytest.fixture
def read_messages(read: Read) -> ReadMessages:
    """The messages among them."""

    def messages(name: str, **options: Any) -> list[Resource]:
        items = read(name, **options)
        return [item.message.resource for item in items if isinstance(item, ImportedMessage)]

    return messages
