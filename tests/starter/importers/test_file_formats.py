"""Files of other programs are refused by what they are, whatever they are called and whatever they hold."""

import json
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest

from mnestic.memory.errors import InvalidInputError
from mnestic.starter.importers.conversations import read_conversation
from tests.starter.case_files import read_cases

VTT = "WEBVTT\n\n1\n00:01.000 --> 00:03.000\nIlse: I live in Hasselt.\n"
SRT = "1\n00:00:01,000 --> 00:00:03,000\nI live in Hasselt.\n\n2\n00:00:04,000 --> 00:00:05,000\nYes.\n"
MBOX = (
    "From ilse@example.org Mon Mar 03 08:00:00 2025\nFrom: Ilse <ilse@example.org>\nTo: Bo\n\nHi\n"
)
MAIL = (
    "From: Ilse <ilse@example.org>\nSubject: Moving\nDate: Mon, 3 Mar 2025 08:00:00 +0100\n\nHi\n"
)
ANDROID = "3/14/25, 9:05\u202fPM - Ilse Maes: I live in Hasselt\n3/14/25, 9:06\u202fPM - Bo: nice\n"
IPHONE = "[14.03.25, 21:05:10] Ilse Maes: I live in Hasselt\n\u200e[14.03.25, 21:06:02] Bo: nice\n"
SLACK = [{"type": "message", "user": "U1", "text": "I live in Hasselt", "ts": "1741986300.0001"}]
CHATGPT = [{"title": "Moving", "mapping": {"a": {"message": None}}, "current_node": "a"}]
TELEGRAM = {"name": "Bo", "type": "personal_chat", "messages": [{"id": 1, "from": "Ilse"}]}
IMPORTED = ("WebVTT", "mbox", "WhatsApp", "Slack", "ChatGPT", "Claude", "mem0", "LangGraph")
LIST = [{"role": "user", "content": "I live in Hasselt"}]


def written(path: Path, content: Any) -> Path:
    text = content if isinstance(content, str) else json.dumps(content, indent=1)
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize(("name", "content", "what"), read_cases(__file__, "formats"))
def test_a_file_of_another_program_is_refused_by_what_it_is(
    tmp_path: Path, name: str, content: Any, what: str
) -> None:
    path = written(tmp_path / name, content)

    is_imported = any(name in what for name in IMPORTED)
    then = (
        "`mnestic memory import` reads"
        if is_imported
        else "not read; expected JSON lines.*Markdown"
    )

    with pytest.raises(InvalidInputError, match=f"looks like .*{what}.*{then}") as refused:
        read_conversation(path)

    assert "session_1" not in str(refused.value)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("name", ["export.zip", "export", "export.json"])
def test_an_archive_is_to_be_unpacked(tmp_path: Path, name: str) -> None:
    with ZipFile(tmp_path / name, "w") as archive:
        archive.writestr("conversations.json", json.dumps(CHATGPT))

    with pytest.raises(InvalidInputError, match=r"is an archive; unpack it: .*memory import"):
        read_conversation(tmp_path / name)


@pytest.mark.parametrize("content", [VTT, SRT, MBOX, MAIL, ANDROID, IPHONE])
def test_saying_that_it_is_markdown_does_not_make_it_so(tmp_path: Path, content: str) -> None:
    path = written(tmp_path / "file.txt", content)

    with pytest.raises(InvalidInputError, match="looks like"):
        read_conversation(path, markdown=True)


LINES = '{"role": "Ilse", "content": "I live in Hasselt", "timestamp": "2025-03-03T08:00:00Z"}\n'


@pytest.mark.parametrize("content", [SLACK, CHATGPT, TELEGRAM, LIST, LINES, 2 * LINES])
@pytest.mark.parametrize("name", ["chat.json", "chat.md"])
def test_json_is_no_markdown_whatever_it_is_called(tmp_path: Path, name: str, content: Any) -> None:
    path = written(tmp_path / name, content)

    with pytest.raises(InvalidInputError, match="looks like JSON, not Markdown; call it"):
        read_conversation(path, markdown=True)


@pytest.mark.parametrize(
    "content", ["[Ilse] moved to Hasselt.", "{{ title }}\n\nIlse moved.", "[1]: https://x.example"]
)
def test_markdown_that_begins_with_a_bracket_is_read(tmp_path: Path, content: str) -> None:
    path = written(tmp_path / "notes.md", content)

    (session,) = read_conversation(path).sessions

    assert "\n\n".join(turn.text for turn in session.turns) == content


def test_messages_with_fields_of_other_programs_are_still_messages(tmp_path: Path) -> None:
    line = {"role": "Ilse", "content": "hi", "timestamp": "2025-03-14", "ts": "1", "messages": []}
    path = written(tmp_path / "chat.jsonl", json.dumps(line))

    [session] = read_conversation(path).sessions

    assert [turn.text for turn in session.turns] == ["hi"]
