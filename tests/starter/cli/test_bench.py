"""`mnestic bench` on files that ask nothing: refused before anything is started."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.starter.conversation_files import locomo_sample

Cli = Callable[..., Any]


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ("", "is no whole JSON"),
        ("[1, 2]", "holds no objects"),
        (json.dumps(locomo_sample()), "asks nothing"),
        (json.dumps(locomo_sample() | {"qa": {"question": "Which?"}}), "is no list of questions"),
        (json.dumps({"qa": []}), "has no session_1"),
    ],
)
def test_a_file_that_asks_nothing_is_refused(
    cli: Cli, tmp_path: Path, content: str, told: str
) -> None:
    path = tmp_path / "data.json"
    path.write_text(content, "utf-8")

    refused = cli("bench", "locomo", "--data", str(path), "--json")

    error = refused.error(code=2)
    assert str(path) in error
    assert told in error
    assert not (tmp_path / "data").exists()


def test_a_file_that_is_gone_is_refused(cli: Cli, tmp_path: Path) -> None:
    refused = cli("bench", "locomo", "--data", str(tmp_path / "gone.json"))

    assert "gone.json" in refused.error(code=2)
