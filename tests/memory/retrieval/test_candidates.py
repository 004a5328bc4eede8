"""Candidates as columns: what is taken out."""

from dataclasses import replace
from datetime import UTC, datetime

import numpy as np

from mnestic.memory.retrieval.candidates import PERSON_MATCHES, ROW
from tests.memory.retrieval.candidate_samples import Sample, candidates

NOON = datetime(2026, 3, 4, 12, tzinfo=UTC)


def test_what_is_superseded_and_what_is_named_by_id_is_taken_out() -> None:
    samples = [Sample(number=number, at=NOON, is_superseded=number == 2) for number in (1, 2, 3, 4)]
    kept = candidates(samples).without(entry_ids={"4", "9"})
    left = candidates(samples).without(are_superseded=True, entry_ids={"4", "9"})

    assert kept.rows["number"].tolist() == [1, 2, 3]
    assert left.rows["number"].tolist() == [1, 3]
    assert [text.entry_id for text in left.texts] == ["1", "3"]
    assert list(left.without(entry_ids={"1", "3"}).texts) == []
    assert len(candidates([]).without(are_superseded=True, entry_ids={"1"})) == 0


def test_what_supersedes_an_entry_matches_the_query_as_well_as_that_one() -> None:
    old = Sample(number=1, at=NOON, words=2.0, cosine=0.5, lexemes=3, is_superseded=True)
    new = Sample(number=2, at=NOON, words=0.5, cosine=0.6, lexemes=4)

    found = replace(candidates([old, new]), successors={1: [2, 7], 8: [2]})
    row = found.with_inherited().rows[1]

    assert (row["words"], row["cosine"], row["lexemes"]) == (2.0, 0.6, 7)


def test_a_row_of_noughts_has_to_do_with_nobody() -> None:
    assert PERSON_MATCHES[np.zeros((), ROW)["person_match"]] == "open"
