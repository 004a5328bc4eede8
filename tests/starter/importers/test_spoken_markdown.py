"""Who speaks in Markdown that people and meeting tools write, when, and what is nobody's words."""

import os
from datetime import UTC, datetime
from pathlib import Path

import pytest

from mnestic.memory.errors import InvalidInputError
from mnestic.starter.importers.conversations import read_conversation
from mnestic.starter.importers.spoken_lines import begins_with_time, find_in_heading, find_spoken
from mnestic.starter.importers.turns import Turn
from tests.starter.case_files import read_cases

CHANGED = datetime(2026, 1, 5, 12, tzinfo=UTC)
OWNER = "scribe"  # the agent


def read(
    folder: Path, text: str, *, author: str | None = None
) -> tuple[list[Turn], list[InvalidInputError]]:
    path = folder / "page.md"
    path.write_text(text, encoding="utf-8")
    os.utime(path, (CHANGED.timestamp(), CHANGED.timestamp()))
    refused: list[InvalidInputError] = []
    sessions = read_conversation(path, owner=OWNER, author=author, refuse=refused.append).sessions
    return [turn for session in sessions for turn in session.turns], refused


def said(turns: list[Turn]) -> list[tuple[str, str]]:
    return [(turn.speaker, turn.text) for turn in turns]


@pytest.mark.parametrize(("line", "speaker", "clock"), read_cases(__file__, "spoken_lines"))
def test_a_name_in_any_usual_form_is_who_speaks(
    tmp_path: Path, line: str, speaker: str, clock: str
) -> None:
    turns, refused = read(tmp_path, f"{line}\n")

    assert [(turn.speaker, turn.text[:5], f"{turn.at:%H:%M}") for turn in turns] == [
        (speaker, "hello", clock)
    ]
    assert refused == []


@pytest.mark.parametrize("page", read_cases(__file__, "unspoken_pages"))
def test_a_page_in_which_nobody_speaks_is_its_owners(tmp_path: Path, page: str) -> None:
    turns, refused = read(tmp_path, page)

    assert {turn.speaker for turn in turns} == {OWNER}
    assert refused == []


@pytest.mark.parametrize(("text", "speakers"), read_cases(__file__, "spoken_pages"))
def test_looser_forms_speak_where_several_do(
    tmp_path: Path, text: str, speakers: list[str]
) -> None:
    turns, refused = read(tmp_path, text)

    expected = ["I live in Hasselt.", "And me?"]
    assert said(turns) == list(zip(speakers, expected, strict=True))
    assert refused == []


@pytest.mark.parametrize(("text", "times"), read_cases(__file__, "spoken_times"))
def test_times_are_of_the_day_that_the_page_names(
    tmp_path: Path, text: str, times: list[str]
) -> None:
    turns, refused = read(tmp_path, text)

    assert [f"{turn.at:%d %H:%M:%S}" for turn in turns] == times
    assert {turn.at.strftime("%Y-%m") for turn in turns} == {"2025-03"}
    assert refused == []


@pytest.mark.parametrize(
    ("when", "why"),
    [
        ("[25:70]", "is no time of day"),
        ("[03/04/2025 09:00]", "may be day and month or month and day"),
        ("[Yesterday at 09:00]", "does not say of which day"),
        ("[2025-02-30 09:00]", "2025-02-30"),
    ],
)
def test_a_time_that_is_not_clear_is_refused_with_its_line(
    tmp_path: Path, when: str, why: str
) -> None:
    turns, refused = read(tmp_path, f"[09:00] Bo: hi\n{when} Ilse: I live in Hasselt.\n")

    assert said(turns) == [("Bo", "hi")]
    assert [error.what.rpartition(", ")[2] for error in refused] == ["line 2"]
    assert why in refused[0].why


def test_a_date_of_the_front_matter_that_is_none_is_named(tmp_path: Path) -> None:
    with pytest.raises(InvalidInputError, match=r"line 3: date: .*2025-02-30"):
        read(tmp_path, "---\ntitle: Talk\ndate: 2025-02-30\n---\nIlse: I live in Hasselt.\n")


@pytest.mark.parametrize(
    "part", ["Ilse ", "a", "**a ", "[09:15 ", "> ", "- ", "A b ", "(1:02", "10:32 ", "*_", "A(1"]
)
def test_a_line_that_is_nearly_a_name_is_looked_at_in_little_steps(part: str) -> None:
    line = part * 400

    short = [find_spoken(line[:length], line) for length in range(0, 400, 7)]

    assert all(one is None or one.speaker for one in short)
    assert find_in_heading(line) is None
    assert begins_with_time(line) == (part == "10:32 ")
