"""Candidates as columns: what is taken out."""

from datetime import UTC, datetime

import numpy as np
import pytest

from mnestic.memory.retrieval.candidates import CONCERNS, ROW, Candidates
from tests.memory.retrieval.candidate_samples import Sample, candidates

NOON = datetime(2026, 3, 4, 12, tzinfo=UTC)


def found(*numbers: int) -> Candidates:
    return candidates(Sample(number=number, at=NOON) for number in numbers)


def test_what_is_taken_out_is_gone() -> None:
    left = found(1, 2, 3, 4).without({2}, entry_ids={"4", "9"})

    assert left.rows["number"].tolist() == [1, 3]
    assert [text.entry_id for text in left.texts] == ["1", "3"]


@pytest.mark.parametrize("numbers", [(), (1,), (1, 2)])
def test_all_may_be_taken_out(numbers: tuple[int, ...]) -> None:
    left = found(*numbers).without({1, 2, 3}, entry_ids={"1"})

    assert (len(left), list(left.texts)) == (0, [])


def test_a_row_of_noughts_has_to_do_with_nobody() -> None:
    assert CONCERNS[np.zeros((), ROW)["concern"]] == "open"
