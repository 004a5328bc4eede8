"""Ranking: one score for each candidate, out of its signals.

The functions are pure. The score is the logistic function of the weighted sum of the signals; its weights are learned from questions
with known answers, so a score means the same for all queries. Among near equals the newest comes first.
"""

from collections.abc import Callable, Iterable, Sequence
from itertools import repeat
from typing import TypeVar

import numpy as np

from mnestic.memory.retrieval.candidates import Candidates, Ranked, ScoreArray, tuples_of
from mnestic.memory.retrieval.queries import RetrievalPolicy
from mnestic.memory.retrieval.scoring import Signals
from mnestic.memory.retrieval.search import ParsedQuery

Result = TypeVar("Result")
_DIGITS = 9  # that scores are compared by; below them the newer entry comes first
_MOST_EXPONENT = 700.0  # of what a float holds as a power of e
_COMPARED = 3  # of the best, of which the newest comes first
_NEARLY = 2.0  # less than the sum of the best: the entry answers nearly as well


def rank(
    candidates: Candidates,
    *,
    query: ParsedQuery,
    policy: RetrievalPolicy,
    min_score: float | None = None,
) -> list[Ranked]:
    """The candidates that answer a query, the best first.

    Args:
        candidates: The candidates of all sources.
        query: The query.
        policy: The weights.
        min_score: Lower scores are left out; by default the policy's. With 0 nothing is left out.
    """
    if not len(candidates):
        return []
    rows = candidates.rows
    signals = _weighted(Signals(candidates, query=query, policy=policy), policy)
    total = np.sum(list(signals.values()), axis=0) + np.zeros(len(rows))
    if policy.score == "logistic":
        signals["newest"] = _newest_first(candidates, total, query)
        total = total + signals["newest"]
    score = np.clip(total, 0, 1) if policy.score == "weighted_sum" else _logistic(total)
    sort_key = policy.sort_by_relevance * score + policy.sort_by_importance * rows["importance"]
    sort_key = sort_key.round(_DIGITS)
    order = np.lexsort((rows["number"], rows["at"], sort_key))[::-1]
    least = _least(policy, min_score, best=score.max())
    order = order[score[order] >= least]
    parts = [rows[name] for name in ("number", "at", "importance", "words")]
    parts += [score, np.arange(len(rows))]
    columns = (part[order].tolist() for part in parts)
    return [*tuples_of(Ranked, *columns, repeat(signals), repeat(None))]


def _weighted(signals: Signals, policy: RetrievalPolicy) -> dict[str, ScoreArray]:
    """What each signal adds to the sum; those without a weight are left out."""
    weighted = {
        name: weight * values
        for name, values in signals.values().items()
        if (weight := getattr(policy, name))
    }
    return weighted | {"intercept": np.full(signals.number, policy.intercept)}


def _logistic(total: ScoreArray) -> ScoreArray:
    score: ScoreArray = 1 / (1 + np.exp(-np.clip(total, -_MOST_EXPONENT, _MOST_EXPONENT)))
    return score


def _newest_first(candidates: Candidates, total: ScoreArray, query: ParsedQuery) -> ScoreArray:
    """How much the best entries gain or lose, so that of those that answer nearly as well the newest comes first.

    They have all words of the query that the best one has, the same speaker, and concern the same person. A query for a period
    may mean an older one; one for what was so before gets the oldest first.
    """
    rows, texts = candidates.rows, candidates.texts
    moved = np.zeros(len(rows))
    present = np.inf if query.present_until is None else query.present_until.timestamp()
    may_answer = ~rows["asks"] & (rows["at"] <= present) & (rows["lexemes"] != 0)
    order: list[int] = candidates.ordered(total)[:_COMPARED].tolist()
    nearly = [one for one in order if may_answer[one]]
    if query.period is None and nearly:
        best = nearly[0]
        words = rows["lexemes"] & ~query.vocabulary.bits_of_names
        is_alike = (words & words[best] == words[best]) & (
            rows["person_match"] == rows["person_match"][best]
        )
        is_alike &= total >= total[best] - _NEARLY
        speaker = texts[best].speaker
        alike = np.array([i for i in nearly if is_alike[i] and texts[i].speaker == speaker])
        in_time = alike[np.argsort(rows["at"][alike], kind="stable")]
        newest = in_time if query.asks_for_earlier else in_time[::-1]
        moved[newest] = total[alike] - total[newest]
    return moved


def rerank(
    ranked: Sequence[Ranked],
    relevances: Sequence[float],
    *,
    weight: float,
    policy: RetrievalPolicy,
) -> list[Ranked]:
    """The candidates in a new order, by the relevances that a reranker gave the first of them.

    A relevance, from 0 to 1, replaces the part `weight` of the score. The signal `rerank` is the change of the score.
    """
    reordered = []
    for one, relevance in zip(ranked, relevances, strict=False):
        added = weight * (relevance - one.score)
        reordered.append(one._replace(reranked=added, score=one.score + added))
    reordered += ranked[len(reordered) :]
    return sorted(reordered, key=lambda one: _order(one, policy), reverse=True)


def above_threshold(
    ranked: Iterable[Ranked], *, policy: RetrievalPolicy, min_score: float | None = None
) -> list[Ranked]:
    """The candidates whose scores reach the policy's thresholds; see `rank`."""
    ranked = [*ranked]
    least = _least(policy, min_score, best=max((one.score for one in ranked), default=0.0))
    return [one for one in ranked if one.score >= least]


def archived_last(
    results: Iterable[Result], *, is_archived: Callable[[Result], bool], most: int
) -> list[Result]:
    """The best live results, then the best archived ones, which take half of the places at most, and those that are left.

    Args:
        results: The best first, of each.
        is_archived: Whether one is of the archive.
        most: How many places there are.
    """
    found = [*results]
    live = [one for one in found if not is_archived(one)]
    archived = [one for one in found if is_archived(one)]
    chosen = live[: max(most - most // 2, most - len(archived))]
    return [*chosen, *archived[: most - len(chosen)]]


def _least(policy: RetrievalPolicy, min_score: float | None, *, best: float) -> float:
    """The lowest score that is returned, given the best one."""
    score = policy.min_score if min_score is None else min_score
    return max(score, policy.min_score_share * best) if score else 0.0


def _order(one: Ranked, policy: RetrievalPolicy) -> tuple[float, float, int]:
    worth = policy.sort_by_importance * one.importance
    return policy.sort_by_relevance * one.score + worth, one.at, one.number
