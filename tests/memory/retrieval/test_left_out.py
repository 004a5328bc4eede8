"""What ranking leaves out, or counts less: what is of another time, or little beside the best."""

from mnestic.memory.language.dates import Period
from tests.memory.retrieval.test_ranking import DAY, FULL, NOON, entry, order, query, ranked


def test_what_is_of_another_time_counts_less_where_something_of_the_time_answers() -> None:
    month = Period(NOON - 100 * DAY, NOON - 70 * DAY, "month")
    within, without = entry(1, words=0.9 * FULL), entry(2, words=FULL, at=NOON - 300 * DAY)

    inside, *others = ranked(within, without, query=query(period=month))
    (alone,) = ranked(without, query=query(period=month))

    assert inside.number == 1
    assert not [one for one in others if one.score > 0.4 * alone.score]


def test_what_scores_little_beside_the_best_is_left_out() -> None:
    best, little = entry(1, words=FULL), entry(2, words=0.22 * FULL)

    assert order(ranked(best, little)) == [1]
    assert order(ranked(best, little, min_score=0)) == [1, 2]
    assert order(ranked(little, min_score=0.01)) == [2]
