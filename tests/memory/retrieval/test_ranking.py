"""Ranking: what speaks for an entry, and how sure an answer is."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnestic.memory.language.dates import Period
from mnestic.memory.retrieval.candidates import Edges, RankingQuery
from mnestic.memory.retrieval.queries import PRESETS, RetrievalPolicy
from mnestic.memory.retrieval.ranking import Ranked, rank
from mnestic.memory.retrieval.scoring import time_proximity
from tests.memory.retrieval.candidate_samples import Sample, candidates

NOON = datetime(2026, 3, 4, 12, tzinfo=UTC)
DAY = timedelta(days=1)
POLICY = RetrievalPolicy(min_score_share=0.25)  # so that order shows among weaker results
FULL = 2.0 * POLICY.full_words  # the BM25 of an entry that says all, of words that weigh 2


def entry(number: int, **fields: Any) -> Sample:
    return Sample(**({"number": number, "at": NOON - 90 * DAY} | fields))


def query(**fields: Any) -> RankingQuery:
    return RankingQuery(**({"asked_at": NOON, "weights": (2.0,)} | fields))


def ranked(*samples: Sample, **more: Any) -> list[Ranked]:
    values = {"query": query(), "edges": {}, "policy": POLICY} | more
    return rank(candidates(samples), **values)


def order(found: list[Ranked]) -> list[int]:
    return [one.number for one in found]


def test_what_says_more_stands_before_what_says_less() -> None:
    found = ranked(
        entry(1, words=0.5 * FULL), entry(2, words=FULL, cosine=0.6), entry(3, words=0.7 * FULL)
    )
    assert order(found) == [2, 3, 1]


def test_nothing_that_is_known_is_no_answer() -> None:
    assert ranked(entry(1, words=0.1 * FULL, cosine=0.2), entry(2, cosine=0.24)) == []
    assert ranked() == []


def test_words_or_meaning_alone_are_enough_to_be_sure() -> None:
    by_words, *_ = ranked(entry(1, words=FULL))
    by_meaning, *_ = ranked(entry(1, cosine=0.7))

    assert by_words.score == by_meaning.score
    assert by_words.score > 0.9


@pytest.mark.parametrize("weights", [{"slope": 1e6}, {"midpoint": 1e300}, {"midpoint": -1e300}])
def test_a_score_stays_a_share_however_steeply_it_grows(weights: dict[str, float]) -> None:
    policy = POLICY.model_copy(update=weights)

    found = ranked(entry(1, words=0.3 * FULL), policy=policy, min_score=0.0)

    assert [one.score for one in found] == [pytest.approx(float(policy.midpoint < 0))]


def test_a_score_does_not_depend_on_what_else_is_found() -> None:
    best = entry(1, words=FULL, cosine=0.5)
    alone, *_ = ranked(best)
    beside, *_ = ranked(best, *(entry(number, words=0.4 * FULL) for number in range(2, 30)))

    assert alone.score == beside.score


def test_turns_beside_a_hit_are_lent_a_part_of_it() -> None:
    hit = entry(1, words=FULL, is_turn=True)
    found = ranked(
        hit,
        entry(2, is_turn=True),
        entry(3, is_turn=True),
        edges={1: [(2, "neighbour"), (3, "second_neighbour")]},
        policy=POLICY.model_copy(update={"min_score_share": 0.0}),
    )
    assert order(found) == [1, 2, 3]
    assert found[1].signals["neighbour"] == pytest.approx(POLICY.neighbour * POLICY.lexical)


def test_the_answer_of_the_other_is_found_beside_the_question() -> None:
    question = entry(1, words=FULL, is_turn=True, asks=True, concern="other")
    answer = entry(2, is_turn=True, is_by_named_speaker=True, concern="named")
    found = ranked(question, answer, query=query(names=("mara",)), edges={1: [(2, "neighbour")]})

    assert order(found)[0] == 2


def test_who_is_asked_about_comes_before_somebody_else() -> None:
    said = {"words": FULL, "is_turn": True}
    found = ranked(
        entry(1, concern="other", **said),
        entry(2, concern="mentioned", **said),
        entry(3, concern="named", is_by_named_speaker=True, **said),
        query=query(names=("mara",)),
    )
    assert order(found) == [3, 2, 1]


def test_what_was_kept_about_somebody_else_is_left_out() -> None:
    found = ranked(
        entry(1, concern="other", words=FULL),
        entry(2, concern="named", words=FULL),
        query=query(names=("mara",)),
    )
    assert order(found) == [2]


def test_a_name_alone_is_answered_by_what_is_about_it() -> None:
    found = ranked(
        entry(1, concern="named"),
        entry(2, concern="other"),
        query=query(weights=(), names=("mara",)),
    )
    assert order(found) == [1]


def test_the_time_that_is_asked_about_counts() -> None:
    week = Period(NOON - 7 * DAY, NOON, "week")
    found = ranked(
        entry(1, words=FULL),
        entry(2, words=FULL, at=NOON - 3 * DAY),
        entry(3, words=FULL, times=((NOON - 4 * DAY, NOON - 3 * DAY),)),
        query=query(period=week),
    )
    assert set(order(found)[:2]) == {2, 3}


@pytest.mark.parametrize(
    ("days", "share"),
    [(-1, 0.9), (0, 1), (6.9, 1), (7, 0.9), (8, 0.9), (8.1, 0.6), (14, 0.6), (38, 0.25), (39, 0)],
)
def test_a_time_counts_less_the_further_away_it_is(days: float, share: float) -> None:
    week = Period(NOON - 7 * DAY, NOON, "week")
    at = week.start + days * DAY
    told = candidates([entry(1, at=at), entry(2, times=((at, at),)), entry(3, at=at - 90 * DAY)])
    assert time_proximity(told, week).tolist() == [share, share, 0]


def test_of_a_wider_time_only_its_share_counts() -> None:
    day = Period(NOON - 2 * DAY, NOON - DAY, "day")
    year, three_days = (NOON - 100 * DAY, NOON + 265 * DAY), (NOON - 3 * DAY, NOON)
    told = candidates([entry(1, times=(year,)), entry(2, times=(three_days,))])

    of_the_year, of_the_days = time_proximity(told, day)

    assert of_the_year == pytest.approx(8 / 365)
    assert of_the_days == 1


def test_who_asks_the_same_does_not_answer_a_question() -> None:
    same = entry(1, words=FULL, asks=True, is_turn=True)
    other = entry(2, words=0.7 * FULL, is_turn=True)

    assert order(ranked(same, other, query=query(is_question=True))) == [2, 1]
    assert order(ranked(same, other)) == [1, 2]
    assert order(ranked(same, query=query(is_question=True))) == [1]


def test_of_near_equals_with_the_same_words_the_newest_stands_first() -> None:
    old = entry(1, words=FULL, lexemes=1)
    new = {"number": 2, "at": NOON - 30 * DAY, "lexemes": 3}

    assert order(ranked(old, entry(**new, words=0.7 * FULL))) == [2, 1]
    assert order(ranked(old, entry(**new, words=0.5 * FULL))) == [1, 2]
    assert order(ranked(old, entry(**new | {"lexemes": 2}, words=0.7 * FULL))) == [1, 2]
    assert order(ranked(old, entry(**new, words=0.7 * FULL, speaker="mara"))) == [1, 2]
    assert order(ranked(old, entry(**new, words=0.7 * FULL, asks=True))) == [1, 2]


def test_what_was_so_before_is_asked_for_and_the_oldest_stands_first() -> None:
    old = entry(1, words=0.7 * FULL, lexemes=1)
    new = entry(2, words=FULL, lexemes=1, at=NOON - 30 * DAY)

    assert order(ranked(old, new)) == [2, 1]
    assert order(ranked(old, new, query=query(asks_for_earlier=True))) == [1, 2]


def test_where_a_time_is_asked_about_the_newest_does_not_stand_first() -> None:
    month = Period(NOON - 100 * DAY, NOON - 70 * DAY, "month")
    found = ranked(
        entry(1, words=FULL, lexemes=1),
        entry(2, words=0.7 * FULL, lexemes=1, at=NOON - 30 * DAY),
        query=query(period=month),
    )
    assert order(found)[0] == 1


def test_a_message_of_the_future_is_not_the_newest() -> None:
    found = ranked(
        entry(1, words=FULL, lexemes=1),
        entry(2, words=FULL, lexemes=1, at=NOON + 30 * DAY),
        query=query(present_until=NOON + DAY),
    )
    assert order(found)[0] == 1


def test_what_is_but_beside_an_answer_counts_less_than_what_follows_who_asks() -> None:
    def second(**fields: Any) -> float:
        found = ranked(
            entry(1, words=FULL, is_turn=True, **fields),
            entry(2, is_turn=True),
            edges={1: [(2, "neighbour")]},
            min_score=0,
        )
        return next(one.score for one in found if one.number == 2)

    assert second() < 0.8 * second(asks=True)


def test_what_is_of_the_time_need_not_say_more_where_nothing_says_much() -> None:
    week = Period(NOON - 7 * DAY, NOON, "week")
    of_the_time = entry(2, at=NOON - 3 * DAY)
    others = [entry(number) for number in range(3, 9)]

    min_evidence = ranked(entry(1, cosine=0.3), of_the_time, *others, query=query(period=week))
    clear = ranked(entry(1, words=FULL), of_the_time, *others, query=query(period=week))

    assert order(min_evidence)[0] == 2
    assert order(clear) == [1]


def test_to_be_one_of_few_who_are_named_makes_surer() -> None:
    others = [entry(number, concern="other", cosine=0.01) for number in range(2, 12)]
    few = ranked(entry(1, concern="named", words=FULL / 6), *others, query=query(names=("mara",)))
    all_of_them = [entry(one.number, concern="named", cosine=0.01) for one in others]
    many = ranked(
        entry(1, concern="named", words=FULL / 6), *all_of_them, query=query(names=("mara",))
    )

    assert few[0].number == 1
    assert few[0].score > 2 * max((one.score for one in many), default=0.0)


def test_a_tag_says_nearly_as_much_as_a_word() -> None:
    assert order(ranked(entry(1, is_tagged=True), entry(2))) == [1]
    assert ranked(entry(1, is_tagged=True), query=query(weights=(2.0, 2.0, 2.0))) == []


def test_a_session_that_speaks_of_it_speaks_for_its_turns() -> None:
    def turn(number: int, session: str, **fields: Any) -> Sample:
        return entry(number, session_id=session, is_turn=True, words=0.5 * FULL, **fields)

    found = ranked(
        turn(1, "a", lexemes=1), turn(2, "b", lexemes=3), turn(3, "b", lexemes=2),
        query=query(weights=(1.0, 1.0)),
    )  # fmt: skip
    assert order(found)[0] in {2, 3}
    assert found[0].signals["session"] > found[-1].signals["session"]


def test_a_word_that_is_alike_says_less_than_the_word() -> None:
    alike, same = entry(1, late_interaction=0.8), entry(2, words=FULL)

    for mode in ("hybrid", "semantic"):
        assert order(ranked(alike, entry(3), query=query(mode=mode)))[0] == 1
    assert order(ranked(alike, same)) == [2, 1]
    assert ranked(alike, query=query(mode="text")) == []


def test_each_mode_listens_to_its_own_source() -> None:
    both = entry(1, words=FULL, cosine=0.6)
    text, *_ = ranked(both, query=query(mode="text"))
    semantic, *_ = ranked(both, query=query(mode="semantic"))

    assert "semantic" not in text.signals
    assert "lexical" not in semantic.signals


def test_importance_counts_in_the_order_where_the_policy_says_so() -> None:
    plain = entry(1, words=FULL, cosine=0.7, importance=0.1)
    weighty = entry(2, words=FULL, cosine=0.6, importance=0.9)

    assert order(ranked(plain, weighty, policy=PRESETS["leonidas"])) == [2, 1]


@pytest.mark.parametrize("period", [None, Period(NOON - DAY, NOON + DAY, "day")])
def test_leonidas_cuts_by_its_weighted_sum(period: Period | None) -> None:
    asked = query(period=period)
    new = {"at": NOON, "importance": 1.0}
    enough = entry(1, words=FULL, cosine=0.25, **new)  # 0.4 of a quarter, 0.3, 0.2 and 0.1
    too_little = entry(2, words=0.6 * FULL, cosine=0.25, **new)  # 0.1, 0.18, 0.2 and 0.1

    found = ranked(enough, too_little, query=asked, policy=PRESETS["leonidas"])

    assert [(one.number, round(one.score, 4)) for one in found] == [(1, 0.7)]
    assert found[0].score == pytest.approx(sum(found[0].signals.values()))
    assert order(ranked(enough, query=asked, policy=PRESETS["leonidas"], min_score=0.71)) == []
    everything = ranked(enough, too_little, query=asked, policy=PRESETS["leonidas"], min_score=0.5)
    assert order(everything) == [1, 2]


def test_a_score_of_nought_lets_everything_through() -> None:
    entries = [entry(number, cosine=number / 100) for number in range(1, 20)]

    assert len(ranked(*entries, min_score=0)) == len(entries)


_CANDIDATES = st.builds(
    entry,
    st.integers(1, 50),
    words=st.floats(0, 2 * FULL),
    cosine=st.floats(-1, 1),
    lexemes=st.integers(0, 1),
    is_turn=st.booleans(),
    asks=st.booleans(),
    is_by_named_speaker=st.booleans(),
    importance=st.floats(0, 1),
    session_id=st.sampled_from([None, "a", "b"]),
    concern=st.sampled_from(["named", "mentioned", "open", "other"]),
    at=st.integers(-400, 10_000).map(lambda days: NOON - days * DAY),
)


@given(
    st.lists(_CANDIDATES, max_size=20, unique_by=lambda one: one.number),
    st.sampled_from([(), ("mara",)]),
    st.sampled_from(sorted(PRESETS)),
)
def test_scores_are_shares_and_fall_whatever_is_found(
    entries: list[Sample], names: tuple[str, ...], preset: Any
) -> None:
    policy: RetrievalPolicy = PRESETS[preset]
    found = ranked(*entries, query=query(names=names), policy=policy)

    assert all(policy.min_score <= one.score <= 1 for one in found)
    if policy.sort_by_importance == 0:
        assert [one.score for one in found] == sorted((one.score for one in found), reverse=True)


def test_what_says_just_the_min_evidence_share_is_told_however_that_is_rounded() -> None:
    """Turns two away from the best are lent just the share below which others are left out."""
    assert POLICY.second_neighbour == POLICY.min_evidence_share
    policy = POLICY.model_copy(update={"min_score_share": 0.0, "min_score": 0.001})
    for tenth in range(1, 100):
        best = entry(1, words=(0.5 + tenth / 200) * FULL, cosine=tenth / 100, is_turn=True)
        edges: Edges = {1: [(2, "second_neighbour")]}
        assert order(ranked(best, entry(2, is_turn=True), edges=edges, policy=policy)) == [1, 2]


def test_another_identifier_is_no_answer_and_the_same_one_is() -> None:
    same = entry(1, words=0.2 * FULL, identity=1)
    other = entry(2, words=FULL, cosine=0.7, identity=-1)
    asked = query(has_identifier=True)

    (first, *_) = found = ranked(same, other, query=asked)

    assert order(found) == [1]
    assert first.score > 0.9
    assert ranked(other, query=asked) == []
