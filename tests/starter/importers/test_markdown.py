"""Markdown as a conversation: what a line is, when it was said, and what is left out."""

import os
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mnestic.memory.errors import InvalidInputError
from mnestic.starter.importers.conversations import read_conversation
from mnestic.starter.importers.turns import ConversationSession

CHANGED = datetime(2026, 1, 5, 12, tzinfo=UTC)


def write(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    os.utime(path, (CHANGED.timestamp(), CHANGED.timestamp()))
    return path


def read(path: Path, text: str) -> tuple[ConversationSession, ...]:
    return read_conversation(write(path / "notes.md", text), author="ada").sessions


def said(session: ConversationSession) -> list[tuple[str, str]]:
    return [(turn.speaker, turn.text) for turn in session.turns]


def test_turns_are_known_again_when_a_file_has_grown_at_a_later_time(tmp_path: Path) -> None:
    first = read(tmp_path, "# Talk\nAna: hello\nAna: hello\n")
    path = write(tmp_path / "notes.md", "# Talk\nBen: before\nAna: hello\nAna: hello\nAna: bye\n")
    os.utime(path, (CHANGED.timestamp() + 3600,) * 2)

    [grown] = read_conversation(path, author="ada").sessions

    known = [turn.source_id for turn in first[0].turns]
    assert len(set(known)) == 2
    assert [turn.source_id for turn in grown.turns[1:3]] == known
    assert grown.id == first[0].id


def test_bytes_that_are_no_text_and_lines_that_are_too_long_are_told_by_their_line(
    tmp_path: Path,
) -> None:
    path, refused = tmp_path / "notes.md", list[InvalidInputError]()
    path.write_bytes(b"Ana: kept\nAna: \xff\n**Ana:** " + b"x" * 1_048_577)

    (session,) = read_conversation(path, refuse=refused.append).sessions

    assert [turn.id for turn in session.turns] == ["L1"]
    for error, why in zip(refused, ("byte 6 is not UTF-8", "1048577 bytes"), strict=True):
        assert why in error.why
    with pytest.raises(InvalidInputError, match="line 2"):
        read_conversation(path)


def test_any_file_is_markdown_where_that_is_said_and_has_no_samples(tmp_path: Path) -> None:
    path = write(tmp_path / "notes.txt", "Dear diary")

    [session] = read_conversation(path, markdown=True, author="ada").sessions

    assert said(session) == [("ada", "Dear diary")]
    with pytest.raises(InvalidInputError, match="no sample s-1"):
        read_conversation(path, markdown=True, sample="s-1")


@given(text=st.text(alphabet="aB:*#-`~ \n\x00210/", max_size=80))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=200)
def test_every_word_of_any_markdown_is_read_or_named(tmp_path: Path, text: str) -> None:
    path = tmp_path / "any.md"
    path.write_text(f"first\n\n{text}", encoding="utf-8")
    refused: list[InvalidInputError] = []

    sessions = read_conversation(path, refuse=refused.append).sessions

    turns = [turn for session in sessions for turn in session.turns]
    assert "first" in next(turn for turn in turns if turn.id == "L1").text
    places = [(session.id, turn.source_id) for session in sessions for turn in session.turns]
    assert len(set(places)) == len(places)
