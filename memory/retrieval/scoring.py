"""Signals of candidates: what speaks for or against each, most of them from 0 to 1.

The functions are pure. `memory/retrieval/ranking.py` weighs the signals and adds them up to one score. A signal is absolute: it depends
on the query, the entry and the memory, and on other candidates only where these stand next to the entry or in its session.
"""

from collections.abc import Iterator
from datetime import datetime, timedelta
from functools import cached_property

import numpy as np

from mnestic.memory.language.dates import Period
from mnestic.memory.language.query_words import query_lists
from mnestic.memory.language.sentences import split_sentences
from mnestic.memory.language.terms import words_of
from mnestic.memory.retrieval.candidates import (
    PERSON_MATCHES,
    Candidates,
    EdgeKind,
    PersonMatch,
    ScoreArray,
)
from mnestic.memory.retrieval.exact_terms import OTHER, SAME
from mnestic.memory.retrieval.queries import FULL_COSINE, RetrievalPolicy
from mnestic.memory.retrieval.search import ParsedQuery

# BM25's `k1`: how soon repetitions of a word stop counting. Source: Robertson and Zaragoza, 2009. BM25's `b`, the weight
# of the length, is in `stores/postgres/sql/retrieval/find_candidates.sql`.
SATURATION = 1.2
FULL_WORDS = 1.5  # times the weights of the words: the BM25 that counts as 1
_DAY = 86_400.0  # seconds
_RECENT_DAYS = 7  # in which recency falls to 1/e
# Up to which distance from the period of the query an entry counts, and how much.
_TIME_SHARES = ((timedelta(days=1), 0.9), (timedelta(days=7), 0.6), (timedelta(days=31), 0.25))
# Of its coverage, for an entry by and about others than the query names: one says of oneself what is asked of another.
_OF_OTHERS = 0.5
_WIDEST = 8  # times the period; up to this width a named time counts in full


class Signals:
    """The signals of candidates: arrays in the order of the candidates."""

    def __init__(
        self, candidates: Candidates, *, query: ParsedQuery, policy: RetrievalPolicy
    ) -> None:
        self._candidates, self._rows = candidates, candidates.rows
        self._query, self._policy = query, policy

    @property
    def number(self) -> int:
        """How many candidates there are."""
        return len(self._rows)

    def values(self) -> dict[str, ScoreArray]:
        """All signals by name; `RetrievalPolicy` says what each is."""
        of_query = dict.fromkeys(self._of_query, np.ones(len(self._rows)))
        return (
            self._of_entry()
            | self._of_neighbours
            | self._of_person()
            | self._of_time()
            | {name: value * of_query[name] for name, value in self._of_query.items()}
        )

    def _of_entry(self) -> dict[str, ScoreArray]:
        rows, query = self._rows, self._query
        has_words, has_meaning = query.mode != "semantic", query.mode != "text"
        return {
            "semantic": self._meaning,
            "lexical": self._bm25,
            "coverage": self._coverage * np.where(self._is_of_others, _OF_OTHERS, 1.0),
            "without_vector": 1.0 * (rows["cosine"] == 0) if has_meaning else np.ones(len(rows)),
            "without_words": np.full(len(rows), 1.0 * (not has_words)),
            "session": self._session_scores() * rows["is_turn"],
            "tag": 1.0 * rows["is_tagged"],
            "question": 1.0 * rows["asks"],
            "identifier": 1.0 * (rows["identity"] == SAME),
            "other_identifier": 1.0 * (rows["identity"] == OTHER),
            "importance": rows["importance"],
        }

    @cached_property
    def _meaning(self) -> ScoreArray:
        """The similarity of meaning, as a share of what counts in full."""
        low = self._policy.min_cosine
        meaning: ScoreArray = np.clip((self._rows["cosine"] - low) / (FULL_COSINE - low), 0, 1)
        meaning *= self._query.mode != "text"
        return meaning

    @cached_property
    def _bm25(self) -> ScoreArray:
        full = FULL_WORDS * sum(self._query.weights) * (self._query.mode != "semantic")
        bm25: ScoreArray = (
            np.minimum(1, self._rows["words"] / full) if full else 0 * self._rows["words"]
        )
        return bm25

    @cached_property
    def _has(self) -> ScoreArray:
        """Which words of the query each entry has: a row for each entry, a column for each word."""
        bits = np.arange(len(self._query.weights))
        has: ScoreArray = (self._rows["lexemes"][:, None] >> bits & 1).astype(bool)
        return has

    @cached_property
    def _content_weights(self) -> ScoreArray:
        """The weights of the query's words; 0 for those of names."""
        query = self._query
        is_name = query.vocabulary.bits_of_names >> np.arange(len(query.weights)) & 1
        weights: ScoreArray = np.array(query.weights) * (1 - is_name)
        return weights

    @cached_property
    def _coverage(self) -> ScoreArray:
        """The share of the weight of the query's words, beside names, that an entry has; near words count by how near they are.

        If the query has nothing but a name or a time, all entries about it have it all.
        """
        query, weights, rows = self._query, self._content_weights, self._rows
        if whole := weights.sum():
            exact = self._has @ weights / whole * (query.mode != "semantic")
            coverage: ScoreArray = np.minimum(
                1, exact + rows["late_interaction"] * (query.mode != "text")
            )
            return coverage
        is_about = self._person_match["named"] | self._person_match["mentioned"] | (not query.names)
        about: ScoreArray = 1.0 * (is_about & (query.period is None or self._time == 1))
        return about

    @cached_property
    def _person_match(self) -> dict[PersonMatch, ScoreArray]:
        """For each kind of match, which candidates have it."""
        person_match = self._rows["person_match"]
        return {name: person_match == place for place, name in enumerate(PERSON_MATCHES)}

    @cached_property
    def _is_of_others(self) -> ScoreArray:
        """Which entries are by and about others than the query names."""
        others: ScoreArray = self._person_match["other"] | (
            self._person_match["open"] & bool(self._query.names)
        )
        return others

    @cached_property
    def _own(self) -> ScoreArray:
        """How much an entry says of the query itself; either of words and meaning is enough."""
        evidence: ScoreArray = 1 - (1 - self._meaning) * (1 - self._coverage)
        return evidence

    @cached_property
    def _of_neighbours(self) -> dict[str, ScoreArray]:
        """What the turns around each entry in its conversation say, and the entries that it is related to.

        Whom these concern does not count: one person asks, another answers.
        """
        received, reply = np.zeros(len(self._rows)), np.zeros(len(self._rows))
        for sender, receiver, kind in self._links():
            received[receiver] += self._own[sender]
            reply[receiver] += self._own[sender] * (
                kind == "neighbour" and self._rows["asks"][sender]
            )
        return {"neighbour": received, "reply": reply}

    def _links(self) -> Iterator[tuple[int, int, EdgeKind]]:
        """The links between candidates, by their places."""
        places = {number: place for place, number in enumerate(self._rows["number"].tolist())}
        for seed, neighbours in self._candidates.edges.items():
            if seed in places:
                for number, kind in neighbours:
                    if number in places:
                        yield places[seed], places[number], kind

    def _of_person(self) -> dict[str, ScoreArray]:
        """By whom it is, and whom it is about."""
        is_speaker, person_match = self._rows["is_by_named_speaker"], self._person_match
        is_about_others = person_match["other"] & ~self._rows["is_turn"]
        return {
            "speaker": 1.0 * is_speaker,
            "subject": 1.0 * (person_match["named"] & ~is_speaker) - is_about_others,
            "other_people": 1.0 * self._is_of_others,
        }

    @cached_property
    def _time(self) -> ScoreArray:
        return time_proximity(self._candidates, self._query.period)

    def _of_time(self) -> dict[str, ScoreArray]:
        query, at = self._query, self._rows["at"]
        until = query.present_until if query.period is None else None
        age = np.maximum(0, query.asked_at.timestamp() - at) / _DAY
        # In a weighted sum a named period counts in the place of the last days.
        is_of_period = self._policy.score == "weighted_sum" and query.period is not None
        recency = self._time if is_of_period else np.exp(-age / _RECENT_DAYS)
        return {
            "time": self._time,
            "topic_time": self._time * np.minimum(1, self._own + self._of_neighbours["neighbour"]),
            "recency": recency,
            "ahead": 1.0 * (at > (np.inf if until is None else until.timestamp())),
            "mention": 1.0 * (self._rows["names_time"] & query.asks_for_time),
        }

    @cached_property
    def _of_query(self) -> dict[str, ScoreArray | float]:
        """What speaks for or against all candidates alike."""
        query = self._query
        is_identified = bool((self._rows["identity"] == SAME).any())
        return {
            "unknown_identifier": 1.0 * (query.has_identifier and not is_identified),
            "uncertain": 1.0 * (self._is_of_possible_asker | query.is_uncertain),
            "names": 1.0 * bool(query.names),
            "period": 1.0 * (query.period is not None),
        }

    @property
    def _is_of_possible_asker(self) -> ScoreArray:
        """Which entries a speaker says of themselves, or have one as their subject, if the query is about one of several of them."""
        askers = self._query.possible_askers
        lexemes = tuple(
            lexeme for one in self._query.vocabulary.query_lexemes for lexeme in one.lexemes
        )
        found: ScoreArray = np.zeros(len(self._rows), bool)
        if askers:
            is_turn = self._rows["is_turn"].tolist()
            for place, text in enumerate(self._candidates.texts):
                found[place] = (
                    _is_of_speaker(text.content, lexemes)
                    if is_turn[place]
                    else not askers.isdisjoint(text.subjects)
                )
        return found

    def _session_scores(self) -> ScoreArray:
        """How much better the session of each entry matches the query than others: BM25 over sessions, by the turns among the candidates."""
        ids = [one.session_id or None for one in self._candidates.texts]
        sessions = {one: place for place, one in enumerate(dict.fromkeys(ids))}
        of = np.fromiter(map(sessions.__getitem__, ids), np.intp, len(ids))
        counts = self._rows["is_turn"] & (of != sessions.get(None, -1))
        number = np.count_nonzero(np.bincount(of[counts]))
        if not number or not self._query.weights:
            return np.zeros(len(of))
        has, words = self._has[counts], len(self._query.weights)
        places = of[counts, None] * words + np.arange(words)  # of sessions and words, in one row
        frequencies = np.bincount(places[has], minlength=len(sessions) * words).reshape(-1, words)
        document_frequency = np.count_nonzero(frequencies, axis=0)
        rarity = np.log(1 + (number - document_frequency + 0.5) / (document_frequency + 0.5))
        bm25 = (rarity * frequencies * (SATURATION + 1) / (frequencies + SATURATION)).sum(axis=1)
        shares = np.minimum(1, bm25 / (1.5 * rarity.sum()))
        matches = shares > 0
        mean = shares[matches].mean() if matches.any() else 0.0
        better: ScoreArray = np.where(matches, shares - mean, 0.0)[of]
        return better


def time_proximity(candidates: Candidates, period: Period | None) -> ScoreArray:
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


def _is_of_speaker(text: str, lexemes: tuple[str, ...]) -> bool:
    """Whether a text has *I* where it has a word of the query, or anywhere if it has none."""
    sentences = [words_of(sentence) for sentence in split_sentences(text)]
    about = [words for words in sentences if any(word.startswith(lexemes) for word in words)]
    own = query_lists().first_person
    return any(not own.isdisjoint(words) for words in about or sentences)


def _near(start: datetime, end: datetime, period: Period) -> float:
    """How near a named time is to the period. Of a much wider one, such as "this year" for a day, a share counts."""
    if start < period.end and (end > period.start or start == end >= period.start):
        wide = (end - start) / (period.end - period.start)
        return 1.0 if wide <= _WIDEST else _WIDEST / wide
    away = max(period.start - end, start - period.end)
    return next((share for limit, share in _TIME_SHARES if away <= limit), 0.0)
