"""Pages of Markdown, whole: `pages.yaml` has who says what when in which session, and which lines are refused."""

import os
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from mnestic.memory.errors import InvalidInputError
from mnestic.starter.importers.conversations import read_conversation
from tests.starter.case_files import read_cases

PAGES: dict[str, Any] = read_cases(__file__, "pages")
CHANGED = datetime(2026, 1, 5, 12, tzinfo=UTC).timestamp()


@pytest.mark.parametrize("name", PAGES)
def test_a_page_is_read_as_it_is_meant(tmp_path: Path, name: str) -> None:
    path, refused = tmp_path / "page.md", list[InvalidInputError]()
    path.write_text(PAGES[name]["page"], encoding="utf-8")
    os.utime(path, (CHANGED, CHANGED))

    sessions = read_conversation(path, owner="scribe", refuse=refused.append).sessions

    read = {
        one.id: [f"{t.at:%Y-%m-%d %H:%M%z} {t.id} {t.speaker}: {t.text}" for t in one.turns]
        for one in sessions
    }
    assert list(read.items()) == list(PAGES[name]["sessions"].items())
    assert {one.what.rpartition(", ")[2]: one.why for one in refused} == PAGES[name]["refused"]
