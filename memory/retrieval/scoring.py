"""Signals of candidates: what each source says of them, from 0 to 1, and score propagation between them.

The functions are pure. `memory/retrieval/ranking.py` adds the signals up to one score.
"""

import math
from collections.abc import Iterator
from datetime import datetime, timedelta
from functools import cached_property

import numpy as np

from mnestic.memory.language.date_words import date_words
from mnestic.memory.language.dates import Period
from mnestic.memory.retrieval.candidates import (
    CONCERNS,
    Candidates,
    Concern,
    EdgeKind,
    Edges,
    RankingQuery,
    Values,
)
from mnestic.memory.retrieval.exact_terms import OTHER, SAME
from mnestic.memory.retrieval.queries import RetrievalPolicy

# BM25's `k1`: how soon repetitions of a word stop counting. Source: Robertson and Zaragoza, 2009. BM25's `b`, the weight
# of the length, is in `stores/postgres/sql/find_candidates.sql`.
SATURATION = 1.2
_DAY = 86_400.0  # seconds
# Up to which distance from the period of the query an entry counts, and how much.
_TIME_SHARES = ((timedelta(days=1), 0.9), (timedelta(days=7), 0.6), (timedelta(days=31), 0.25))
_WIDEST = 8  # times the period; up to this width a named time counts in full
_TAGGED = 0.7  # of the weight of a word, for an entry that has a tag of the query instead
# Shares of the words: from the first a question begins to repeat the query, from the second it is the same.
_REPEATED, _REPEATS = 0.6, 0.85
_REPEATED_DISCOUNT = 0.6  # of its own total that is taken off an entry that repeats the query
_IDENTIFIED = 0.85  # the least lexical score of an entry with an identifier of the query
_OTHER_IDENTITY = (
    0.3  # of the signals, and of the score, for an entry with another identifier in its place
)
_UNCERTAIN = 0.4  # of the confidence, where the query may be about an unknown person
_UNIDENTIFIED = 0.2  # likewise where no entry has the identifier of the query
_PERIOD_NEEDS = (
    0.5  # of words and meaning, from which an entry of the period counts in full as such
)
_NEIGHBOUR_DISCOUNT = 0.85  # left of the score of an entry with propagated scores alone
# Where an entry of the period has this share of the best evidence, entries of other times keep this share of their scores.
_ANSWERS_PERIOD, _PERIOD_DISCOUNT = 0.7, 0.3
_COMPARED = 3  # of the best, of which the newest comes first
_NEARLY = 0.6  # of the total of the best, from which on another answers nearly as well
# Evidence below this is too weak to measure others by; the second value is for queries with a period.
_MOST_EXPONENT = 700.0  # of what a float holds as a power of e
_MIN_EVIDENCE, _MIN_EVIDENCE_OF_PERIOD = 0.1, 0.25


class SignalScores:
    """The signals of candidates: arrays in the order of the candidates, with values from 0 to 1."""

    def __init__(
        self, candidates: Candidates, query: RankingQuery, policy: RetrievalPolicy
    ) -> None:
        self._candidates, self.rows = candidates, candidates.rows
        self.query, self.policy = query, policy
        self._time_proximity = time_proximity(candidates, query.period)
        self._words, self._meaning = self._source_scores()
        self.own = policy.semantic * self._meaning + policy.lexical * self._words

    @cached_property
    def concern(self) -> dict[Concern, Values]:
        """For each kind of concern, which candidates have it."""
        concern = self.rows["concern"]
        return {name: concern == place for place, name in enumerate(CONCERNS)}

    def _source_scores(self) -> tuple[Values, Values]:
        """The scores of words and of meaning.

        If a query has nothing but a name or a time, all entries about it count in full.
        """
        query, policy, rows = self.query, self.policy, self.rows
        late = policy.late_interaction * rows["late_interaction"]
        words = np.zeros(len(rows))
        if full := sum(query.weights) * policy.full_words:
            tagged = _TAGGED * rows["is_tagged"] / len(query.weights)
            words = np.minimum(1, rows["words"] / full + tagged + late * (query.mode == "hybrid"))
            words = words * self._says_more_than_names()
        elif not query.weights and (query.names or query.period):
            is_named = self.concern["named"] | self.concern["mentioned"] | (not query.names)
            words = 1.0 * (is_named & (query.period is None or self._time_proximity == 1))
        words = np.maximum(words, _IDENTIFIED * (rows["identity"] == SAME))
        reach = policy.full_cosine - policy.min_cosine
        meaning = np.clip((rows["cosine"] - policy.min_cosine) / reach, 0, 1)
        if query.mode == "semantic":
            meaning = 1 - (1 - meaning) * (1 - np.minimum(1, late))
        return words * (query.mode != "semantic"), meaning * (query.mode != "text")

    def _says_more_than_names(self) -> Values:
        """Which entries have a word of the query beside names, or one of its tags, if the query has other words."""
        all_bits, names = (1 << len(self.query.weights)) - 1, self.query.bits_of_names
        if not names or all_bits == names:
            return np.ones(len(self.rows))
        says_more: Values = ((self.rows["lexemes"] & ~names) != 0) | self.rows["is_tagged"]
        return says_more

    @cached_property
    def _share(self) -> Values:
        """How much of its own signals counts for each entry, by whom it concerns.

        If a named person has spoken, mentions of them count less, since these may be greetings. An entry that
        was stored about another person counts less than a message of another person.
        """
        others = self.policy.other_people
        mentioned = math.sqrt(others) if self.rows["is_by_named_speaker"].any() else 1.0
        shares: dict[Concern, float] = {"named": 1.0, "mentioned": mentioned, "other": others}
        shares["open"] = others if self.query.names else 1.0
        share = np.array([shares[name] for name in CONCERNS])[self.rows["concern"]]
        share = np.where(self.concern["other"] & ~self.rows["is_turn"], others**2, share)
        discounted: Values = share * self.identity_discount
        return discounted

    @cached_property
    def identity_discount(self) -> Values:
        """The factor of each entry: less than 1 if it has another identifier in the place of one in the query."""
        return np.where(self.rows["identity"] == OTHER, _OTHER_IDENTITY, 1.0)

    @cached_property
    def _certainty(self) -> float:
        """The factor of the confidence: less than 1 for an unknown person, or an identifier that no entry has."""
        is_identified = bool((self.rows["identity"] == SAME).any())
        if self.query.has_identifier and not is_identified:
            return _UNIDENTIFIED
        return _UNCERTAIN if self.query.is_uncertain else 1.0

    def own_signals(self) -> dict[str, Values]:
        """The signals of the entries themselves, which are propagated to others."""
        share, policy = self._share, self.policy
        return {
            "semantic": share * policy.semantic * self._meaning,
            "lexical": share * policy.lexical * self._words,
        }

    @cached_property
    def _own_total(self) -> Values:
        """The sum of the own signals of each entry."""
        total: Values = np.sum(list(self.own_signals().values()), axis=0)
        return total

    def confidence(self) -> float:
        """The probability that the strongest entry answers the query. One strong source is enough.

        To be about a named person, or of the period, counts like a word: the rarer it is, the more.
        """
        words = self._words
        if whole := sum(self.query.weights):
            parts = self._telling_parts()
            weighted = words * whole + sum(rarity * part for part, rarity in parts)
            words = weighted / (whole + sum(rarity for _, rarity in parts))
        silence = (1 - words) * (1 - self._meaning)
        strongest = float((self._share * (1 - silence)).max())
        above = self.policy.slope * (strongest - self.policy.midpoint)
        return self._certainty / (1 + math.exp(min(_MOST_EXPONENT, -above)))

    def _telling_parts(self) -> list[tuple[Values, float]]:
        """Which entries are about the names, and which are of the period, each with its inverse document frequency.

        If the query has several words, an entry of the period with little of their meaning counts for a part: what
        else happened last night does not answer a question about the rain of last night. The frequency is
        estimated: candidates by words and by meaning are taken for a sample of the memory.
        """
        parts = [self.concern["named"]] * bool(self.query.names)
        parts += [self._time_proximity == 1] * (self.query.period is not None)
        sample = (self.rows["words"] != 0) | (self.rows["cosine"] != 0)
        number = np.count_nonzero(sample)
        rarities = [
            -math.log((np.count_nonzero(part & sample) + 0.5) / (number + 1)) for part in parts
        ]
        if self.query.period is not None and len(self.query.weights) > 1:
            own = 1 - (1 - self._words) * (1 - self._meaning)
            parts[-1] = parts[-1] * np.minimum(1, own / _PERIOD_NEEDS)
        return [*zip(parts, rarities, strict=True)]

    @property
    def min_evidence(self) -> float:
        """The evidence below which the strongest entry is too weak to measure others by."""
        return _MIN_EVIDENCE if self.query.period is None else _MIN_EVIDENCE_OF_PERIOD

    def propagated(self, edges: Edges) -> dict[str, Values]:
        """The scores that each entry receives from its neighbours in the conversation and from related entries.

        The concern of the sender does not count, only that of the receiver: one person asks, another answers.
        """
        places = self._places
        received = {name: [0.0] * len(places) for name in self._propagation_weights}
        for number, kind, score in self._propagated_scores(edges):
            if number in places:
                received[kind][places[number]] += score
        return {name: self._share * scores for name, scores in received.items()}

    def neighbour_discount(self, edges: Edges, evidence: Values) -> Values:
        """The factor of each score: less than 1 for an entry with propagated scores alone that replies to no question."""
        is_neighbour = (self._own_total <= 0) & (evidence > 0)
        for seed in self.rows["number"][self.rows["asks"]].tolist():
            replies = (number for number, _ in edges.get(seed, ()))
            is_neighbour[[self._places[one] for one in replies if one in self._places]] = False
        return np.where(is_neighbour, _NEIGHBOUR_DISCOUNT, 1.0)

    def period_discount(self, evidence: Values) -> Values:
        """The factor of each score: less than 1 for an entry of another time, if an entry of the period answers."""
        within = self._time_proximity == 1
        if not evidence[within].max(initial=0) >= _ANSWERS_PERIOD * max(
            evidence.max(), _MIN_EVIDENCE
        ):
            return np.ones(len(evidence))
        for place in np.flatnonzero(~within & (evidence > 0)).tolist():
            within[place] = self._may_be_of_period(place)
        return np.where(within, 1.0, _PERIOD_DISCOUNT)

    def _may_be_of_period(self, place: int) -> bool:
        """Whether an entry names a time that contains the period, or tells of something that recurs."""
        text, period = self._candidates.texts[place], self.query.period
        assert period is not None
        covers = any(start <= period.start and period.end <= end for start, end in text.times)
        return covers or date_words().recurring.search(text.content) is not None

    @property
    def _propagation_weights(self) -> dict[EdgeKind, float]:
        policy = self.policy
        return {
            "neighbour": policy.neighbour,
            "second_neighbour": policy.second_neighbour,
            "related": policy.related,
        }

    def _propagated_scores(self, edges: Edges) -> Iterator[tuple[int, EdgeKind, float]]:
        weights, own = self._propagation_weights, self.own.tolist()
        for seed, neighbours in edges.items():
            if (place := self._places.get(seed)) is not None:
                for number, kind in neighbours:
                    yield number, kind, weights[kind] * own[place]

    @cached_property
    def _places(self) -> dict[int, int]:
        """The position of each candidate, by its number."""
        return {number: place for place, number in enumerate(self.rows["number"].tolist())}

    def context_signals(self) -> dict[str, Values]:
        """The signals that do not come from an entry's own words, meaning and facts."""
        query, policy, rows = self.query, self.policy, self.rows
        return {
            "session": policy.session * self._session_scores() * rows["is_turn"],
            "speaker": policy.speaker * rows["is_by_named_speaker"],
            "subject": policy.subject * (self.concern["named"] & ~rows["is_by_named_speaker"]),
            "tag": policy.tag * rows["is_tagged"],
            "time": policy.time * self._time_proximity,
            "recency": policy.recency * self._recency(),
            "mention": policy.mention * (rows["names_time"] & query.asks_for_time),
            "question": -(policy.question + self._repeated_question())
            * rows["asks"]
            * bool(policy.question),
            "importance": policy.importance * rows["importance"],
        }

    def _recency(self) -> Values:
        """How recent each entry is: 1 for one of now. In a weighted sum a named period counts in its place."""
        query, policy = self.query, self.policy
        if policy.score == "weighted_sum" and query.period is not None:
            return np.zeros(len(self.rows))
        age = np.maximum(0, query.asked_at.timestamp() - self.rows["at"]) / _DAY
        recency: Values = np.exp(-age / policy.recent_days)
        return recency

    def _repeated_question(self) -> Values:
        """What is taken off an entry that asks the same as the query, since it is no answer."""
        if not self.query.weights or not self.query.is_question:
            return np.zeros(len(self.rows))
        repeats = np.clip((self._words - _REPEATED) / (_REPEATS - _REPEATED), 0, 1)
        return _REPEATED_DISCOUNT * repeats * self._own_total

    def newest_first(self, total: Values) -> Values:
        """How far the best entries are lifted above older ones that answer nearly as well, so that the newest comes first.

        These have all words of the query that the best one has, and the same speaker. A query for a period may mean an older
        one; one for what was so before gets the oldest first.
        """
        query, rows = self.query, self.rows
        lifted = np.zeros(len(total))
        present = np.inf if query.present_until is None else query.present_until.timestamp()
        may_answer = (total > 0) & ~rows["asks"] & (rows["at"] <= present) & (rows["lexemes"] != 0)
        order: list[int] = self._candidates.ordered(total)[:_COMPARED].tolist()
        best = [one for one in order if may_answer[one]]
        if query.period is None and best:
            alike = np.array([one for one in best if self._is_nearly(one, best[0], total)])
            in_time = alike[np.argsort(rows["at"][alike], kind="stable")]
            newest = in_time if query.asks_for_earlier else in_time[::-1]
            lifted[newest] = total[alike] - total[newest]
        return lifted

    def _is_nearly(self, one: int, best: int, total: Values) -> bool:
        """Whether an entry answers nearly as well as the best one, for all that its words and its speaker tell."""
        concern, texts = self.rows["concern"], self._candidates.texts
        bits = self.rows["lexemes"] & ~self.query.bits_of_names
        common = bits[one] & bits[best]
        return bool(
            total[one] >= _NEARLY * total[best]
            and common == bits[best]
            and concern[one] == concern[best]
            and texts[one].speaker == texts[best].speaker
        )

    def _session_scores(self) -> Values:
        """How well the session of each entry matches the query: BM25 over sessions, by the turns among the candidates."""
        ids = [one.session_id or None for one in self._candidates.texts]
        sessions = {one: place for place, one in enumerate(dict.fromkeys(ids))}
        of = np.fromiter(map(sessions.__getitem__, ids), np.intp, len(ids))
        counts = self.rows["is_turn"] & (of != sessions.get(None, -1))
        number = np.count_nonzero(np.bincount(of[counts]))
        if not number or not self.query.weights:
            return np.zeros(len(of))
        bits = np.arange(len(self.query.weights))
        has = (self.rows["lexemes"][counts, None] >> bits & 1).astype(bool)
        places = of[counts, None] * len(bits) + bits  # of sessions and words, in one row
        frequencies = np.bincount(places[has], minlength=len(sessions) * len(bits)).reshape(
            -1, len(bits)
        )
        document_frequency = np.count_nonzero(frequencies, axis=0)
        rarity = np.log(1 + (number - document_frequency + 0.5) / (document_frequency + 0.5))
        bm25 = (rarity * frequencies * (SATURATION + 1) / (frequencies + SATURATION)).sum(axis=1)
        shares: Values = np.minimum(1, bm25 / (1.5 * rarity.sum()))[of]
        return shares


def time_proximity(candidates: Candidates, period: Period | None) -> Values:
    """How near each entry, or a time that it names, is to a period: 1 within it, 0 if more than a month away.

    It is 0 for all without a period.
    """
    at = candidates.rows["at"]
    near = np.zeros(len(at))
    if period is None:
        return near
    start, end = period.start.timestamp(), period.end.timestamp()
    away = np.maximum(start - at, at - end)
    for limit, share in reversed(_TIME_SHARES):
        near[away <= limit.total_seconds()] = share
    near[(start <= at) & (at < end)] = 1.0
    for place in np.flatnonzero(candidates.rows["names_time"]).tolist():
        named = [_near(*times, period) for times in candidates.texts[place].times]
        near[place] = max([near[place], *named])
    return near


def _near(start: datetime, end: datetime, period: Period) -> float:
    """How near a named time is to the period. Of a much wider one, such as "this year" for a day, a share counts."""
    if start < period.end and (end > period.start or start == end >= period.start):
        wide = (end - start) / (period.end - period.start)
        return 1.0 if wide <= _WIDEST else _WIDEST / wide
    away = max(period.start - end, start - period.end)
    return next((share for limit, share in _TIME_SHARES if away <= limit), 0.0)
