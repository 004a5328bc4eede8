"""`mnestic demo` on files that are no conversations: refused before anything is started."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Cli = Callable[..., Any]

LINE = '{"role": "Ines", "content": "hello", "timestamp": "2025-03-01T09:00:00Z"}\n'
LOCOMO = json.dumps(
    {
        "conversation": {
            "session_1_date_time": "1:56 pm on 8 May, 2023",
            "session_1": [{"speaker": "Ines", "dia_id": "D1:1", "text": "hello"}],
        }
    }
)


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ("", "is empty"),
        ("\n \n", "is empty"),
        (LINE + LINE[:40], "line 2"),
        (LINE + "\n" + LINE.replace("role", "rule"), "line 3: role: is missing"),
        (LINE.replace("2025-03-01T09:00:00Z", "yesterday"), "line 1: timestamp"),
        (LOCOMO[:60], "is no whole JSON"),
        ('{"some": "thing else"}', "looks like JSON of another kind"),
        ("[1, 2, 3]", "holds no objects"),
        ("not JSON at all", "is no whole JSON"),
        (LOCOMO.replace("8 May", "38 May"), "session_1_date_time"),
        (LOCOMO.replace("speaker", "spoken_by"), "session_1: 0.speaker: is missing"),
    ],
)
def test_a_file_that_is_no_conversation_is_refused_with_the_place(
    cli: Cli, tmp_path: Path, content: str, told: str
) -> None:
    path = tmp_path / "talk.json"
    path.write_text(content, encoding="utf-8")

    refused = cli("demo", "--conversation", str(path), "--json")

    error = refused.error(code=2)
    assert str(path) in error
    assert told in error
    assert not (tmp_path / "data").exists()


@pytest.mark.parametrize("name", ["gone.json", "."])
def test_what_is_no_file_is_refused(cli: Cli, tmp_path: Path, name: str) -> None:
    refused = cli("demo", "--conversation", str(tmp_path / name), "--json")

    assert str(tmp_path) in refused.error(code=2)


def test_bytes_that_are_no_text_are_refused(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "talk.jsonl"
    path.write_bytes(b"\xff\xfe\x00{")

    refused = cli("demo", "--conversation", str(path))

    assert "not UTF-8" in refused.error(code=2)
