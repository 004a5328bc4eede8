"""What a message's speaker did not write is left out before anything is parsed."""

import pytest

from mnestic.activities.clients.messages.machine_text import mask_machine_text


@pytest.mark.parametrize(
    "text",
    [
        "[2026-02-03 10:11:12] INFO worker-3 I am ready",
        "10:31:07 ERROR my name is node-4",
        "Nov 12 09:00:01 db2 app[1]: I live in Bari",
        "web_1  | I live in Bari",
        "I1129 08:00:01.1 1 main.go:11] I live in Bari",
        "W/System.err( 1234): I live in Bari",
        '127.0.0.1 - - [10/Oct/2025:13:55:36] "GET / HTTP/1.1" 200 I live in Bari',
        "ada@host:~$ cat bio.txt\nI live in Bari.",
        "PS C:\\Users> type bio.txt\nI live in Bari.",
        ">>> print(bio)\nI live in Bari.",
        "~~~\nI live in Bari\n~~~",
        "<<<<<<< HEAD\nI live in Bari.\n=======\nI live in Bari!\n>>>>>>> other",
        "Subject: bio\n\nI live in Bari.",
        "Tom wrote at 10:30:\nI live in Bari.",
        "--- a/notes.txt\n+++ b/notes.txt\n-I live in Bari.\n+I live in Lecce.\n I work at Enel.",
        "+I live in Bari.\n-I live in Lecce.",
        'Traceback (most recent call last):\n  File "a.py", line 3\nValueError: I live in Bari',
        "OWNER=Sandra\nI_LIVE_IN=staging",
        "name: Karla\nemployer: Fabrikam\npets:\n  - Rex",
        "name,city,employer\nRob,Ulm,Zeiss\nIna,Jena,Schott",
        "INSERT INTO people VALUES ('I like tea', 'My wife is Ann');",
        "```\nI live in Bari\n```",
        "foo(\n  'I live in Bari',\n);",
        "x = 'I live in Bari';",
        "> I moved to Bari last week.",
        "Fwd: hello\nI live in Bari.",
        "On 3 May 2026, Tom wrote:\nI live in Bari.",
        '"I live in Bari"',
        "Tom: I live in Bari.",
        "His bio:\nI live in Bari.",
    ],
)
def test_what_somebody_else_wrote_is_blanked(text: str) -> None:
    masked = mask_machine_text(text, speaker="Ada")

    assert len(masked) == len(text)
    assert "Bari" not in masked
    assert "Rex" not in masked
    assert not any(word in masked for word in ("node-4", "ready", "Zeiss", "Ann", "staging"))


@pytest.mark.parametrize(
    "text",
    [
        "I live in Bari.",
        "- I live in Bari\n- I like tea",
        "Update: I live in Bari.",
        "Ada: I live in Bari.",
        "Two things: I live in Bari; I work at Enel.",
        "I'm in (well, near) Bari, at 10:30 or so.",
        "I live in Bari (Italy)",
        "May 3 was great. I live in Bari.",
        "My sister wrote that she is well: I live in Bari.",
        "I live in Bari :)",
        "My cat is called Mio;",
    ],
)
def test_what_people_write_stays(text: str) -> None:
    assert mask_machine_text(text, speaker="Ada") == text


def test_a_title_in_quotation_marks_is_no_speech() -> None:
    masked = mask_machine_text('My boat is called "Sea Otter". He said "I live in Bari".')

    assert "Sea Otter" in masked
    assert "Bari" not in masked
