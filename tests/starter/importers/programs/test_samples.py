"""Each sample of an export is read as `samples.yaml` has it: what is a message, by whom, when and where, and what is not."""

from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from mnestic.starter.importers.programs.items import ImportedMessage, Item
from tests.starter.case_files import read_cases
from tests.starter.importers.programs.conftest import Read

CASES: dict[str, Any] = read_cases(__file__, "samples")


def told(item: Item) -> str:
    """An item in a line."""
    if not isinstance(item, ImportedMessage):
        return f"{type(item).__name__}{tuple(item)}"
    one = item.message.resource
    kind = item.message.entry_type or "message"
    parts = (one.at.isoformat(), one.session_id, one.source_id, one.channel, one.speaker)
    return f"{' | '.join(parts)} | {kind} with {item.media} | {one.content}"


@pytest.mark.parametrize("name", CASES)
def test_a_sample_is_read_as_it_is(read: Read, name: str) -> None:
    options = dict(CASES[name].get("options", {}))
    if "timezone" in options:
        options["timezone"] = ZoneInfo(options["timezone"])
    if "start" in options:
        options["start"] = datetime.fromisoformat(options["start"])

    assert [told(item) for item in read(name, **options)] == CASES[name]["items"]
