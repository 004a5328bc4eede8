"""Ranking: how sure it is that an entry answers a question, worked out of what each source says.

It is pure. Each signal is absolute, from 0 to 1: it depends on the question, the entry and the memory,
not on what else was found. So scores are calibrated once, for all questions: the best entry's own words and
meaning tell how sure it is that anything answers, and the other scores are shares of that.
"""

import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from mnestic.memory.dates import Period
from mnestic.memory.retrieval import Mode, RetrievalPolicy

# How often a word counts before it is said enough. Source: BM25, Robertson and Zaragoza, 2009; `b`, how much
# the length counts, is in `stores/postgres/search.py`.
SATURATION = 1.2
_DAY = 86_400.0  # seconds
# How near to the time that is asked about an entry still counts, and how much.
_NEARNESS = ((timedelta(days=1), 0.9), (timedelta(days=7), 0.6), (timedelta(days=31), 0.25))
_TAGGED = 0.7  # of a word's weight, where an entry has no word of the question but its tag
_FAINT, _FAINT_OF_A_TIME = 0.1, 0.25  # who says less says too little for others to be measured by

Values = NDArray[Any]
Tie = Literal["beside", "near", "related"]
Ties = Mapping[int, Sequence[tuple[int, Tie]]]
Concern = Literal["named", "mentioned", "apart", "open", "other"]
_CONCERNS = get_args(Concern)


@dataclass(slots=True, kw_only=True)
class Candidate:
    """An entry that a source brought, as far as its score needs it.

    `words` is its BM25 for the question, `lexemes` a bit for each word of the question that it has,
    `cosine` how near its meaning is, `learned` the share of the question that what was learned from it
    answers, `alike` how near its words come to those of the question that it lacks; `terms` tells the words that
    it begins with. `is_turn` is what was said in a conversation, whose place in it
    counts. `concern`: whether the question names who said it or whom it is about, somebody who is mentioned
    in what another said, one of several apart from the others, nobody, or somebody else. `persons` has a bit for each
    of several between whom something is asked for.
    """

    number: int
    entry_id: str
    at: datetime
    session_id: str | None = None
    is_turn: bool = False
    asks: bool = False
    names_time: bool = False
    times: tuple[tuple[datetime, datetime], ...] = ()
    concern: Concern = "open"
    persons: int = 0
    is_said: bool = False
    is_tagged: bool = False
    importance: float = 0.5
    words: float = 0.0
    lexemes: int = 0
    cosine: float = 0.0
    learned: float = 0.0
    alike: float = 0.0
    terms: Callable[[], Sequence[str]] = tuple


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A question, as far as scores need it: `weights` is how telling each of its words is."""

    asked_at: datetime
    weights: Sequence[float] = ()
    names: Sequence[str] = ()
    period: Period | None = None
    asks_when: bool = False
    mode: Mode = "hybrid"


@dataclass(slots=True)
class Ranked:
    """A candidate with its score, and what each signal added to the sum that the score is made of.

    `share` is what the entry and what it is lent say, of the most that any says; `weighed` are the signals of
    all candidates in one order, in which this one is at `place`, and `reranked` what reading it once more added.
    """

    candidate: Candidate
    share: float
    score: float
    weighed: Mapping[str, Values]
    place: int
    reranked: float | None = None

    @property
    def signals(self) -> dict[str, float]:
        """What each signal added, without those that added nothing."""
        parts = {name: float(part[self.place]) for name, part in self.weighed.items()}
        found = {name: part for name, part in parts.items() if part}
        return found if self.reranked is None else found | {"rerank": self.reranked}


def strongest(
    candidates: Collection[Candidate], *, asked: Asked, policy: RetrievalPolicy
) -> list[int]:
    """The numbers of those that say most by themselves, which lend to others."""
    if not candidates:
        return []
    weighed = _Weighed(tuple(candidates), asked, policy)
    says = weighed.own
    order = np.argsort(-says, kind="stable")[: policy.lending]
    return [weighed.candidates[place].number for place in order if says[place] > 0]


def rank(
    candidates: Collection[Candidate],
    *,
    asked: Asked,
    ties: Ties,
    policy: RetrievalPolicy,
    min_score: float | None = None,
) -> list[Ranked]:
    """Candidates that answer a question, the best first.

    Args:
        candidates: What the sources brought, each once.
        asked: The question.
        ties: By number, the entries beside an entry and related to it, which it lends to.
        policy: The weights.
        min_score: Scores below it are left out; the policy's without one. With 0 nothing is.
    """
    if not candidates:
        return []
    weighed = _Weighed(tuple(candidates), asked, policy)
    signals = weighed.says() | weighed.lent(ties)
    evidence = np.sum(list(signals.values()), axis=0)
    signals |= weighed.beside()
    total = np.sum(list(signals.values()), axis=0)
    best, most = total.max(), evidence.max()
    score = weighed.sure() * np.maximum(0, total / best) if best > 0 else np.zeros(len(total))
    share = np.minimum(1, evidence / most) if most > weighed.faint else np.ones(len(total))
    worth = policy.sort_by_relevance * score + policy.sort_by_importance * weighed.importance
    order = np.lexsort((weighed.number, weighed.at, worth))[::-1]
    if asked.names and not asked.weights:
        order = order[~(weighed.concern["apart"] | weighed.concern["other"])[order]]
    least, floor = _least(policy, min_score)
    order = order[(score[order] >= least) & (share[order] >= floor)]
    shares, scores = share.tolist(), score.tolist()
    return [
        Ranked(
            weighed.candidates[place],
            share=shares[place],
            score=scores[place],
            weighed=signals,
            place=place,
        )
        for place in order.tolist()
    ]


def rerank(
    ranked: Sequence[Ranked],
    relevances: Sequence[float],
    *,
    weight: float,
    policy: RetrievalPolicy,
) -> list[Ranked]:
    """The candidates anew, once the first of them have been read together with the question.

    A relevance, from 0 to 1, takes the place of a share of the score, and of the share of the evidence, by
    `weight`. The signal `rerank` is what that added to the score, or took from it.
    """
    told = []
    for one, relevance in zip(ranked, relevances, strict=False):
        added = weight * (relevance - one.score)
        told.append(
            replace(
                one,
                reranked=added,
                share=(1 - weight) * one.share + weight * relevance,
                score=one.score + added,
            )
        )
    told += ranked[len(told) :]
    return sorted(told, key=lambda one: _order(one, policy), reverse=True)


def sure_enough(
    ranked: Iterable[Ranked], *, policy: RetrievalPolicy, min_score: float | None = None
) -> list[Ranked]:
    """Those whose scores, and shares of the evidence, are not too small to be told; see `rank`."""
    least, floor = _least(policy, min_score)
    return [one for one in ranked if one.score >= least and one.share >= floor]


def _least(policy: RetrievalPolicy, min_score: float | None) -> tuple[float, float]:
    """The score, and the share of the evidence, below which nothing is told."""
    score = policy.min_score if min_score is None else min_score
    return score, policy.least_share if score else 0.0


def _order(one: Ranked, policy: RetrievalPolicy) -> tuple[float, datetime, int]:
    worth = policy.sort_by_importance * one.candidate.importance
    told = one.candidate
    return policy.sort_by_relevance * one.score + worth, told.at, told.number


class _Weighed:
    """Candidates by what each part says of them: arrays in their order, of values from 0 to 1."""

    def __init__(
        self, candidates: Sequence[Candidate], asked: Asked, policy: RetrievalPolicy
    ) -> None:
        self.candidates, self._asked, self._policy = candidates, asked, policy
        self.number = np.array([one.number for one in candidates])
        self.at = np.array([one.at.timestamp() for one in candidates])
        self.importance = np.array([one.importance for one in candidates])
        concerns = np.array([_CONCERNS.index(one.concern) for one in candidates])
        self.concern = {name: concerns == place for place, name in enumerate(_CONCERNS)}
        self._is_turn = np.array([one.is_turn for one in candidates])
        self._is_said = np.array([one.is_said for one in candidates])
        self._is_tagged = np.array([one.is_tagged for one in candidates])
        self._closeness = self._near_in_time()
        self._words, self._meaning, self._learned = self._hear()
        self.own = policy.semantic * self._meaning + policy.lexical * self._words
        self._share = self._shares()

    def _hear(self) -> tuple[Values, Values, Values]:
        """What their words say, their meaning and what was learned from them.

        A question of nothing but a name or a time is answered by what is of it.
        """
        asked, policy = self._asked, self._policy
        alike = policy.alike * np.array([one.alike for one in self.candidates])
        learned = np.array([one.learned for one in self.candidates])
        words = np.zeros(len(self.candidates))
        if full := sum(asked.weights) * policy.full_words:
            words = np.array([one.words for one in self.candidates]) / full
            tagged = _TAGGED * self._is_tagged / len(asked.weights)
            words = np.minimum(1, words + tagged + alike * (asked.mode == "hybrid"))
        elif not asked.weights and (asked.names or asked.period):
            is_named = self.concern["named"] | self.concern["mentioned"] | (not asked.names)
            words = 1.0 * (is_named & (asked.period is None or self._closeness == 1))
        cosine = np.array([one.cosine for one in self.candidates])
        reach = policy.full_cosine - policy.least_cosine
        meaning = np.clip((cosine - policy.least_cosine) / reach, 0, 1)
        if asked.mode == "semantic":
            meaning = 1 - (1 - meaning) * (1 - np.minimum(1, alike))
        return (
            words * (asked.mode != "semantic"),
            meaning * (asked.mode != "text"),
            learned * (asked.mode == "hybrid"),
        )

    def _shares(self) -> Values:
        """How much of what an entry says counts, by whom it is about.

        Where someone who is named has spoken, what mentions them counts less: it may be a greeting. What was
        kept about somebody else counts less than what somebody else has said.
        """
        others = self._policy.others
        mentioned = math.sqrt(others) if self._is_said.any() else 1.0
        shares: dict[Concern, float] = {"named": 1.0, "mentioned": mentioned, "other": others}
        shares["open"] = others if self._asked.names else 1.0
        shares["apart"] = others
        share = np.sum([shares[name] * held for name, held in self.concern.items()], axis=0)
        return np.where(self.concern["other"] & ~self._is_turn, others**2, share)

    def says(self) -> dict[str, Values]:
        """What counts of what they say, and of what was learned from them, which they lend to no other."""
        share, policy = self._share, self._policy
        return {
            "semantic": share * policy.semantic * self._meaning,
            "lexical": share * policy.lexical * self._words,
            "learned": share * policy.learned * self._learned,
        }

    def sure(self) -> float:
        """How sure it is that the one that says most answers: one source is enough.

        To be about who is named, and of the time that is asked about, counts as words do, by how few are.
        """
        words = self._words
        if whole := sum(self._asked.weights):
            parts = self._parts()
            told = words * whole + sum(rarity * part for part, rarity in parts)
            words = told / (whole + sum(rarity for _, rarity in parts))
        silence = (1 - words) * (1 - self._meaning) * (1 - self._learned)
        says = float((self._share * (1 - silence)).max())
        return 1 / (1 + math.exp(-self._policy.slope * (says - self._policy.midpoint)))

    def _parts(self) -> list[tuple[Values, float]]:
        """Who is about the names, and who is of the time, each with how telling that is.

        What words and meaning have brought is a sample of the memory.
        """
        parts = [self.concern["named"]] * bool(self._asked.names)
        parts += [self._closeness == 1] * (self._asked.period is not None)
        sample = np.array([bool(one.words or one.cosine) for one in self.candidates])
        number = np.count_nonzero(sample)
        return [
            (part, -math.log((np.count_nonzero(part & sample) + 0.5) / (number + 1)))
            for part in parts
        ]

    @property
    def faint(self) -> float:
        """How much says too little for others to be measured by; more where to be of a time says something."""
        return _FAINT if self._asked.period is None else _FAINT_OF_A_TIME

    def lent(self, ties: Ties) -> dict[str, Values]:
        """What they are lent of what those beside them and related to them say.

        Whom it is about counts for those alone: a question of one is answered by the other.
        """
        policy = self._policy
        weights = {"beside": policy.beside, "near": policy.near, "related": policy.related}
        places = {one.number: place for place, one in enumerate(self.candidates)}
        lent = {name: np.zeros(len(self.candidates)) for name in weights}
        for lender in ties.keys() & places.keys():
            says = self.own[places[lender]]
            for number, tie in ties[lender]:
                if number in places:
                    lent[tie][places[number]] += weights[tie] * says
        return {name: self._share * given for name, given in lent.items()}

    def beside(self) -> dict[str, Values]:
        """What speaks for them beside what they say."""
        asked, policy = self._asked, self._policy
        age = np.maximum(0, asked.asked_at.timestamp() - self.at) / _DAY
        asks = np.array([one.asks for one in self.candidates])
        names_time = np.array([one.names_time for one in self.candidates])
        return {
            "session": policy.session * self._sessions() * self._is_turn,
            "speaker": policy.speaker * self._is_said,
            "subject": policy.subject * (self.concern["named"] & ~self._is_said),
            "tag": policy.tag * self._is_tagged,
            "time": policy.time * self._closeness,
            "recency": policy.recency * np.exp(-age / policy.recent_days),
            "mention": policy.mention * (names_time & asked.asks_when),
            "question": -policy.question * asks,
            "importance": policy.importance * self.importance,
        }

    def _near_in_time(self) -> Values:
        period = self._asked.period
        if period is None:
            return np.zeros(len(self.candidates))
        return np.array([closeness(one, period) for one in self.candidates])

    def _sessions(self) -> Values:
        """How much the session of each speaks of what is asked: BM25 of sessions over the turns that were found."""
        names = [one.session_id or "" for one in self.candidates]
        sessions = {name: place for place, name in enumerate(dict.fromkeys(names))}
        of = np.array([sessions[name] for name in names])
        counts = self._is_turn & (of != sessions.get("", -1))
        number = len(set(of[counts].tolist()))
        if not number or not self._asked.weights:
            return np.zeros(len(of))
        lexemes = np.array([one.lexemes for one in self.candidates])
        has = lexemes[counts, None] >> np.arange(len(self._asked.weights)) & 1
        said = np.zeros((len(sessions), has.shape[1]))
        np.add.at(said, of[counts], has)
        having = np.count_nonzero(said, axis=0)
        rarity = np.log(1 + (number - having + 0.5) / (having + 0.5))
        speaks = (rarity * said * (SATURATION + 1) / (said + SATURATION)).sum(axis=1)
        shares: Values = np.minimum(1, speaks / (1.5 * rarity.sum()))[of]
        return shares


def closeness(one: Candidate, period: Period) -> float:
    """How near an entry, or a time that it names, is to a period: 1 in it, 0 a month from it."""
    best = _near(one.at, one.at, period)
    return max([best, *(_near(start, end, period) for start, end in one.times)])


def _near(start: datetime, end: datetime, period: Period) -> float:
    if start < period.end and (end > period.start or start == end >= period.start):
        return 1.0
    away = max(period.start - end, start - period.end)
    return next((share for limit, share in _NEARNESS if away <= limit), 0.0)
