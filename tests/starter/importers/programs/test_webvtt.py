"""Transcripts in WebVTT."""

import os
from datetime import UTC, datetime
from pathlib import Path

import pytest

from mnestic.memory.errors import InvalidInputError
from mnestic.starter.importers.programs.detection import find_export
from mnestic.starter.importers.programs.items import ImportOptions
from tests.starter.case_files import read_cases
from tests.starter.importers.programs.conftest import Read, ReadMessages

START = datetime(2025, 6, 2, 9, tzinfo=UTC)


def cues(*texts: str) -> str:
    timed = (
        f"00:0{n}:00.000 --> 00:0{n}:02.000\n{text}\n" for n, text in enumerate(texts, start=1)
    )
    return "WEBVTT\n\n" + "\n".join(timed)


@pytest.mark.parametrize(("texts", "spoken"), read_cases(__file__, "spoken_cues"))
def test_names_before_colons_speak(
    read_messages: ReadMessages, texts: list[str], spoken: list[list[str]]
) -> None:
    found = read_messages("talk.vtt", text=cues(*texts), start=START)

    assert [[one.speaker, one.content] for one in found] == spoken


@pytest.mark.parametrize("name", ["talk.vtt", "GMT20250602-090000_Recording.vtt"])
def test_the_time_is_that_of_the_file(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_text(cues("Noor: I moved."), encoding="utf-8")
    os.utime(path, (START.timestamp(), START.timestamp()))

    export = find_export(path, ImportOptions(), source="file")

    assert export is not None
    assert "times count from 2025-06-02T09:00:00+00:00" in export.notes[0]


def test_ids_do_not_depend_on_the_time_of_the_file(read_messages: ReadMessages) -> None:
    text = cues("Noor: I moved.", "Noor: I moved.")

    first = read_messages("talk.vtt", text=text, start=START)
    again = read_messages("talk.vtt", text=text)

    assert [one.source_id for one in first] == [one.source_id for one in again]
    assert len({one.source_id for one in first}) == 2


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (cues("I moved."), "line 3: says something, but no name stands before it; --speaker"),
        ("WEBVTT\n\n00:01 --> 00:02\nNoor: hi\n", "line 3: .* is no timing such as 00:01:02.000"),
    ],
)
def test_a_file_that_cannot_be_read_is_refused_with_its_line(
    read: Read, text: str, why: str
) -> None:
    with pytest.raises(InvalidInputError, match=f"file talk.vtt, {why}"):
        read("talk.vtt", text=text, start=START)
