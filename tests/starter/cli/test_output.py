"""How commands print what somebody stored: it cannot steer a terminal, and a row stays a row."""

from typing import Any

import pytest

from mnestic.starter.cli.output import fail, out, print_table, visible

HOSTILE = "a\x1b[2J\x1b]0;x\x07b\rc\u202ed\x9be"
SHOWN = r"a\x1b[2J\x1b]0;x\x07b\rc\u202ed\x9be"


def wide(monkeypatch: pytest.MonkeyPatch, width: int) -> None:
    """Makes standard output a terminal of a width, whatever that of whoever runs the tests."""
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("TTY_COMPATIBLE", "1")
    monkeypatch.setenv("COLUMNS", str(width))


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


IDS = [f"e239{number}081-2855-592e-8f31-27a56366becb" for number in range(3)]


def test_an_id_is_as_long_as_tells_it_from_the_others_where_a_terminal_is_narrow(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    wide(monkeypatch, 80)
    rows = [("2026-03-01 12:00", "A sentence that is long. " * 9, one) for one in IDS]
    near = [("2026-03-01 12:00", "x", one) for one in (IDS[0], IDS[0][:-1] + "c")]

    print_table(("at", "what", "id"), rows, empty="", cut=("what",), ids=("id",))
    lines = capsys.readouterr().out.splitlines()
    print_table(("at", "what", "id"), near, empty="", cut=("what",), ids=("id",))
    whole = capsys.readouterr().out

    assert [line.split()[-1] for line in lines[1:]] == [one[:8] for one in IDS]
    assert all(len(line) <= 80 for line in lines)
    assert near[1][2] in whole, "there is room for it"


@pytest.mark.parametrize("columns", ["80", "20"])
def test_a_table_is_whole_where_no_terminal_shows_it(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, columns: str
) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    rows = [("2026-03-01 12:00", "A sentence that is long. " * 90, one) for one in IDS]

    print_table(("at", "what", "id"), rows, empty="", cut=("what",), ids=("id",))

    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[-1] for line in lines] == ["id", *IDS]
    assert all(("A sentence that is long. " * 90).strip() in line for line in lines[1:])
