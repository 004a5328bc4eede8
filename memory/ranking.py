"""Ranking: how sure it is that an entry answers a question, worked out of what each source says.

It is pure. Each signal is absolute, from 0 to 1: it depends on the question, the entry and the memory,
not on what else was found. So scores are calibrated once, for all questions: the best entry's own words and
meaning tell how sure it is that anything answers, and the other scores are shares of that.
"""

import heapq
import math
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Literal

from mnestic.memory.dates import Period
from mnestic.memory.retrieval import Mode, RetrievalPolicy

# How often a word counts before it is said enough. Source: BM25, Robertson and Zaragoza, 2009; `b`, how much
# the length counts, is in `stores/postgres/search.py`.
SATURATION = 1.2
_DAY = timedelta(days=1)
# How near to the time that is asked about an entry still counts, and how much.
_NEARNESS = ((timedelta(days=1), 0.9), (timedelta(days=7), 0.6), (timedelta(days=31), 0.25))

Tie = Literal["beside", "near", "related"]
Ties = Mapping[int, Sequence[tuple[int, Tie]]]
Concern = Literal["named", "mentioned", "open", "other"]


@dataclass(slots=True, kw_only=True)
class Candidate:
    """An entry that a source brought, as far as its score needs it.

    `words` is its BM25 for the question, `lexemes` a bit for each word of the question that it has,
    `cosine` how near its meaning is, `learned` the share of the question that what was learned from it
    answers, `alike` how near its words come to those of the question that it lacks; `text` is how it
    begins. `is_turn` is what was said in a conversation, whose place in it
    counts. `concern`: whether the question names who said it or whom it is about, somebody who is mentioned
    in what another said, nobody, or somebody else.
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
    is_said: bool = False
    is_tagged: bool = False
    importance: float = 0.5
    words: float = 0.0
    lexemes: int = 0
    cosine: float = 0.0
    learned: float = 0.0
    alike: float = 0.0
    text: str = ""


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

    `evidence` is that sum without what is beside what entries say, `share` its share of the most of all.
    """

    candidate: Candidate
    signals: dict[str, float] = field(default_factory=dict)
    evidence: float = 0.0
    share: float = 0.0
    score: float = 0.0

    @property
    def total(self) -> float:
        """The sum of the signals."""
        return sum(self.signals.values())


def strongest(
    candidates: Collection[Candidate], *, asked: Asked, policy: RetrievalPolicy
) -> list[int]:
    """The numbers of those that say most by themselves, which lend to others."""
    scale = _Scale.of(candidates, asked, policy)
    says = {one.number: sum(scale.own(one)) for one in candidates}
    return heapq.nlargest(
        policy.lending, (one for one in says if says[one] > 0), key=says.__getitem__
    )


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
    weighed = weigh(candidates, asked=asked, ties=ties, policy=policy)
    return sure_enough(weighed, policy=policy, min_score=min_score)


def weigh(
    candidates: Collection[Candidate], *, asked: Asked, ties: Ties, policy: RetrievalPolicy
) -> list[Ranked]:
    """Candidates, the best first, also those of which it is not sure that they answer the question."""
    if not candidates:
        return []
    scale = _Scale.of(candidates, asked, policy)
    found = {one.number: Ranked(one, scale.says(one)) for one in candidates}
    sure = max(scale.sure(one) for one in candidates)
    _lend(found, ties, scale)
    spoken = _sessions(candidates, asked.weights)
    for one in found.values():
        one.evidence = one.total
        one.signals |= scale.beside(one.candidate, spoken.get(one.candidate.session_id or "", 0.0))
    best = max(one.total for one in found.values())
    most = max(one.evidence for one in found.values())
    for one in found.values():
        one.share = one.evidence / most if most > 0 else 1.0
        one.score = sure * max(0.0, one.total / best) if best > 0 else 0.0
        one.signals = {name: part for name, part in one.signals.items() if part}
    only_named = bool(asked.names) and not asked.weights
    kept = [one for one in found.values() if not (only_named and one.candidate.concern == "other")]
    return sorted(kept, key=lambda one: _order(one, policy), reverse=True)


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
                signals=one.signals | {"rerank": added},
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
    least = policy.min_score if min_score is None else min_score
    floor = policy.least_share if least else 0.0
    return [one for one in ranked if one.score >= least and one.share >= floor]


@dataclass(frozen=True, slots=True)
class _Scale:
    """By what candidates are weighed: question, policy, and how much counts by whom it is about."""

    asked: Asked
    policy: RetrievalPolicy
    shares: Mapping[Concern, float]
    _heard_of: dict[int, tuple[float, float, float]] = field(default_factory=dict)

    @classmethod
    def of(
        cls, candidates: Collection[Candidate], asked: Asked, policy: RetrievalPolicy
    ) -> "_Scale":
        """Where someone who is named has spoken, what mentions them counts less: it may be a greeting."""
        said = policy.others if any(one.is_said for one in candidates) else 1.0
        shares: dict[Concern, float] = {"named": 1.0, "mentioned": math.sqrt(said)}
        return cls(
            asked,
            policy,
            shares | {"open": policy.others if asked.names else 1.0, "other": policy.others},
        )

    def share(self, one: Candidate) -> float:
        """How much of what an entry says counts, by whom it is about.

        What was kept about somebody else counts less than what somebody else has said.
        """
        if one.concern == "other" and not one.is_turn:
            return self.policy.others**2
        return self.shares[one.concern]

    def own(self, one: Candidate) -> tuple[float, float]:
        """What an entry says by itself, whoever it is about: its meaning and its words, weighed."""
        words, meaning, _ = self._heard(one)
        return self.policy.semantic * meaning, self.policy.lexical * words

    def says(self, one: Candidate) -> dict[str, float]:
        """What counts of that, and what was learned from it, which it lends to no other."""
        share = self.share(one)
        meaning, words = self.own(one)
        *_, learned = self._heard(one)
        return {
            "semantic": share * meaning,
            "lexical": share * words,
            "learned": share * self.policy.learned * learned,
        }

    def sure(self, one: Candidate) -> float:
        """How sure it is that an entry answers, if it is the one that says most: one source is enough."""
        words, meaning, learned = self._heard(one)
        says = self.share(one) * (1 - (1 - words) * (1 - meaning) * (1 - learned))
        return 1 / (1 + math.exp(-self.policy.slope * (says - self.policy.midpoint)))

    def _heard(self, one: Candidate) -> tuple[float, float, float]:
        """What its words say, its meaning and what was learned from it, 0 to 1.

        A question of nothing but a name or a time is answered by what is of it.
        """
        heard = self._heard_of.get(one.number)
        if heard is None:
            heard = self._heard_of[one.number] = self._hear(one)
        return heard

    def _hear(self, one: Candidate) -> tuple[float, float, float]:
        asked, policy = self.asked, self.policy
        full = sum(asked.weights) * policy.full_words
        alike = policy.alike * one.alike
        words = min(1.0, one.words / full + alike * (asked.mode == "hybrid")) if full else 0.0
        if not asked.weights and (asked.names or asked.period):
            named = one.concern in {"named", "mentioned"} or not asked.names
            words = float(named and (asked.period is None or closeness(one, asked.period) == 1.0))
        reach = policy.full_cosine - policy.least_cosine
        meaning = min(1.0, max(0.0, (one.cosine - policy.least_cosine) / reach))
        if asked.mode == "semantic":
            meaning = 1 - (1 - meaning) * (1 - alike)
        learned = one.learned * (asked.mode == "hybrid")
        return words * (asked.mode != "semantic"), meaning * (asked.mode != "text"), learned

    def beside(self, one: Candidate, session: float) -> dict[str, float]:
        """What speaks for an entry beside what it says."""
        asked, policy = self.asked, self.policy
        age = max(0.0, (asked.asked_at - one.at) / _DAY)
        return {
            "session": policy.session * session * one.is_turn,
            "speaker": policy.speaker * one.is_said,
            "subject": policy.subject * (one.concern == "named" and not one.is_said),
            "tag": policy.tag * one.is_tagged,
            "time": policy.time * (0.0 if asked.period is None else closeness(one, asked.period)),
            "recency": policy.recency * math.exp(-age / policy.recent_days),
            "mention": policy.mention * (asked.asks_when and one.names_time),
            "question": -policy.question * one.asks,
            "importance": policy.importance * one.importance,
        }


def _order(one: Ranked, policy: RetrievalPolicy) -> tuple[float, datetime, int]:
    worth = policy.sort_by_importance * one.candidate.importance
    told = one.candidate
    return policy.sort_by_relevance * one.score + worth, told.at, told.number


def _lend(
    found: Mapping[int, Ranked],
    ties: Ties,
    scale: _Scale,
) -> None:
    """Lets entries lend of what they say to those beside them and related to them.

    Whom it is about counts for those alone: a question of one is answered by the other.
    """
    policy = scale.policy
    weights = {"beside": policy.beside, "near": policy.near, "related": policy.related}
    lent: dict[tuple[int, Tie], float] = defaultdict(float)
    for lender in ties.keys() & found.keys():
        says = sum(scale.own(found[lender].candidate))
        for number, tie in ties[lender]:
            if number in found:
                lent[number, tie] += weights[tie] * says
    for (number, tie), given in lent.items():
        one = found[number]
        one.signals[tie] = scale.share(one.candidate) * given


def _sessions(candidates: Iterable[Candidate], weights: Sequence[float]) -> dict[str, float]:
    """How much each session speaks of what is asked: BM25 of sessions over the turns that were found."""
    counts: dict[str, list[int]] = {}
    for told in candidates:
        if told.is_turn and told.session_id is not None:
            of_words = counts.setdefault(told.session_id, [0] * len(weights))
            for place in range(len(weights)):
                of_words[place] += told.lexemes >> place & 1
    if not counts:
        return {}
    number = len(counts)
    having = [sum(1 for each in counts.values() if each[place]) for place in range(len(weights))]
    rarity = [math.log(1 + (number - has + 0.5) / (has + 0.5)) for has in having]
    full = sum(rarity) * 1.5
    if not full:
        return {}
    return {
        session: min(
            1.0,
            sum(
                rare * said * (SATURATION + 1) / (said + SATURATION)
                for rare, said in zip(rarity, of_words, strict=True)
            )
            / full,
        )
        for session, of_words in counts.items()
    }


def closeness(one: Candidate, period: Period) -> float:
    """How near an entry, or a time that it names, is to a period: 1 in it, 0 a month from it."""
    best = _near(one.at, one.at, period)
    return max([best, *(_near(start, end, period) for start, end in one.times)])


def _near(start: datetime, end: datetime, period: Period) -> float:
    if start < period.end and (end > period.start or start == end >= period.start):
        return 1.0
    away = max(period.start - end, start - period.end)
    return next((share for limit, share in _NEARNESS if away <= limit), 0.0)
