"""Entries of a timeline in words."""

from datetime import UTC, datetime
from typing import Any

import pytest

from mnestic.memory.jobs.timeline import TimelineEntry
from mnestic.starter.cli.jobs.lines import about, title
from tests.starter.case_files import read_cases

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


@pytest.mark.parametrize(("what", "detail", "line"), read_cases(__file__, "lines"))
def test_each_kind_of_entry_is_a_line(what: Any, detail: dict[str, Any], line: str) -> None:
    entry = TimelineEntry(at=NOON, what=what, detail=detail)

    assert f"{title(entry)}: {about(entry)}" == line
