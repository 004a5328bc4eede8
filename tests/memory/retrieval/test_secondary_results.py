"""Results that are much weaker than the best are left out."""

from datetime import UTC, datetime

import pytest

from mnestic.memory.retrieval.candidates import RankingQuery
from mnestic.memory.retrieval.queries import PRESETS
from mnestic.memory.retrieval.ranking import rank
from tests.memory.retrieval.candidate_samples import Sample, candidates

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
POLICY = PRESETS["mnestic"]
FULL = 2.0 * POLICY.full_words
QUERY = RankingQuery(asked_at=NOON, weights=[2.0])


def numbers(*samples: Sample) -> list[int]:
    found = rank(candidates(samples), query=QUERY, edges={}, policy=POLICY)
    return [one.number for one in found]


@pytest.mark.parametrize(("share", "left"), [(0.4, [1]), (0.6, [1, 2])])
def test_less_than_half_of_the_best_is_left_out(share: float, left: list[int]) -> None:
    best = Sample(number=1, at=NOON, words=FULL)
    other = Sample(number=2, at=NOON, words=share * FULL)

    assert numbers(best, other) == left
