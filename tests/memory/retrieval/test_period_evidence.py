"""How far the period of a query is evidence by itself."""

from datetime import UTC, datetime, timedelta

import pytest

from mnestic.memory.language.dates import Period
from mnestic.memory.retrieval.candidates import RankingQuery
from mnestic.memory.retrieval.queries import RetrievalPolicy
from mnestic.memory.retrieval.ranking import rank
from tests.memory.retrieval.candidate_samples import Sample, candidates

NOON = datetime(2026, 3, 4, 12, tzinfo=UTC)
DAY = timedelta(days=1)
POLICY = RetrievalPolicy()


@pytest.mark.parametrize(("weights", "answers"), [((8.0,), True), ((6.0, 2.0), False)])
def test_the_period_does_not_stand_for_several_words_that_an_entry_lacks(
    weights: tuple[float, ...], answers: bool
) -> None:
    full = sum(weights) * POLICY.full_words
    then = Sample(number=1, at=NOON, words=0.25 * full)
    others = [
        Sample(number=number, at=NOON - 90 * DAY, words=0.2 * full) for number in range(2, 102)
    ]
    night = Period(NOON - DAY / 2, NOON + DAY / 2, "day")
    query = RankingQuery(asked_at=NOON, weights=weights, period=night)

    best, *_ = rank(candidates([then, *others]), query=query, edges={}, policy=POLICY)

    assert (best.number, best.score > 0.5) == (1, answers)
