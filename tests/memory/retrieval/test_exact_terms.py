"""Identifiers and numbered names are the same or others, however alike they look."""

import json
from datetime import UTC, datetime
from functools import partial

import pytest

from mnestic.memory.retrieval import exact_terms
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
from tests.memory.steps import steps_of
from tests.memory.tables import tables, wrong

CASES = tables(__file__)


def test_an_exact_term_is_in_an_entry_or_another_is() -> None:
    def identity(asked: str, content: str) -> int:
        return find_exact_terms(asked).identity(find_exact_terms(content))

    assert wrong(CASES["identity"], identity) == []


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


def test_a_thing_of_a_kind_with_another_name_is_another() -> None:
    def has_other_kind(query: str, text: str) -> bool:
        return ExactTerms(kinds=find_kinds(query)).has_other_kind(text)

    assert wrong(CASES["other_kind"], has_other_kind) == []


@pytest.mark.parametrize(
    "part", ["Postgres 16, ", "AB-1234 and Postgres 16, ", "the 123456 ", "a@b.de 7, "]
)
def test_a_long_text_takes_steps_by_its_length_alone(part: str) -> None:
    find_exact_terms(part)  # with all patterns compiled
    few, many = (steps_of(partial(find_exact_terms, part * times)) for times in (10, 300))

    assert many["calls"] < 45 * few["calls"]
    for search in ("findall", "finditer"):
        name = f"{exact_terms.__name__}.{search}"
        assert many[name] == few[name]


LONG = (
    "Lorem ipsum dolor sit amet. " * 1000
)  # more than is read of a text without a look at its words


@pytest.mark.parametrize(
    ("asked", "content"),
    [
        ("What is room 204?", json.dumps({"text": LONG, "room": 204})),
        (
            "see https://ferry.example/a/b",
            f'{{"text": "{LONG}", "url": "https:\\/\\/ferry.example\\/a\\/b"}}',
        ),
        (
            "Who merged PR #12?",
            "pr worker 7 printed 12 lines\n" * 1500 + "PR #12 was merged by Ada.",
        ),
        ("Is MR 4711 done?", f"{LONG} merge request 4711 {LONG}"),
        ("Whose is 0033612345678?", f"{LONG} +33 6 12 34 56 78 {LONG}"),
        ("What about T-2713?", f"T-1731 {LONG} t 2713 {LONG}"),
    ],
)
def test_an_exact_term_is_found_wherever_a_long_text_has_it(asked: str, content: str) -> None:
    found = candidates([Sample(number=1, at=datetime.now(UTC), content=content)])

    set_identity(found, find_exact_terms(asked))

    assert found.rows["identity"].tolist() == [SAME]


def test_a_long_text_that_has_the_name_far_behind_is_about_it() -> None:
    contents = [f"We bought the Canon printer. {LONG}{more}" for more in ("", " An Ｅｐｓｏｎ.")]  # noqa: RUF001
    found = candidates(
        Sample(number=number, at=datetime.now(UTC), content=one)
        for number, one in enumerate(contents)
    )

    set_identity(found, ExactTerms(kinds=find_kinds("Where is the Epson printer?")))

    assert found.rows["identity"].tolist() == [OTHER, 0]
