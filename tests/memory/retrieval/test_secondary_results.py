"""Results that are much weaker than the best are left out; what facts add to the best does not count."""

from datetime import UTC, datetime

import pytest

from mnestic.memory.knowledge.entries import Entry
from mnestic.memory.retrieval.candidates import RankingQuery
from mnestic.memory.retrieval.queries import PRESETS, RetrievedEntry
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


def test_a_fact_that_answers_leaves_the_texts_beside_it() -> None:
    fact = Sample(number=1, at=NOON, words=0.7 * FULL, fact_match=1.0)
    text = Sample(number=2, at=NOON, words=0.6 * FULL)

    assert numbers(fact, text) == [1, 2]


@pytest.mark.parametrize(
    ("signals", "measure"),
    [({"lexical": 0.3, "fact_match": 0.6, "time": 0.3}, 0.4), ({"lexical": 0.3}, 0.8), ({}, 0.0)],
)
def test_the_measure_of_a_result_is_its_score_without_facts(
    signals: dict[str, float], measure: float
) -> None:
    entry = Entry(id="e", entry_type="interaction", content="Tea.", at=NOON)

    result = RetrievedEntry(entry=entry, score=0.8, signals=signals)

    assert result.measure == pytest.approx(measure)
