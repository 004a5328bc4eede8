"""Weighing: what each source says of candidates, from 0 to 1, and what they lend each other.

It is pure, and stands apart from ranking, which makes one score of all this.
"""

import math
from collections import defaultdict
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mnestic.memory.candidates import CONCERNS, Asked, Candidate, Concern, Tie, Ties
from mnestic.memory.dates import Period
from mnestic.memory.retrieval import RetrievalPolicy

# How often a word counts before it is said enough. Source: BM25, Robertson and Zaragoza, 2009; `b`, how much
# the length counts, is in `stores/postgres/search.py`.
SATURATION = 1.2
_DAY = 86_400.0  # seconds
# How near to the time that is asked about an entry still counts, and how much.
_NEARNESS = ((timedelta(days=1), 0.9), (timedelta(days=7), 0.6), (timedelta(days=31), 0.25))
_TAGGED = 0.7  # of a word's weight, where an entry has no word of the question but its tag
_FAINT, _FAINT_OF_A_TIME = 0.1, 0.25  # who says less says too little for others to be measured by

Values = NDArray[Any]


class Weighed:
    """Candidates by what each part says of them: arrays in their order, of values from 0 to 1."""

    def __init__(
        self, candidates: Sequence[Candidate], asked: Asked, policy: RetrievalPolicy
    ) -> None:
        self.candidates, self._asked, self._policy = candidates, asked, policy
        self.number = np.array([one.number for one in candidates])
        self.at = np.array([one.at.timestamp() for one in candidates])
        self.importance = np.array([one.importance for one in candidates])
        concerns = np.array([CONCERNS.index(one.concern) for one in candidates])
        self.concern = {name: concerns == place for place, name in enumerate(CONCERNS)}
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
        places = {one.number: place for place, one in enumerate(self.candidates)}
        lent = {name: np.zeros(len(self.candidates)) for name in self._lending}
        for number, tie, given in self._given(ties):
            if number in places:
                lent[tie][places[number]] += given
        return {name: self._share * given for name, given in lent.items()}

    def gives(self, ties: Ties) -> dict[int, float]:
        """What they lend to each entry, at most, by its number."""
        lent: defaultdict[int, float] = defaultdict(float)
        for number, _, given in self._given(ties):
            lent[number] += given
        return lent

    @property
    def _lending(self) -> dict[Tie, float]:
        policy = self._policy
        return {"beside": policy.beside, "near": policy.near, "related": policy.related}

    def _given(self, ties: Ties) -> Iterator[tuple[int, Tie, float]]:
        weights = self._lending
        for one, says in zip(self.candidates, self.own.tolist(), strict=True):
            for number, tie in ties.get(one.number, ()):
                yield number, tie, weights[tie] * says

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
