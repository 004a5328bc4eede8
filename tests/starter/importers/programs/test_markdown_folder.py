"""Folders of Markdown, such as a vault of notes."""

import os
from pathlib import Path

import pytest

from mnestic.memory.errors import InvalidInputError
from mnestic.starter.importers.programs.detection import find_export
from mnestic.starter.importers.programs.items import (
    ImportedMessage,
    ImportOptions,
    Item,
    LeftOut,
    Unstorable,
)

SYNC = """---
date: 2025-01-18
attendees: [Mara Lind, Jonas]
---
# Weekly sync

**Mara Lind (10:02):** I moved to Ghent.
[10:03] Jonas: How is it there?
"""


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    files = {
        "Garden.md": "The hedge is cut in March.\n",
        "Meetings/Sync.markdown": SYNC,
        "Meetings/Empty.md": " \n",
        "Meetings/Bad.md": b"\xff\xfe\xff",
        "plan.txt": "No Markdown.",
        ".obsidian/Hidden.md": "Hidden.",
    }
    for name, content in files.items():
        path = tmp_path / "Notes" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    (tmp_path / "elsewhere.md").write_text("Elsewhere.", encoding="utf-8")
    (tmp_path / "Notes" / "link.md").symlink_to(tmp_path / "elsewhere.md")
    os.mkfifo(tmp_path / "Notes" / "Pipe.md")
    return tmp_path / "Notes"


def items_of(folder: Path, **options: str) -> list[Item]:
    export = find_export(folder, ImportOptions(**options), source="file Notes")  # type: ignore[arg-type]
    assert export is not None
    return list(export.items())


def test_each_file_is_read_and_one_that_cannot_be_is_named(vault: Path) -> None:
    items = items_of(vault, owner="ada")

    messages = [one.message.resource for one in items if isinstance(one, ImportedMessage)]
    assert [(one.speaker, one.content) for one in messages] == [
        ("ada", "The hedge is cut in March."),
        ("Mara Lind", "I moved to Ghent."),
        ("Jonas", "How is it there?"),
    ]
    assert {one.channel for one in messages} == {"Notes"}
    assert [one.session_id.partition(".")[0] for one in messages] == [
        "Garden",
        *["Meetings/Sync"] * 2,
    ]
    assert [one.place for one in items if isinstance(one, Unstorable)] == [
        *("Meetings/Bad.md, line 1", "Pipe.md")
    ]
    assert [one for one in items if isinstance(one, LeftOut)] == [LeftOut("empty file")]


def test_it_has_the_same_ids_again_and_after_another_file_is_added(vault: Path) -> None:
    def ids() -> list[tuple[str, str]]:
        return [
            (one.message.resource.session_id, one.message.resource.source_id)
            for one in items_of(vault)
            if isinstance(one, ImportedMessage)
        ]

    before = ids()
    (vault / "Attic.md").write_text("The attic is dry.", encoding="utf-8")

    assert ids()[1:] == before


def test_a_folder_without_any_says_what_is_read(tmp_path: Path) -> None:
    (tmp_path / "plan.txt").write_text("No Markdown.", encoding="utf-8")

    with pytest.raises(InvalidInputError, match="without an export or Markdown"):
        find_export(tmp_path, ImportOptions(), source="file x")
