"""Supersession: which of the best candidates say that something has changed since others of them.

It stands alone because nothing else compares candidates with each other. A later text that says what has become of an earlier
one, or gives another value, is lifted to the score of that one. An earlier text is left out if the later one takes its place:
*The bin goes out on Thursdays*, *The bin goes out on Fridays now*. Two modules say which texts update others, and how:
`memory/language/changes/updates.py` by words of an ending, of a state, or nearly equal texts, `memory/language/changes/new_values.py` by
another value.
"""

from collections import defaultdict
from collections.abc import Iterator
from collections.abc import Set as AbstractSet
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mnestic.memory.language.changes.change_words import stems_of
from mnestic.memory.language.changes.earlier_values import (
    EarlierQuestion,
    is_earlier_value,
    names_value,
)
from mnestic.memory.language.changes.new_values import ValueChange, find_change
from mnestic.memory.language.changes.statements import begins_later
from mnestic.memory.language.changes.update_texts import UpdateText
from mnestic.memory.language.changes.updates import Update, update_of
from mnestic.memory.retrieval.candidates import Candidates, RankingQuery, Values

_COMPARED = 40  # of the best candidates are compared with each other
_UPDATED = 10  # of them, the first, are compared with later ones that may have other words
_ALIKE = 0.5  # of the best score that both candidates need, for one to replace the other
_EQUAL = 0.6  # of the best score, from which on an entry with the same words of the query answers as well
_ABOVE = 0.01  # by how much the earlier text ranks above the later one, if the query asks for it
_REPLACEMENTS = frozenset({"restated", "replaced"})  # updates of which the earlier text is left out
_COMPARABLE = 0.25  # of the score of an earlier text, from which on a later one may give another value without a word of change
_LEAST_WEIGHT = 1e-6  # of words, so that nothing is divided by 0


def apply_supersession(
    candidates: Candidates, query: RankingQuery, *, total: Values
) -> tuple[Values, Values]:
    """How far entries are lifted that supersede earlier ones, and which entries are replaced.

    Of equal scores the later entry comes first. A question supersedes nothing. A query with a period may mean the earlier
    value, so nothing changes.

    Args:
        candidates: The candidates.
        query: The query.
        total: Their total scores.
    """
    rows = candidates.rows
    lifted, replaced = np.zeros(len(rows)), np.zeros(len(rows), dtype=bool)
    has_terms = query.weights or (query.names and query.earlier is not None)
    if not has_terms or query.period is not None:
        return lifted, replaced
    best = _Best(candidates, query, total=total)
    if query.earlier is not None:
        return _lift_earlier(best, query.earlier, total=total), replaced
    for new, old, is_replaced in best.updates():
        lifted[new] = max(lifted[new], total[old] - total[new])
        replaced[old] |= is_replaced and not query.includes_past
    return lifted, replaced


def is_ahead(candidates: Candidates, query: RankingQuery) -> Values:
    """Which candidates are dated in the future, so that they say nothing about what is so now."""
    until = query.present_until
    ahead: Values = candidates.rows["at"] > (np.inf if until is None else until.timestamp())
    return ahead


def order_boost(candidates: Candidates, query: RankingQuery, total: Values) -> Values:
    """How far the answers that are as good as the best are lifted, so that the latest or the first comes first."""
    boost, rows = np.zeros(len(total)), candidates.rows
    if query.requested_order is None or not len(total):
        return boost
    best = int(np.argmax(total * ~rows["asks"]))
    equal = (total >= _EQUAL * total[best]) & (rows["lexemes"] == rows["lexemes"][best])
    equal &= (
        ~rows["asks"] & (rows["concern"] == rows["concern"][best]) & ~is_ahead(candidates, query)
    )
    places = np.flatnonzero(equal)
    in_order = places[np.argsort(rows["at"][places], kind="stable")]
    if query.requested_order == "first":
        in_order = in_order[::-1]
    boost[in_order] = total[best] + _ABOVE * np.arange(len(in_order)) - total[in_order]
    return boost


class _Update(NamedTuple):
    """A later candidate and an earlier one that it updates, by index, and whether it takes the other's place."""

    new: int
    old: int
    is_replaced: bool


class _Best:
    """The best candidates that ask nothing, compared with each other.

    Args:
        candidates: The candidates.
        query: The query.
        total: Their total scores.
    """

    def __init__(self, candidates: Candidates, query: RankingQuery, *, total: Values) -> None:
        self._candidates, self._query, self._total = candidates, query, total
        self._rows = candidates.rows
        best = candidates.ordered(total)[:_COMPARED]
        self.at = self._rows["at"]
        self.places = best[~self._rows["asks"][best]]
        self._ahead = is_ahead(candidates, query)
        names = stems_of(" ".join((*filter(str.isalpha, query.names), *query.proper_names)))
        self.texts = {
            place: UpdateText(
                text.content,
                query_stems=query.stems,
                names=names,
                predicates=query.predicates,
                speaker=text.speaker,
                requested=query.requested,
            )
            for place in self.places.tolist()
            for text in [candidates.texts[place]]
        }

    def updates(self) -> Iterator[_Update]:
        """The updates by later candidates that concern the same, whatever the scores of the later ones."""
        rows, later, total = self._rows, self.places, self._total
        if not len(later):
            return
        weights, has_word = self._words()
        least = 0.0 if self._query.earlier else _ALIKE * total[later[0]]
        known = np.bitwise_or.reduce(has_word) @ weights  # of no word that none has
        for old in later[:_UPDATED].tolist():
            if total[old] < least:
                continue
            may_update = (rows["at"][later] > rows["at"][old]) & self._may_be_new(old)
            is_of_old = has_word[later == old][0]
            common = (has_word & is_of_old) @ weights
            asked = max(float(is_of_old @ weights), _LEAST_WEIGHT)
            is_comparable = rows["revises"][later] | (total[later] >= _COMPARABLE * total[old])
            has_same_words = (has_word >= is_of_old).all(axis=1) & has_word.any(axis=1)
            for place in np.flatnonzero(may_update).tolist():
                update, change = self._compared(
                    old,
                    int(later[place]),
                    has_same_words=bool(has_same_words[place]),
                    is_comparable=bool(is_comparable[place]),
                    common=common[place] / asked,
                    covered=common[place] / max(known, _LEAST_WEIGHT),
                )
                if update is not None or change is not None:
                    is_replacement = not _REPLACEMENTS.isdisjoint((update, change))
                    yield self._update(old, int(later[place]), is_replacement=is_replacement)

    def _words(self) -> tuple[Values, Values]:
        """The weights of the words of the query, and which of them each candidate has; if it has but names, of these."""
        query = self._query
        if query.weights:
            bits = np.arange(len(query.weights))
            return np.array(query.weights), self._rows["lexemes"][self.places, None] >> bits & 1
        stems = sorted(query.stems)
        has_stem = [[one in text.stems for one in stems] for text in self.texts.values()]
        return np.ones(len(stems)), np.array(has_stem, dtype=np.int64)

    def _compared(
        self,
        old: int,
        new: int,
        *,
        has_same_words: bool,
        is_comparable: bool,
        common: float,
        covered: float,
    ) -> tuple[Update | None, ValueChange | None]:
        """How a later candidate updates an earlier one, and whether it gives another value."""
        first, second, update = self.texts[old], self.texts[new], None
        if has_same_words or second.says_change:
            update = update_of(first, second)
        if update in _REPLACEMENTS or not (update or is_comparable):
            return update, None
        return update, find_change(
            first,
            second,
            common=common,
            covered=covered,
        )

    def _update(self, old: int, new: int, *, is_replacement: bool) -> _Update:
        is_replaced = (
            is_replacement
            and bool(self._query.weights)
            and self._total[new] >= _ALIKE * self._total[old]
            and not _is_to_come(self._candidates, self._query, new)
        )
        return _Update(new, old, is_replaced)

    def earlier_values(self, boundary: AbstractSet[str]) -> Iterator[_Update]:
        """Candidates that say what was so before others, with these, as far as a question for that makes it plain."""
        names = stems_of(" ".join(self._query.names)) if self._query.weights else frozenset[str]()
        for old in self.places.tolist():
            for new in self.places[self._may_be_new(old) & (self.places != old)].tolist():
                if is_earlier_value(
                    self.texts[old],
                    self.texts[new],
                    boundary=boundary,
                    is_before=bool(self.at[old] < self.at[new]),
                    names=names,
                ):
                    yield _Update(new, old, is_replaced=False)

    def _may_be_new(self, old: int) -> Values:
        """Which candidates concern whom an earlier one concerns, and are not of a time to come."""
        may_be: Values = ~self._ahead[self.places] & _concern_same(
            self._candidates, self.places, old
        )
        return may_be


def _lift_earlier(best: _Best, earlier: EarlierQuestion, *, total: Values) -> Values:
    """How far candidates are lifted that say what was so before others, above these.

    Of several the last comes first, or the first if the question asks for what was so originally.
    """
    boundary = earlier.boundary
    bounds = {
        place for place, text in best.texts.items() if boundary and names_value(text, boundary)
    }
    later: defaultdict[int, set[int]] = defaultdict(set)
    for new, old, _ in (
        *best.updates(),
        *best.earlier_values(boundary if bounds else frozenset()),
    ):
        if old not in bounds:
            later[old].add(new)
    level: dict[int, float] = {}
    at = best.at
    for old in sorted(later, key=at.__getitem__, reverse=earlier.is_original):
        above = [total[new] for new in later[old]]
        above += [level[new] for new in later[old] if earlier.is_original and new in level]
        above += [height for one, height in level.items() if old in later[one]]
        level[old] = max(above) + _ABOVE
    lifted = np.zeros(len(total))
    for old, height in level.items():
        lifted[old] = max(0.0, height - total[old])
    return lifted


def _is_to_come(candidates: Candidates, query: RankingQuery, place: int) -> bool:
    """Whether a text says of a later time that something is so from then on."""
    text = candidates.texts[place]
    is_later = any(start > query.asked_at for start, _ in text.times)
    return is_later and begins_later(text.content)


def _concern_same(candidates: Candidates, places: NDArray[np.intp], old: int) -> Values:
    """Which candidates concern whom an earlier one concerns, or are of the same speaker and about nobody else."""
    rows, speaker = candidates.rows, candidates.texts[old].speaker
    by_same = [
        speaker != "" and speaker == text.speaker and text.subjects <= {speaker}
        for text in (candidates.texts[place] for place in places.tolist())
    ]
    same: Values = (rows["concern"][places] == rows["concern"][old]) | np.array(by_same, dtype=bool)
    return same
