"""Exports of Slack: folders, and the file of one day."""

import json
import os
from pathlib import Path

import pytest

from mnestic.starter.importers.programs.items import (
    Unstorable,
)
from tests.starter.importers.programs.conftest import Read, ReadMessages

DAY = "slack/garden-club/2025-04-07.json"


def test_a_days_file_has_the_ids_of_the_whole_export(read_messages: ReadMessages) -> None:
    whole = {(one.session_id, one.source_id): one for one in read_messages("slack")}

    for one in read_messages(DAY):
        assert whole[one.session_id, one.source_id] == one


@pytest.mark.parametrize(
    ("fields", "speaker"),
    [
        ({"user_profile": {"real_name": "Ivy Okoro", "display_name": "ivy"}}, "Ivy Okoro"),
        ({"user_profile": {"display_name": "ivy"}}, "ivy"),
        ({"user": "U7"}, "U7"),
        ({"user": None, "bot_id": "B1"}, "B1"),
    ],
)
def test_without_a_list_of_users_the_message_names_its_speaker(
    read_messages: ReadMessages, fields: dict[str, object], speaker: str
) -> None:
    message = {"type": "message", "user": "U7", "text": "I prune roses.", "ts": "1744016400.0001"}

    [found] = read_messages("2025-04-07.json", text=json.dumps([message | fields]))

    assert found.speaker == speaker


def test_what_cannot_be_stored_is_skipped_with_its_place(read: Read) -> None:
    [skipped] = read("d.json", text='[{"type": "message", "user": "U", "text": "x", "ts": "soon"}]')

    assert skipped == Unstorable("d.json, item 1", "its ts is no time")


def test_a_pipe_in_a_folder_is_named(tmp_path: Path, read: Read) -> None:
    folder = tmp_path / "export" / "garden"
    folder.mkdir(parents=True)
    (folder / "2025-04-07.json").write_text("[5]", encoding="utf-8")
    os.mkfifo(folder / "2025-04-08.json")

    assert read(str(tmp_path / "export")) == [
        Unstorable("garden/2025-04-07.json, item 1", "is no object"),
        Unstorable("garden/2025-04-08.json", "is a pipe, a device or a folder"),
    ]
