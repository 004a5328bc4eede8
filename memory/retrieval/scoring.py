"""Weighing: what each source says of candidates, from 0 to 1, and what they lend each other.

It is pure, and stands apart from ranking, which makes one score of all this.
"""

import math
import re
from collections.abc import Collection, Iterator
from datetime import datetime, timedelta
from functools import cached_property

import numpy as np

from mnestic.memory.language.date_words import WEEKDAYS
from mnestic.memory.language.dates import Period
from mnestic.memory.retrieval.candidates import (
    CONCERNS,
    Asked,
    Candidates,
    Concern,
    EdgeKind,
    Edges,
    Succession,
    Values,
)
from mnestic.memory.retrieval.queries import RetrievalPolicy
from mnestic.memory.retrieval.supersession import apply_supersession

# How often a word counts before it is said enough. Source: BM25, Robertson and Zaragoza, 2009; `b`, how much
# the length counts, is in `stores/postgres/sql/find_candidates.sql`.
SATURATION = 1.2
_DAY = 86_400.0  # seconds
# How near to the time that is asked about an entry still counts, and how much.
_NEARNESS = ((timedelta(days=1), 0.9), (timedelta(days=7), 0.6), (timedelta(days=31), 0.25))
_AS_WIDE = 8  # times the period: what is named is taken for it
_TAGGED = 0.7  # of a word's weight, where an entry has no word of the question but its tag
# Of the words, from where a question is asked again, and where it is the same.
_REPEATED, _REPEATS = 0.6, 0.85
_REPEATING = 0.6  # of what it says that is taken off the same question
_IN_DOUBT = 0.4  # of how sure it is, where a question may be about somebody who is not known
_LATER = 0.01  # by how much what was so later does above what was so before it
_BESIDE = 0.85  # of its score that is left to what says nothing of what is asked itself
_OF_THE_TIME = (
    0.7  # of what the best says, from where what is of the time that is asked about answers
)
_OUTSIDE = 0.3  # of its score that is then left to what is of another time
_MOST_EXPONENT = 700.0  # of what a float holds as a power of e
_FAINT, _FAINT_OF_A_TIME = 0.1, 0.25  # who says less says too little for others to be measured by

_RECURS = re.compile(
    rf"\b(?:every|each|{'|'.join(f'{day}s' for day in WEEKDAYS)})\b", re.IGNORECASE
)


class SignalScores:
    """Candidates by what each part says of them: arrays in their order, of values from 0 to 1."""

    def __init__(self, candidates: Candidates, asked: Asked, policy: RetrievalPolicy) -> None:
        self._candidates, self.rows = candidates, candidates.rows
        self._asked, self._policy = asked, policy
        self._nearness = time_proximity(candidates, asked.period)
        self._words, self._meaning, self._fact_match = self._hear()
        self.own = policy.semantic * self._meaning + policy.lexical * self._words

    @cached_property
    def concern(self) -> dict[Concern, Values]:
        """By each way in which the question may have to do with them, with which it has."""
        concern = self.rows["concern"]
        return {name: concern == place for place, name in enumerate(CONCERNS)}

    def _hear(self) -> tuple[Values, Values, Values]:
        """What their words say, their meaning and what was learned from them.

        A question of nothing but a name or a time is answered by what is of it.
        """
        asked, policy, rows = self._asked, self._policy, self.rows
        late = policy.late_interaction * rows["late_interaction"]
        words = np.zeros(len(rows))
        if full := sum(asked.weights) * policy.full_words:
            tagged = _TAGGED * rows["is_tagged"] / len(asked.weights)
            words = np.minimum(1, rows["words"] / full + tagged + late * (asked.mode == "hybrid"))
        elif not asked.weights and (asked.names or asked.period):
            is_named = self.concern["named"] | self.concern["mentioned"] | (not asked.names)
            words = 1.0 * (is_named & (asked.period is None or self._nearness == 1))
        reach = policy.full_cosine - policy.min_cosine
        meaning = np.clip((rows["cosine"] - policy.min_cosine) / reach, 0, 1)
        if asked.mode == "semantic":
            meaning = 1 - (1 - meaning) * (1 - np.minimum(1, late))
        return (
            words * (asked.mode != "semantic"),
            meaning * (asked.mode != "text"),
            rows["fact_match"] * (asked.mode == "hybrid"),
        )

    @cached_property
    def _share(self) -> Values:
        """How much of what an entry says counts, by whom it is about.

        Where someone who is named has spoken, what mentions them counts less: it may be a greeting. What was
        kept about somebody else counts less than what somebody else has said.
        """
        others = self._policy.other_people
        mentioned = math.sqrt(others) if self.rows["is_said"].any() else 1.0
        shares: dict[Concern, float] = {"named": 1.0, "mentioned": mentioned, "other": others}
        shares["open"] = others if self._asked.names else 1.0
        shares["apart"] = others
        share = np.array([shares[name] for name in CONCERNS])[self.rows["concern"]]
        return np.where(self.concern["other"] & ~self.rows["is_turn"], others**2, share)

    def says(self) -> dict[str, Values]:
        """What counts of what they say, and of what was learned from them, which they lend to no other."""
        share, policy = self._share, self._policy
        return {
            "semantic": share * policy.semantic * self._meaning,
            "lexical": share * policy.lexical * self._words,
            "fact_match": share * policy.fact_match * self._fact_match,
        }

    @cached_property
    def _says(self) -> Values:
        """All that counts of what each says by itself."""
        says: Values = np.sum(list(self.says().values()), axis=0)
        return says

    def sure(self) -> float:
        """How sure it is that the one that says most answers: one source is enough.

        To be about who is named, and of the time that is asked about, counts as words do, by how few are.
        """
        words = self._words
        if whole := sum(self._asked.weights):
            parts = self._parts()
            told = words * whole + sum(rarity * part for part, rarity in parts)
            words = told / (whole + sum(rarity for _, rarity in parts))
        silence = (1 - words) * (1 - self._meaning) * (1 - self._fact_match)
        says = float((self._share * (1 - silence)).max())
        above = self._policy.slope * (says - self._policy.midpoint)
        sure = 1 / (1 + math.exp(min(_MOST_EXPONENT, -above)))
        return _IN_DOUBT * sure if self._asked.is_uncertain else sure

    def _parts(self) -> list[tuple[Values, float]]:
        """Who is about the names, and who is of the time, each with how telling that is.

        What words and meaning have brought is a sample of the memory.
        """
        parts = [self.concern["named"]] * bool(self._asked.names)
        parts += [self._nearness == 1] * (self._asked.period is not None)
        sample = (self.rows["words"] != 0) | (self.rows["cosine"] != 0)
        number = np.count_nonzero(sample)
        return [
            (part, -math.log((np.count_nonzero(part & sample) + 0.5) / (number + 1)))
            for part in parts
        ]

    @property
    def faint(self) -> float:
        """How much says too little for others to be measured by; more where to be of a time says something."""
        return _FAINT if self._asked.period is None else _FAINT_OF_A_TIME

    def lent(self, edges: Edges) -> dict[str, Values]:
        """What they are lent of what those beside them and related to them say.

        Whom it is about counts for those alone: a question of one is answered by the other.
        """
        places = self._places
        lent = {name: [0.0] * len(places) for name in self._lending}
        for number, tie, given in self._given(edges):
            if number in places:
                lent[tie][places[number]] += given
        return {name: self._share * given for name, given in lent.items()}

    def neighbour_discount(self, edges: Edges, evidence: Values) -> Values:
        """How much counts of the score of each: less of what is but beside what answers, and follows nobody who asks."""
        is_beside = (self._says <= 0) & (evidence > 0)
        for lender in self.rows["number"][self.rows["asks"]].tolist():
            replies = (number for number, _ in edges.get(lender, ()))
            is_beside[[self._places[one] for one in replies if one in self._places]] = False
        return np.where(is_beside, _BESIDE, 1.0)

    def outside(self, evidence: Values) -> Values:
        """How much counts of the score of each: less of what is of another time, where something of the time answers."""
        within = (self._nearness == 1) | (self._fact_match > 0)
        if not evidence[within].max(initial=0) >= _OF_THE_TIME * max(evidence.max(), _FAINT):
            return np.ones(len(evidence))
        for place in np.flatnonzero(~within & (evidence > 0)).tolist():
            within[place] = self._may_be_of_the_time(place)
        return np.where(within, 1.0, _OUTSIDE)

    def _may_be_of_the_time(self, place: int) -> bool:
        """Whether one tells of a time with the one asked about in it, or of what comes again and again."""
        text, period = self._candidates.texts[place], self._asked.period
        assert period is not None
        covers = any(start <= period.start and period.end <= end for start, end in text.times)
        return covers or _RECURS.search(text.content) is not None

    @property
    def _lending(self) -> dict[EdgeKind, float]:
        policy = self._policy
        return {
            "neighbour": policy.neighbour,
            "second_neighbour": policy.second_neighbour,
            "related": policy.related,
        }

    def _given(self, edges: Edges) -> Iterator[tuple[int, EdgeKind, float]]:
        weights, own = self._lending, self.own.tolist()
        for lender, tied in edges.items():
            if (place := self._places.get(lender)) is not None:
                for number, tie in tied:
                    yield number, tie, weights[tie] * own[place]

    @cached_property
    def _places(self) -> dict[int, int]:
        """The place of each, by its number."""
        return {number: place for place, number in enumerate(self.rows["number"].tolist())}

    def beside(self) -> dict[str, Values]:
        """What speaks for them beside what they say."""
        asked, policy, rows = self._asked, self._policy, self.rows
        age = np.maximum(0, asked.asked_at.timestamp() - rows["at"]) / _DAY
        return {
            "session": policy.session * self._sessions() * rows["is_turn"],
            "speaker": policy.speaker * rows["is_said"],
            "subject": policy.subject * (self.concern["named"] & ~rows["is_said"]),
            "tag": policy.tag * rows["is_tagged"],
            "time": policy.time * self._nearness,
            "recency": policy.recency * np.exp(-age / policy.recent_days),
            "mention": policy.mention * (rows["names_time"] & asked.asks_when),
            "question": -(policy.question + self._repeats()) * rows["asks"] * bool(policy.question),
            "importance": policy.importance * rows["importance"],
        }

    def _repeats(self) -> Values:
        """What more is taken off who asks the same, which is no answer to a question."""
        if not self._asked.weights or not self._asked.is_question:
            return np.zeros(len(self.rows))
        repeats = np.clip((self._words - _REPEATED) / (_REPEATS - _REPEATED), 0, 1)
        return _REPEATING * repeats * self._says

    def revision(self, total: Values) -> tuple[Values, Values]:
        """How much those that revise others are lifted to them, and which are replaced; see `apply_supersession`."""
        lifted, replaced = apply_supersession(
            self._candidates, self._asked, words=self._words, learned=self._fact_match, total=total
        )
        return self._policy.revision * self._share * lifted, replaced

    def succession(self, total: Values, successions: Collection[Succession]) -> Values:
        """How much those that told what was so later are lifted above those that told what was so before it."""
        lifted = np.zeros(len(total))
        if not successions:
            return lifted
        places = {text.entry_id: place for place, text in enumerate(self._candidates.texts)}
        for told in successions:
            least = -math.inf
            for ids in reversed(told):
                at = [places[one] for one in ids if one in places]
                lifted[at] = np.maximum(lifted[at], least - total[at])
                least = np.max(total[at] + lifted[at] + _LATER, initial=least)
        return self._policy.revision * lifted

    def _sessions(self) -> Values:
        """How much the session of each speaks of what is asked: BM25 of sessions over the turns that were found."""
        ids = [one.session_id or None for one in self._candidates.texts]
        sessions = {one: place for place, one in enumerate(dict.fromkeys(ids))}
        of = np.fromiter(map(sessions.__getitem__, ids), np.intp, len(ids))
        counts = self.rows["is_turn"] & (of != sessions.get(None, -1))
        number = np.count_nonzero(np.bincount(of[counts]))
        if not number or not self._asked.weights:
            return np.zeros(len(of))
        bits = np.arange(len(self._asked.weights))
        has = (self.rows["lexemes"][counts, None] >> bits & 1).astype(bool)
        places = of[counts, None] * len(bits) + bits  # of sessions and words, in one row
        said = np.bincount(places[has], minlength=len(sessions) * len(bits)).reshape(-1, len(bits))
        having = np.count_nonzero(said, axis=0)
        rarity = np.log(1 + (number - having + 0.5) / (having + 0.5))
        speaks = (rarity * said * (SATURATION + 1) / (said + SATURATION)).sum(axis=1)
        shares: Values = np.minimum(1, speaks / (1.5 * rarity.sum()))[of]
        return shares


def time_proximity(candidates: Candidates, period: Period | None) -> Values:
    """How near each, or a time that it names, is to a period: 1 in it, 0 more than a month from it, or without one."""
    at = candidates.rows["at"]
    near = np.zeros(len(at))
    if period is None:
        return near
    start, end = period.start.timestamp(), period.end.timestamp()
    away = np.maximum(start - at, at - end)
    for limit, share in reversed(_NEARNESS):
        near[away <= limit.total_seconds()] = share
    near[(start <= at) & (at < end)] = 1.0
    for place in np.flatnonzero(candidates.rows["names_time"]).tolist():
        named = [_near(*times, period) for times in candidates.texts[place].times]
        near[place] = max([near[place], *named])
    return near


def _near(start: datetime, end: datetime, period: Period) -> float:
    """How near a time that is named is; of a wider one, such as "this year" for a day, its share counts."""
    if start < period.end and (end > period.start or start == end >= period.start):
        wide = (end - start) / (period.end - period.start)
        return 1.0 if wide <= _AS_WIDE else _AS_WIDE / wide
    away = max(period.start - end, start - period.end)
    return next((share for limit, share in _NEARNESS if away <= limit), 0.0)
