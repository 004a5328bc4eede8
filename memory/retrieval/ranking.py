"""Ranking: one score for each candidate, out of its signals.

The functions are pure. Each signal is absolute, from 0 to 1: it depends on the query, the entry and the memory, not on
other candidates. Among near equals the newest comes first. So scores are calibrated once, for all queries: the best entry's own words and meaning
give the confidence that anything answers, and the other scores are shares of it.
"""

from collections.abc import Iterable, Mapping, Sequence
from itertools import repeat
from typing import NamedTuple

import numpy as np

from mnestic.memory.retrieval.candidates import (
    CONCERNS,
    Candidates,
    Edges,
    RankingQuery,
    Values,
    tuples_of,
)
from mnestic.memory.retrieval.queries import RetrievalPolicy
from mnestic.memory.retrieval.scoring import SignalScores

_NAMED, _MENTIONED, _OTHER = map(CONCERNS.index, ("named", "mentioned", "other"))
_AHEAD_DISCOUNT = 0.3  # left of the score of a message that is dated in the future
_DIGITS = 9  # that scores are compared by; below them the newer entry comes first
# The tolerance of the threshold, since some shares lie exactly on it.
_ROUNDED = 10**-_DIGITS


class Ranked(NamedTuple):
    """A candidate with its score, and what each signal added to the sum behind the score.

    `share` is its evidence, own and propagated, as a share of the strongest. `signal_values` are the signals of all candidates, in which this one has the index `place`. `reranked` is what a reranker added to the score.
    `is_by_named_speaker`: a person whom the query names said it; `is_by_other_speaker`: another person did.
    """

    number: int
    at: float
    importance: float
    is_by_named_speaker: bool
    is_by_other_speaker: bool
    share: float
    score: float
    place: int
    signal_values: Mapping[str, Values]
    reranked: float | None = None

    @property
    def signals(self) -> dict[str, float]:
        """What each signal added; signals that added nothing are left out."""
        parts = {name: float(part.item(self.place)) for name, part in self.signal_values.items()}
        found = {name: part for name, part in parts.items() if part}
        return found if self.reranked is None else found | {"rerank": self.reranked}


def rank(
    candidates: Candidates,
    *,
    query: RankingQuery,
    edges: Edges,
    policy: RetrievalPolicy,
    min_score: float | None = None,
) -> list[Ranked]:
    """The candidates that answer a query, the best first.

    Args:
        candidates: The candidates of all sources, each once.
        query: The query.
        edges: By number, the neighbours and related entries that receive a part of an entry's score.
        policy: The weights.
        min_score: Lower scores are left out; by default the policy's. With 0 nothing is left out.
    """
    if not len(candidates):
        return []
    scores, rows = SignalScores(candidates, query, policy), candidates.rows
    signals = scores.own_signals() | scores.propagated(edges)
    evidence = np.sum(list(signals.values()), axis=0)
    signals |= scores.context_signals()
    total = np.sum(list(signals.values()), axis=0)
    newest = np.zeros(len(total))
    if policy.score == "confidence":
        newest = scores.newest_first(total)
        signals |= {"newest": newest}
        total = total + newest
    score = _scores(scores, total, evidence=evidence, edges=edges)
    if query.period is None and query.present_until is not None:
        is_ahead = rows["at"] > query.present_until.timestamp()
        score = score * np.where(is_ahead, _AHEAD_DISCOUNT, 1.0)
    share = _shares(evidence, least=scores.min_evidence)
    if (best := total.max()) > 0:  # what is lifted needs no evidence of its own
        share = np.where(newest > 0, np.maximum(share, np.minimum(1, total / best)), share)
    sort_key = policy.sort_by_relevance * score + policy.sort_by_importance * rows["importance"]
    sort_key = sort_key.round(_DIGITS)
    order = np.lexsort((rows["number"], rows["at"], sort_key))[::-1]
    if query.names and not query.weights:
        order = order[~scores.concern["other"][order]]
    least, floor = _least(policy, min_score, best=score[order].max(initial=0))
    order = order[(score[order] >= least) & (share[order] >= floor - _ROUNDED)]
    of_another = scores.concern["other"] & rows["is_turn"]
    parts = [
        rows["number"],
        rows["at"],
        rows["importance"],
        rows["is_by_named_speaker"],
        of_another,
    ]
    parts += [share, score, np.arange(len(rows))]
    columns = (part[order].tolist() for part in parts)
    return [*tuples_of(Ranked, *columns, repeat(signals), repeat(None))]


def _shares(evidence: Values, *, least: float) -> Values:
    """Each candidate's evidence as a share of the strongest, if that is strong enough to measure others by."""
    most = evidence.max()
    shares: Values = np.minimum(1, evidence / most) if most > least else np.ones(len(evidence))
    return shares


def _scores(scores: SignalScores, total: Values, *, evidence: Values, edges: Edges) -> Values:
    """The scores of candidates, by the sums of their signals: as the policy says, these sums or the confidence."""
    if scores.policy.score == "weighted_sum":
        summed: Values = np.clip(total, 0, 1)
        return summed
    best = total.max()
    score: Values = (
        scores.confidence() * np.maximum(0, total / best) if best > 0 else np.zeros(len(total))
    )
    score *= scores.neighbour_discount(edges, evidence) * scores.identity_discount
    if scores.query.period is not None:
        score *= scores.period_discount(evidence)
    return score


def find_unrelated_turns(candidates: Candidates) -> frozenset[int]:
    """The numbers of turns by others, in sessions where no candidate is by or about a named person."""
    rows, texts = candidates.rows, candidates.texts
    concern = rows["concern"]
    (others,) = np.nonzero(rows["is_turn"] & (concern == _OTHER))
    (concerned,) = np.nonzero(rows["is_turn"] & ((concern == _NAMED) | (concern == _MENTIONED)))
    sessions = {texts[place].session_id for place in concerned.tolist()}
    unrelated = [place for place in others.tolist() if texts[place].session_id not in sessions]
    return frozenset(rows["number"][unrelated].tolist())


def rerank(
    ranked: Sequence[Ranked],
    relevances: Sequence[float],
    *,
    weight: float,
    policy: RetrievalPolicy,
) -> list[Ranked]:
    """The candidates in a new order, by the relevances that a reranker gave the first of them.

    A relevance, from 0 to 1, replaces the part `weight` of the score and of the share of the evidence. The signal
    `rerank` is the change of the score.
    """
    reordered = []
    for one, relevance in zip(ranked, relevances, strict=False):
        added = weight * (relevance - one.score)
        reordered.append(
            one._replace(
                reranked=added,
                share=(1 - weight) * one.share + weight * relevance,
                score=one.score + added,
            )
        )
    reordered += ranked[len(reordered) :]
    return sorted(reordered, key=lambda one: _order(one, policy), reverse=True)


def above_threshold(
    ranked: Iterable[Ranked], *, policy: RetrievalPolicy, min_score: float | None = None
) -> list[Ranked]:
    """The candidates whose scores and shares of the evidence reach the policy's thresholds; see `rank`."""
    ranked = [*ranked]
    best = max((one.score for one in ranked), default=0.0)
    least, floor = _least(policy, min_score, best=best)
    return [one for one in ranked if one.score >= least and one.share >= floor - _ROUNDED]


def _least(
    policy: RetrievalPolicy, min_score: float | None, *, best: float = 0.0
) -> tuple[float, float]:
    """The lowest score and the lowest share of the evidence that are returned, given the best score."""
    score = policy.min_score if min_score is None else min_score
    return (
        (max(score, policy.min_score_share * best), policy.min_evidence_share)
        if score
        else (0.0, 0.0)
    )


def _order(one: Ranked, policy: RetrievalPolicy) -> tuple[float, float, int]:
    worth = policy.sort_by_importance * one.importance
    return policy.sort_by_relevance * one.score + worth, one.at, one.number
