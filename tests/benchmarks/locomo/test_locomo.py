"""The benchmark on LoCoMo, given files that ask nothing: refused before anything is started."""

import json
from pathlib import Path

import pytest

from benchmarks.locomo.locomo import main
from tests.starter.importers.conversation_files import locomo_sample


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ("", "is no whole JSON"),
        ("[1, 2]", "holds no objects"),
        (json.dumps(locomo_sample()), "has no question"),
        (json.dumps(locomo_sample() | {"qa": {"question": "Which?"}}), "is no list of questions"),
        (json.dumps({"qa": []}), "looks like JSON of another kind"),
    ],
)
def test_a_file_that_asks_nothing_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], content: str, told: str
) -> None:
    path = tmp_path / "data.json"
    path.write_text(content, "utf-8")

    code = main(["--data", str(path), "--json"])

    printed = capsys.readouterr()
    assert code == 2
    assert printed.out == ""
    assert str(path) in printed.err
    assert told in printed.err


def test_a_file_that_is_gone_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code = main(["--data", str(tmp_path / "gone.json")])

    assert code == 2
    assert "gone.json" in capsys.readouterr().err
