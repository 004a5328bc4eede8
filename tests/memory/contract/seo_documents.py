"""The SEO example of the design, and documents that differ from it in a few places."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from mnestic.memory.contract.checks import parse
from mnestic.memory.contract.document import MemoryContract

EXAMPLE = Path(__file__).parents[3] / "examples" / "seo_contract.yaml"
ABSENT = "<absent>"


def seo_document() -> dict[str, Any]:
    document: dict[str, Any] = yaml.safe_load(EXAMPLE.read_text("utf-8"))
    return document


def edited(edits: Mapping[str, Any]) -> dict[str, Any]:
    """The example with other values at paths such as `short_term.segments.0.priority`."""
    document = seo_document()
    for path, value in edits.items():
        *parents, last = [int(part) if part.isdigit() else part for part in path.split(".")]
        place: Any = document["Memory"]
        for part in parents:
            place = place[part]
        if value == ABSENT:
            del place[last]
        elif isinstance(place, list) and last == len(place):
            place.append(value)
        else:
            place[last] = value
    return document


def contract(edits: Mapping[str, Any] | None = None) -> MemoryContract:
    return parse(edited(edits or {}))
