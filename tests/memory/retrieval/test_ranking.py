"""Ranking: what speaks for an entry, and how sure an answer is."""

import math
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnestic.memory.language.dates import Period
from mnestic.memory.retrieval.candidates import Ranked
from mnestic.memory.retrieval.queries import (
    LEARNED,
    PRESETS,
    SIGNALS,
    Mode,
    RetrievalPolicy,
    RetrievalQuery,
)
from mnestic.memory.retrieval.ranking import archived_last, rank
from mnestic.memory.retrieval.scoring import FULL_WORDS, Signals, time_proximity
from mnestic.memory.retrieval.search import ParsedQuery, QueryLexeme, ResolvedTerms, Vocabulary
from tests.memory.retrieval.candidate_samples import Sample, candidates

NOON = datetime(2026, 3, 4, 12, tzinfo=UTC)
DAY = timedelta(days=1)
POLICY = RetrievalPolicy()
EVERYTHING = {"min_score": 0}  # so that order shows among weaker results
FULL = 4.0 * FULL_WORDS  # the BM25 of an entry that says all, of two words that weigh 2
BOTH = {"lexemes": 3}  # of the words of a query with two


def entry(number: int, **fields: Any) -> Sample:
    return Sample(**({"number": number, "at": NOON - 90 * DAY} | fields))


def query(
    weights: Sequence[float] = (2.0, 2.0), mode: Mode = "hybrid", **fields: Any
) -> ParsedQuery:
    """A parsed query; its words weigh so much."""
    lexemes = [QueryLexeme((str(place),), one, is_known=True) for place, one in enumerate(weights)]
    return ParsedQuery(
        query=RetrievalQuery(text="?", mode=mode),
        asked_at=NOON,
        known=ResolvedTerms(now=NOON),
        policy=POLICY,
        vocabulary=Vocabulary(tuple(lexemes)),
        **fields,
    )


def ranked(*samples: Sample, **more: Any) -> list[Ranked]:
    edges = more.pop("edges", {})
    return rank(
        replace(candidates(samples), edges=edges), **({"query": query(), "policy": POLICY} | more)
    )


def order(found: list[Ranked]) -> list[int]:
    return [one.number for one in found]


def test_what_says_more_stands_before_what_says_less() -> None:
    half, most, least = entry(1, lexemes=1), entry(2, **BOTH, cosine=0.6), entry(3, cosine=0.3)

    assert order(ranked(half, most, least, **EVERYTHING)) == [2, 1, 3]


def test_words_or_meaning_alone_are_enough_and_too_little_of_either_is_no_answer() -> None:
    by_words, *_ = ranked(entry(1, **BOTH, cosine=0.1))
    by_meaning, *_ = ranked(entry(1, cosine=0.7))

    assert by_words.score > 0.5
    assert by_meaning.score > POLICY.min_score
    assert ranked(entry(1, cosine=0.2), entry(2, cosine=0.24)) == ranked() == []


def test_a_score_is_the_logistic_function_of_its_signals_whatever_else_is_found() -> None:
    best = entry(1, **BOTH, cosine=0.5, is_turn=True, is_tagged=True)
    alone, *_ = ranked(best)
    beside, *_ = ranked(best, *(entry(number, lexemes=1) for number in range(2, 30)))

    assert alone.score == pytest.approx(1 / (1 + math.exp(-sum(alone.signals.values()))))
    assert alone.score == beside.score


def test_each_signal_has_a_weight() -> None:
    made = Signals(candidates([entry(1)]), query=query(), policy=POLICY).values()

    assert made.keys() | {"intercept"} == set(SIGNALS)
    assert LEARNED.keys() <= set(SIGNALS) <= RetrievalPolicy.model_fields.keys()


@pytest.mark.parametrize("intercept", [-100, 100])
def test_a_score_stays_a_share_however_much_speaks_for_it(intercept: float) -> None:
    policy = POLICY.model_copy(update={"intercept": intercept, "coverage": intercept})

    found = ranked(entry(1, **BOTH), policy=policy, **EVERYTHING)

    assert [one.score for one in found] == [pytest.approx(float(intercept > 0))]


def test_turns_beside_a_hit_are_lent_a_part_of_it() -> None:
    hit, beside = entry(1, **BOTH, is_turn=True), entry(2, is_turn=True)
    found = ranked(hit, beside, entry(3, is_turn=True), edges={1: [(2, "neighbour")]}, **EVERYTHING)
    assert order(found) == [1, 2, 3]
    assert found[1].signals["neighbour"] == POLICY.neighbour


def test_the_answer_is_found_beside_who_asks_the_same() -> None:
    asks = entry(1, **BOTH, is_turn=True, asks=True, person_match="other")
    answer = entry(
        2, lexemes=1, cosine=0.3, is_turn=True, is_by_named_speaker=True, person_match="named"
    )

    found = ranked(asks, answer, query=query(names=("mara",)), edges={1: [(2, "neighbour")]})

    assert order(found)[0] == 2
    assert found[0].signals["reply"] == POLICY.reply


def test_who_is_asked_about_comes_before_somebody_else_whose_own_is_left_out() -> None:
    said = {**BOTH, "is_turn": True}
    asked = query(names=("mara",))

    turns = ranked(
        entry(1, person_match="other", **said),
        entry(2, person_match="mentioned", **said),
        entry(3, person_match="named", is_by_named_speaker=True, **said),
        query=asked,
        **EVERYTHING,
    )
    kept = ranked(
        entry(1, person_match="other", **BOTH), entry(2, person_match="named", **BOTH), query=asked
    )
    by_name = ranked(
        entry(1, person_match="named"),
        entry(2, person_match="other"),
        query=query(weights=(), names=("mara",)),
    )

    assert (order(turns), order(kept), order(by_name)) == ([3, 2, 1], [2], [1])


def test_the_time_that_is_asked_about_counts() -> None:
    week = Period(NOON - 7 * DAY, NOON, "week")
    found = ranked(
        entry(1, **BOTH),
        entry(2, **BOTH, at=NOON - 3 * DAY),
        entry(3, **BOTH, times=((NOON - 4 * DAY, NOON - 3 * DAY),)),
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


def test_of_near_equals_with_the_same_words_the_newest_stands_first() -> None:
    old = entry(1, lexemes=3, cosine=0.6)
    new: dict[str, Any] = {"number": 2, "at": NOON - 30 * DAY, "lexemes": 3, "cosine": 0.3}

    assert order(ranked(old, entry(**new))) == [2, 1]
    assert order(ranked(old, entry(**new | {"cosine": 0.1}), **EVERYTHING)) == [1, 2]
    assert order(ranked(old, entry(**new | {"lexemes": 2}), **EVERYTHING)) == [1, 2]
    assert order(ranked(old, entry(**new, speaker="mara"))) == [1, 2]
    assert order(ranked(old, entry(**new, asks=True))) == [1, 2]
    asks, tells = entry(1, **BOTH, asks=True, is_turn=True), entry(2, **BOTH, is_turn=True)
    assert order(ranked(asks, tells)) == [2, 1]


def test_the_newest_takes_the_place_of_the_best_and_no_score_is_made() -> None:
    best, new = entry(1, **BOTH, cosine=0.4), entry(2, **BOTH, cosine=0.3, at=NOON - DAY)
    apart = sorted(ranked(one)[0].score for one in (best, new))

    assert sorted(one.score for one in ranked(best, new)) == apart


def test_the_newest_stands_first_unless_another_time_is_asked_for_or_it_is_to_come() -> None:
    old, new = entry(1, **BOTH, cosine=0.2), entry(2, **BOTH, cosine=0.3, at=NOON - 30 * DAY)
    month = Period(NOON - 100 * DAY, NOON - 70 * DAY, "month")
    best, planned = entry(1, **BOTH, cosine=0.4), entry(2, **BOTH, at=NOON + 30 * DAY, cosine=0.4)

    assert order(ranked(old, new)) == [2, 1]
    assert order(ranked(old, new, query=query(asks_for_earlier=True))) == [1, 2]
    assert order(ranked(entry(1, **BOTH), new, query=query(period=month)))[0] == 1
    assert order(ranked(best, planned, query=query(present_until=NOON + DAY)))[0] == 1


def test_a_session_that_speaks_of_it_speaks_for_its_turns() -> None:
    def turn(number: int, session: str, **fields: Any) -> Sample:
        return entry(number, session_id=session, is_turn=True, **fields)

    found = ranked(
        turn(1, "a", lexemes=1), turn(2, "b", lexemes=1), turn(3, "b", lexemes=2), **EVERYTHING
    )
    alone = ranked(turn(1, "a", lexemes=1), turn(2, "a", lexemes=1), **EVERYTHING)

    assert order(found)[-1] == 1
    assert found[0].signals["session"] > 0 > found[-1].signals["session"]
    assert [one.signals.get("session") for one in alone] == [None, None]  # there is no other


def test_a_word_that_is_alike_says_less_than_the_word() -> None:
    alike, same = entry(1, late_interaction=0.8), entry(2, **BOTH)

    assert order(ranked(alike, entry(3), **EVERYTHING))[0] == 1
    assert order(ranked(alike, same, **EVERYTHING)) == [2, 1]
    text, *_ = ranked(alike, query=query(mode="text"), **EVERYTHING)
    assert "coverage" not in text.signals


def test_each_mode_listens_to_its_own_source() -> None:
    both = entry(1, **BOTH, cosine=0.6)
    text, *_ = ranked(both, query=query(mode="text"))
    semantic, *_ = ranked(both, query=query(mode="semantic"))

    assert "semantic" not in text.signals
    assert "coverage" not in semantic.signals


def test_a_tag_and_a_vector_that_is_still_to_come_speak_for_an_entry() -> None:
    new, far = entry(1, **BOTH), entry(2, **BOTH, cosine=0.05, at=NOON - 95 * DAY)

    assert order(ranked(entry(1, is_tagged=True), entry(2))) == [1]
    assert order(ranked(new, far)) == [1, 2]


def test_less_than_half_of_the_best_score_is_left_out() -> None:
    best, little = entry(1, **BOTH, cosine=0.7), entry(2, lexemes=1, cosine=0.2)

    assert order(ranked(best, little)) == [1]
    assert order(ranked(best, little, **EVERYTHING)) == [1, 2]
    assert order(ranked(little, min_score=0.1)) == [2]
    entries = [entry(number, cosine=number / 100) for number in range(1, 20)]
    assert len(ranked(*entries, **EVERYTHING)) == len(entries)


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


_CANDIDATES = st.builds(
    entry,
    st.integers(1, 50),
    words=st.floats(0, 2 * FULL),
    cosine=st.floats(-1, 1),
    lexemes=st.integers(0, 3),
    is_turn=st.booleans(),
    asks=st.booleans(),
    is_by_named_speaker=st.booleans(),
    importance=st.floats(0, 1),
    session_id=st.sampled_from([None, "a", "b"]),
    person_match=st.sampled_from(["named", "mentioned", "open", "other"]),
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


def test_another_identifier_is_no_answer_and_the_same_one_is() -> None:
    same, other = entry(1, lexemes=1, identity=1), entry(2, **BOTH, cosine=0.5, identity=-1)
    asked = query(has_identifier=True)

    (first, *_) = found = ranked(same, entry(2, lexemes=2, cosine=0.5, identity=-1), query=asked)

    assert order(found)[0] == 1
    assert first.score > 0.5
    assert all(one.score < 0.5 for one in ranked(other, query=asked))


@given(live=st.integers(0, 9), archived=st.integers(0, 9), most=st.integers(1, 9))
def test_archived_results_take_half_of_the_places_at_most_and_those_that_are_left(
    live: int, archived: int, most: int
) -> None:
    results = [*range(live), *range(-1, -archived - 1, -1)]

    chosen = archived_last(results, is_archived=lambda one: one < 0, most=most)

    of_archive = sum(one < 0 for one in chosen)
    assert len(chosen) == min(most, live + archived)
    assert of_archive == min(archived, max(most // 2, most - live))
    assert [one < 0 for one in chosen] == sorted(one < 0 for one in chosen)
