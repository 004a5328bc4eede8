"""How commands print what somebody stored: it cannot steer a terminal, and a row stays a row."""

from typing import Any

import pytest

from mnestic.starter.cli.output import fail, out, print_table, visible

HOSTILE = "a\x1b[2J\x1b]0;x\x07b\rc\u202ed\x9be"
SHOWN = r"a\x1b[2J\x1b]0;x\x07b\rc\u202ed\x9be"


def wide(monkeypatch: pytest.MonkeyPatch, width: int) -> None:
    """Gives standard output a width, whatever the terminal of whoever runs the tests."""
    monkeypatch.setattr(out, "_width", width)
    monkeypatch.setattr(out, "_height", 25)


def test_what_would_steer_a_terminal_is_shown() -> None:
    assert visible(HOSTILE) == SHOWN
    assert visible("two\nlines\tand Zoë 👩‍👧 日本") == "two\nlines\tand Zoë 👩‍👧 日本"


def test_all_that_is_printed_is_harmless(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    wide(monkeypatch, 200)

    out.print(HOSTILE, soft_wrap=True)
    print_table(("a", "b"), [(HOSTILE, HOSTILE)], empty="", cut=("b",))
    fail(HOSTILE, code=1)

    printed, errors = capsys.readouterr()
    assert printed.count(SHOWN) == 2
    assert SHOWN.replace(r"\r", " ") in printed  # on one line
    assert SHOWN.replace(r"\r", " ") in errors
    assert "\x1b" not in printed + errors


@pytest.mark.parametrize("width", [80, 120])
def test_a_column_that_is_cut_is_one_line_that_can_be_read(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, width: int
) -> None:
    wide(monkeypatch, width)
    row: tuple[Any, ...] = ("2026-03-01 12:00", "knowledge", "One line.\n\nAnd " * 50, "x" * 36)

    print_table(("at", "type", "summary", "id"), [row], empty="", cut=("summary",))

    lines = capsys.readouterr().out.splitlines()
    assert "One line. And One line" in lines[1]
    assert len(lines) <= 3
