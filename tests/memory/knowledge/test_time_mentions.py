"""The times that a message speaks of."""

from datetime import UTC, datetime

import pytest

from mnestic.memory.knowledge.time_mentions import names_time, times_of

SAID = datetime(2026, 1, 2, 9, 30, tzinfo=UTC)  # a Friday


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("I met Ana yesterday.", [("yesterday", "2026-01-01", "2026-01-02")]),
        ("We went there on Christmas Eve.", [("on Christmas Eve", "2025-12-24", "2025-12-25")]),
        ("We will go there in May.", [("in May", "2026-05-01", "2026-06-01")]),
        ("We moved in May. I'll call on Monday.", [
            ("in May", "2025-05-01", "2025-06-01"),
            ("on Monday", "2026-01-05", "2026-01-06"),
        ]),
        ("It is due on 2026-03-01.", [("on 2026-03-01", "2026-03-01", "2026-03-02")]),
        ("The party is on 3 May.", [("on 3 May", "2026-05-03", "2026-05-04")]),
        ("The shop opens on Monday.", [("on Monday", "2026-01-05", "2026-01-06")]),
        ("We are closed from 20 February to 3 March.", [
            ("from 20 February to 3 March", "2026-02-20", "2026-03-04"),
        ]),
        ("I was in Rome from 3 May to 9 May.", [
            ("from 3 May to 9 May", "2025-05-03", "2025-05-10"),
        ]),
        ("We were closed on 20 May, and on 3 June.", [
            ("on 20 May", "2025-05-20", "2025-05-21"),
            ("on 3 June", "2025-06-03", "2025-06-04"),
        ]),
        ("We moved the party from 3 May to 9 May.", [
            ("from 3 May", "2025-05-03", "2025-05-04"),
            ("9 May", "2025-05-09", "2025-05-10"),
        ]),
        ("The harbour in May.", []),
        ("May I come in?", []),
        ("", []),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)  # fmt: skip
def test_a_time_is_told_where_it_is_certain(text: str, told: list[tuple[str, str, str]]) -> None:
    found = times_of(text, at=SAID)

    assert [(t.words, f"{t.start:%Y-%m-%d}", f"{t.end:%Y-%m-%d}") for t in found] == told


def test_a_long_text_is_read_from_its_beginning() -> None:
    found = times_of("yesterday " * 100_000, at=SAID)

    assert len(found) == 16


@pytest.mark.parametrize(
    "text",
    [
        "The book club meets on Tuesdays.",
        "Every second week somebody cleans.",
        "The standup is at 9:30.",
        "It opens at nine.",
        "Doors close at 10pm",
        "The bins are emptied at dawn.",
        "It opens right after lunch.",
        "Um 8 Uhr",
    ],
)
def test_what_recurs_and_what_the_clock_says_tells_when(text: str) -> None:
    assert names_time(text)


@pytest.mark.parametrize(
    "text",
    ["We got to two hundred.", "In one go.", "", "1.5 km", "4.50 euros", "up to 12", "Python 3.11"],
)
def test_other_numbers_tell_no_time(text: str) -> None:
    assert not names_time(text)
