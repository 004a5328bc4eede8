"""Identifiers and numbered names are the same or others, however alike they look."""

import sys
from collections import Counter
from datetime import UTC, datetime
from types import FrameType
from typing import Any

import pytest

from mnestic.memory.retrieval.exact_terms import (
    OTHER,
    SAME,
    ExactTerms,
    find_exact_terms,
    find_kinds,
    set_identity,
    spellings,
)
from tests.memory.retrieval.candidate_samples import Sample, candidates


@pytest.mark.parametrize(
    ("asked", "content", "identity"),
    [
        ("What is PAY-310 about?", "PAY-310 is the refund that failed twice.", SAME),
        ("What is PAY-310 about?", "pay 310 is the refund that failed twice.", SAME),
        ("What is pay 310 about?", "PAY-301 is the refund that failed twice.", OTHER),
        ("What is PAY-310 about?", "PAY-301 is the refund that failed twice.", OTHER),
        ("What is PAY-310 about?", "PAY-301 was split into PAY-310 and PAY-311.", SAME),
        ("What is PAY-310 about?", "The refund failed twice.", 0),
        ("Who sits in room 415?", "Room 451 is free.", OTHER),
        ("Who sits in room 415?", "Room 415 is taken.", SAME),
        ("Does Redis 7 run there?", "Redis 6 runs there.", OTHER),
        ("Does Redis 7 run there?", "There redis 7 runs.", SAME),
        ("Who uses Node 20.1?", "We use Node 20.11.", OTHER),
        ("Who uses Node 20.1?", "We use Node 20.1.7.", SAME),
        ("Who uses Node 20?", "We use Node 20.1.7.", SAME),
        ("Who is still on kafka 3.1?", "The audit log is on kafka 3.4.1.", OTHER),
        ("Who is still on kafka 3.4.1?", "The audit log is on kafka 3.4.", OTHER),
        ("Is release 2.3.0 out?", "Release 2.3.0-rc1 is out.", OTHER),
        ("Who reviews MR 318?", "MR !311 and MR #318 are Ida's.", SAME),
        ("Who reviews MR 318?", "MR #381 is Ida's.", OTHER),
        ("Who reviews merge request 318?", "MR-318 is Ida's.", SAME),
        ("Who reviews merge request #318?", "MR 381 is Ida's.", OTHER),
        ("Who reviews PR-318?", "Pull request 318 is Ida's.", SAME),
        ("What is wrong with lane -14?", "Lane 41 is wet.", OTHER),
        ("What is wrong with lane no. 14?", "Lane 14 is wet.", SAME),
        ("What's 536?", "Cabin 536 has a view.", SAME),
        ("What's 536?", "Cabin 563 has a view.", OTHER),
        ("parcel b 8841", "Parcel B-8841 is here.", SAME),
        ("parcel b 8841", "Parcel B-8814 is here.", OTHER),
        ("req 30118?", "REQ-30181 is about the lift.", OTHER),
        ("Whose alarm code is 6614?", "My alarm code is 6641.", OTHER),
        ("Whose alarm code is 6614?", "My alarm code is 6614.", SAME),
        ("Did 20 people come?", "About 12 people came.", 0),
        ("Who earns more than 3000 euros?", "I earn 3,200 euros.", 0),
        ("What changed in 2019?", "In 2020 we moved.", OTHER),
        ("What is at https://localhost/panel", "See https://localhost/panel for it", SAME),
        ("What is at https://localhost/panel", "See https://localhost/board for it", OTHER),
    ],
)
def test_an_exact_term_is_in_an_entry_or_another_is(
    asked: str, content: str, identity: int
) -> None:
    assert find_exact_terms(asked).identity(find_exact_terms(content)) == identity


@pytest.mark.parametrize("asked", ["Does Redis 7 run there?", "What changed in 3.12?", "Is it C#?"])
def test_candidates_without_the_name_or_a_long_number_have_neither(asked: str) -> None:
    contents = ("redis 7, C#, since 3.12", "REDIS 6 and A# with 3.11", "The 14th and 20 people.")
    found = candidates(
        Sample(number=number, at=datetime.now(UTC), content=text)
        for number, text in enumerate(contents)
    )
    terms = find_exact_terms(asked)

    set_identity(found, terms)

    assert found.rows["identity"].tolist() == [
        terms.identity(find_exact_terms(text)) for text in contents
    ]
    assert found.rows["identity"][0] == SAME


def test_an_identifier_is_looked_for_in_all_its_spellings() -> None:
    assert spellings("PAY-310") == {"PAY-310", "PAY 310", "PAY310"}


def test_a_number_in_the_name_of_the_speaker_tells_speakers_apart() -> None:
    found = candidates(
        Sample(number=number, at=datetime.now(UTC), content="I keep bees.", speaker=speaker)
        for number, speaker in enumerate(("guest_12", "guest_21", "Otto"))
    )

    set_identity(found, find_exact_terms("What does guest_21 keep?"))

    assert found.rows["identity"].tolist() == [OTHER, SAME, 0]


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("Where is the Ricoh copier?", "The Sharp copier stands in the hall."),
        ("Who runs the Oslo branch?", "Ida runs the Turku branch."),
        ("When does Uncle Olaf arrive?", "Uncle Gert arrives at noon."),
        ("Is the hotel Ritz booked?", "We booked the hotel Astoria."),
    ],
)
def test_a_thing_of_a_kind_with_another_name_is_another(query: str, text: str) -> None:
    terms = ExactTerms(kinds=find_kinds(query))

    assert terms.has_other_kind(text)


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("Where is the Ricoh copier?", "The copier stands in the hall."),
        ("Where is the Ricoh copier?", "The Sharp copier went, a Ricoh came."),
        ("Where is the Rico copier?", "The Ricoh copier stands in the hall."),
        ("Where are the Xmas lights?", "The Christmas lights are in the attic."),
        ("Where is the copier?", "The Sharp copier stands in the hall."),
        ("Where Is The Ricoh Copier?", "The Sharp copier stands in the hall."),
        ("Is the Ricoh copier new?", "Old copiers are collected on Monday."),
    ],
)
def test_a_thing_without_another_name_may_be_the_one_asked_for(query: str, text: str) -> None:
    terms = ExactTerms(kinds=find_kinds(query))

    assert not terms.has_other_kind(text)


@pytest.mark.parametrize(
    "part", ["Postgres 16, ", "AB-1234 and Postgres 16, ", "the 123456 ", "a@b.de 7, "]
)
def test_a_long_text_takes_steps_by_its_length_alone(part: str) -> None:
    few, many = (_steps(part * times) for times in (10, 300))

    assert many["events"] < 45 * few["events"]
    assert many["searches"] == few["searches"]


def _steps(text: str) -> Counter[str]:
    """How many calls `find_exact_terms` makes of its own and of others, and how often it searches a whole text."""
    counts = Counter[str]()

    def count(frame: FrameType, event: str, called: Any) -> None:
        if event in {"call", "c_call"}:
            counts["events"] += 1
        is_own = frame.f_globals["__name__"] == find_exact_terms.__module__
        if is_own and event == "c_call" and called.__name__ in {"findall", "finditer"}:
            counts["searches"] += 1

    find_exact_terms(text)  # with all patterns compiled
    sys.setprofile(count)
    find_exact_terms(text)
    sys.setprofile(None)
    return counts
