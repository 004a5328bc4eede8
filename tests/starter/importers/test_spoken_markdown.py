"""Who speaks in Markdown that people and meeting tools write, when, and what is nobody's words."""

import os
from datetime import UTC, datetime
from pathlib import Path

import pytest

from mnestic.memory.errors import InvalidInputError
from mnestic.memory.knowledge.conversations import Turn
from mnestic.starter.importers.conversations import read_conversation
from mnestic.starter.importers.spoken_lines import begins_with_time, find_in_heading, find_spoken

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


@pytest.mark.parametrize(
    ("line", "speaker", "clock"),
    [
        ("Ilse (09:15): hello", "Ilse", "09:15"),
        ("Ilse [9:15 AM]: hello", "Ilse", "09:15"),
        ("[09:15] Ilse: hello", "Ilse", "09:15"),
        ("[9:15 pm] Ilse: hello", "Ilse", "21:15"),
        ("\\[09:15\\] Ilse: hello", "Ilse", "09:15"),
        ("(09:15 CET) Ilse: hello", "Ilse", "09:15"),
        ("09:15 Ilse: hello", "Ilse", "09:15"),
        ("09:15 - Ilse: hello", "Ilse", "09:15"),
        ("[09:15] <ilse_> hello", "ilse_", "09:15"),
        ("**Ilse (09:15):** hello", "Ilse", "09:15"),
        ("**Ilse** (09:15): hello", "Ilse", "09:15"),
        ("**Ilse** 09:15: hello", "Ilse", "09:15"),
        ("**Ilse** 09:15 hello", "Ilse", "09:15"),
        ("**Ilse** [09:15] hello", "Ilse", "09:15"),
        ("**[09:15] Ilse:** hello", "Ilse", "09:15"),
        ("**09:15 Ilse** hello", "Ilse", "09:15"),
        ("_Ilse_ (09:15): hello", "Ilse", "09:15"),
        ("> [09:15] Ilse: hello", "Ilse", "09:15"),
        ("- **Ilse** (09:15) - hello", "Ilse", "09:15"),
        ("Ilse: (09:15) hello", "Ilse", "09:15"),
        ("`09:15` **Ilse**: hello", "Ilse", "09:15"),
        ("9h15 Ilse : hello", "Ilse", "09:15"),
        ("<b>Ilse</b> (09:15): hello", "Ilse", "09:15"),
        ("\U0001f469 Ilse (09:15): hello", "Ilse", "09:15"),
        ("[Ilse](https://example.org/ilse) (09:15): hello", "Ilse", "09:15"),
        ("Ilse Maes <ilse@example.org>: hello, who is there?", "Ilse Maes", "12:00"),
        ("[[Ilse Maes]]: hello, who is there?", "Ilse Maes", "12:00"),
        ("THE COURT: hello, who is there?", "THE COURT", "12:00"),
        ("**You said:**\n\nhello", "You said", "12:00"),
        ("**Ilse**:\n\nhello, who is there?", "Ilse", "12:00"),
        ("**Ilse** 09:15\nhello", "Ilse", "09:15"),
        ("Ilse Maes  09:15\nhello", "Ilse Maes", "09:15"),
        ("Ilse Maes\n09:15\nhello", "Ilse Maes", "09:15"),
        ("[09:15] Ilse Maes\nhello", "Ilse Maes", "09:15"),
        ("Ilse \u2014 Today at 9:15 AM\nhello", "Ilse", "09:15"),
        ("### Ilse (09:15)\n\nhello", "Ilse", "09:15"),
        ("Ilse: hello, who is there?", "Ilse", "12:00"),
        (
            "Prof. Dr. Ilse van den Berg: hello, who is there?",
            "Prof. Dr. Ilse van den Berg",
            "12:00",
        ),
        ("Marie-Jos\u00e9 D\u2019Arcy (Guest): hello.", "Marie-Jos\u00e9 D\u2019Arcy", "12:00"),
        (
            "El\u00edas de la Cruz Ram\u00edrez: hello.",
            "El\u00edas de la Cruz Ram\u00edrez",
            "12:00",
        ),
        ("Participant 3: hello", "Participant 3", "12:00"),
        ("SPEAKER_01: hello.", "SPEAKER_01", "12:00"),
        (
            "\u0418\u043b\u044c\u0437\u0430 \u041f\u0435\u0442\u0440\u043e\u0432\u0430: hello.",
            "\u0418\u043b\u044c\u0437\u0430 \u041f\u0435\u0442\u0440\u043e\u0432\u0430",
            "12:00",
        ),
        (
            "\u0938\u0941\u0928\u0940\u0924\u093e: hello.",
            "\u0938\u0941\u0928\u0940\u0924\u093e",
            "12:00",
        ),
        ("\u4f50\u85e4\uff1ahello\u3002", "\u4f50\u85e4", "12:00"),
    ],
)
def test_a_name_in_any_usual_form_is_who_speaks(
    tmp_path: Path, line: str, speaker: str, clock: str
) -> None:
    turns, refused = read(tmp_path, f"{line}\n")

    assert [(turn.speaker, turn.text[:5], f"{turn.at:%H:%M}") for turn in turns] == [
        (speaker, "hello", clock)
    ]
    assert refused == []


@pytest.mark.parametrize(
    "page",
    [
        "Note: I moved to Hasselt.\nWarning: I bite.\n",
        "TODO: I call the bank.\n\nSummary: I was there.\n\nNext Steps: I go home.\n",
        "**Achtung:** Ich wohne in Hasselt.\n\n**R\u00e9sum\u00e9 :** J'habite \u00e0 Hasselt.\n",
        "Team: the people that I work with.\nLocation: I am in Hasselt.\n",
        "Side note: I moved.\nRelease Notes: I fixed it.\n",
        "Colour: blue\nDoors: 4\n",
        "I left at 10:30: it was late.\nAt 10:40: rain\n",
        "08:30 got up\n09:00 Breakfast\n\n- 12:00 Lunch with Bo\n",
        "Lunch 12:30: soup\n",
        "1. Cut: be careful with the knife.\n2. Boil: wait for some minutes.\n",
        "**Leek** \u2014 I like it.\n\n**Plums** \u2014 I do not.\n",
        "Vegetables:\n- leek\n\nFruit:\n- plums\n",
        "Dear Bo: thank you for coming.\n",
        "## Work\nI began at Umbra.\n## Health\nI am allergic to cats.\n",
        "# Monday\n## Morning\nI ran.\n## Evening\nI slept.\n# Tuesday\n## Morning\nI ran.\n",
        "**Ingredients**\n- flour\n\n**Shopping in town:** I went there.\n",
        "See https://example.org: I like it.\nhttps://example.org: mine\n",
        "```\nIlse: I live in Hasselt.\nIlse: I do.\n```\n",
    ],
)
def test_a_page_in_which_nobody_speaks_is_its_owners(tmp_path: Path, page: str) -> None:
    turns, refused = read(tmp_path, page)

    assert {turn.speaker for turn in turns} == {OWNER}
    assert refused == []


def test_labels_and_paragraphs_beside_speakers_are_nobodys_words(tmp_path: Path) -> None:
    text = """\
Ilse: I live in Hasselt.
Note: I live in a shoe is a rhyme.

Bo Lind: I live in Skagen.

They agreed to meet again.

- [ ] Bo: book a table
"""

    turns, refused = read(tmp_path, text)

    assert said(turns) == [
        ("Ilse", "I live in Hasselt."),
        ("notes", "Note: I live in a shoe is a rhyme."),
        ("Bo Lind", "I live in Skagen."),
        ("notes", "They agreed to meet again."),
        ("notes", "- [ ] Bo: book a table"),
    ]
    assert refused == []


def test_paragraphs_beside_speakers_are_of_the_author_where_that_is_known(tmp_path: Path) -> None:
    turns, _ = read(tmp_path, "I live in Hasselt.\n\nBo: me too\n", author="Ilse")

    assert said(turns) == [("Ilse", "I live in Hasselt."), ("Bo", "me too")]


def test_a_timed_line_that_names_nobody_is_refused_by_its_number_among_speakers(
    tmp_path: Path,
) -> None:
    text = "[09:00] Ilse: I am here.\n[09:01] I am late\nand sorry\n\n09:05 somebody left\n"

    turns, refused = read(tmp_path, text)

    assert said(turns) == [("Ilse", "I am here.")]
    assert [error.what.rpartition(", ")[2] for error in refused] == ["line 2", "line 5"]
    assert all("names nobody" in error.why for error in refused)


def test_times_within_a_turn_are_its_words_where_turns_do_not_begin_with_one(
    tmp_path: Path,
) -> None:
    turns, refused = read(tmp_path, "**Ilse:** My day:\n10:00 dentist\n\n**Bo:** Oh.\n")

    assert said(turns) == [("Ilse", "My day:\n10:00 dentist"), ("Bo", "Oh.")]
    assert refused == []


def test_headings_that_alternate_speak_and_keep_their_paragraphs(tmp_path: Path) -> None:
    text = """\
# Interview of 2025-03-14
### Ilse
I live in Hasselt.

It is small.
### Bo
Really?
### Ilse
Yes.
"""

    turns, _ = read(tmp_path, text)

    assert said(turns) == [
        ("Ilse", "I live in Hasselt.\n\nIt is small."),
        ("Bo", "Really?"),
        ("Ilse", "Yes."),
    ]
    assert {turn.at.date().isoformat() for turn in turns} == {"2025-03-14"}


@pytest.mark.parametrize("properties", ["attendees: [Ilse, Bo]", "people:\n  - Ilse\n  - Bo"])
def test_headings_with_names_of_the_front_matter_speak(tmp_path: Path, properties: str) -> None:
    text = f"---\n{properties}\n---\n## Ilse\nI live in Hasselt.\n## Bo\nAh.\n## Actions\nnone\n"

    turns, _ = read(tmp_path, text)

    assert said(turns) == [("Ilse", "I live in Hasselt."), ("Bo", "Ah."), ("notes", "none")]


@pytest.mark.parametrize(
    ("text", "speakers"),
    [
        ("Ilse:\nI live in Hasselt.\n\nBo:\nAnd me?\n", ["Ilse", "Bo"]),
        ("Ilse (09:15) I live in Hasselt.\nBo (09:16) And me?\n", ["Ilse", "Bo"]),
        ("[09:15] Ilse - I live in Hasselt.\n[09:16] Bo - And me?\n", ["Ilse", "Bo"]),
        ("09:15 Ilse\nI live in Hasselt.\n\n09:16 Bo Lind: And me?\n", ["Ilse", "Bo Lind"]),
        ("Lind, Ilse: I live in Hasselt.\nBo: And me?\n", ["Lind, Ilse", "Bo"]),
        ("**Bo** \u2014 I live in Hasselt.\n\n**Bo** \u2014 And me?\n", ["Bo", "Bo"]),
        ("1. Bo: I live in Hasselt.\n2. Bo: And me?\n", ["Bo", "Bo"]),
        ("#### Ilse:\nI live in Hasselt.\n#### Bo:\nAnd me?\n", ["Ilse", "Bo"]),
    ],
)
def test_looser_forms_speak_where_several_do(
    tmp_path: Path, text: str, speakers: list[str]
) -> None:
    turns, refused = read(tmp_path, text)

    expected = ["I live in Hasselt.", "And me?"]
    assert said(turns) == list(zip(speakers, expected, strict=True))
    assert refused == []


def test_a_chat_with_an_assistant_keeps_both_apart(tmp_path: Path) -> None:
    turns, _ = read(tmp_path, "## User\nI live in Hasselt.\n\n## Assistant\nNoted.\n")

    assert said(turns) == [("User", "I live in Hasselt."), ("Assistant", "Noted.")]


def test_a_quotation_that_is_a_turn_is_read_without_its_marks(tmp_path: Path) -> None:
    turns, _ = read(tmp_path, "> Ilse: I live\n> in Hasselt.\n>\n> Bo: Ah.\n")

    assert said(turns) == [("Ilse", "I live\nin Hasselt."), ("Bo", "Ah.")]


@pytest.mark.parametrize(
    ("text", "times"),
    [
        (
            "---\ndate: 2025-03-14\n---\n09:15 Ilse: a\n09:15 Bo: b\nIlse: c\n09:20 Bo: d\n",
            ["14 09:15:00", "14 09:15:01", "14 09:15:02", "14 09:20:00"],
        ),
        (
            "---\ndate: 2025-03-14 23:50\n---\n23:58 Ilse: a\n00:02 Bo: b\n",
            ["14 23:58:00", "15 00:02:00"],
        ),
        (
            "---\ndate: 2025-03-14T10:00\n---\n[00:00:05] Ilse: a\n[01:02:03] Bo: b\n",
            ["14 10:00:05", "14 11:02:03"],
        ),
        (
            "# 14 March 2025\n[58:30] Ilse: a\n[59:10] Bo: b\n[1:00:20] Ilse: c\n",
            ["14 00:58:30", "14 00:59:10", "14 01:00:20"],
        ),
        (
            (
                "# 2025-03-14\n[00:01.500 --> 00:03.000] Ilse: a\n[2025-03-16 09:00Z] Bo: b\n"
                "[17 March 2025, 8:00 PM] Ilse: c\n[March 18, 09:00] Bo: d\n"
            ),
            ["14 00:01:00", "16 09:00:00", "17 20:00:00", "18 09:00:00"],
        ),
    ],
)
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
