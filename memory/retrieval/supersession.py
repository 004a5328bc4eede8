"""Supersession: which of the best candidates say that something has changed since others of them.

It stands alone because nothing else compares candidates with each other. A later text that says what has become of an earlier
one, or gives another value, is lifted to the score of that one. An earlier text is left out if the later one takes its place:
*The bin goes out on Thursdays*, *The bin goes out on Fridays now*. Two modules say which texts update others, and how:
`memory/language/updates.py` by words of an ending, of a state, or nearly equal texts, `memory/language/new_values.py` by
another value.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mnestic.memory.language.new_values import find_change
from mnestic.memory.language.statements import begins_later
from mnestic.memory.language.updates import UpdateText, update_of
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
    if not query.weights or query.period is not None:
        return lifted, replaced
    for new, old, is_replaced in _updates(candidates, query, total=total):
        # The later text is lifted to the earlier one, or the other way round if the query asks for what was so before.
        first, second = (old, new) if query.asks_for_earlier else (new, old)
        above = total[second] - total[first] + _ABOVE * query.asks_for_earlier
        lifted[first] = max(lifted[first], above)
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


def _updates(candidates: Candidates, query: RankingQuery, *, total: Values) -> Iterator[_Update]:
    """The updates of the best candidates by later ones that concern the same, whatever the scores of the later ones.

    Args:
        candidates: The candidates.
        query: The query.
        total: Their total scores.
    """
    rows = candidates.rows
    later = candidates.ordered(total)[:_COMPARED]
    later = later[~rows["asks"][later]]
    if not len(later):
        return
    least = 0.0 if query.asks_for_earlier else _ALIKE * total[later[0]]
    texts = {
        place: UpdateText(
            text.content, query_stems=query.stems, predicates=query.predicates, speaker=text.speaker
        )
        for place in later.tolist()
        for text in [candidates.texts[place]]
    }
    words, ahead = rows["lexemes"][later], is_ahead(candidates, query)
    has_word = words[:, None] >> np.arange(len(query.weights)) & 1
    known = np.bitwise_or.reduce(has_word) @ query.weights  # of no word that none has
    for old in later[:_UPDATED].tolist():
        if total[old] < least:
            continue
        may_update = (rows["at"][later] > rows["at"][old]) & ~ahead[later]
        may_update &= _concern_same(candidates, later, old)
        is_of_old = has_word[later == old][0]
        common = (has_word & is_of_old) @ query.weights
        asked = max(float(is_of_old @ query.weights), _LEAST_WEIGHT)
        is_comparable = rows["revises"][later] | (total[later] >= _COMPARABLE * total[old])
        has_same_words = (words & rows["lexemes"][old] == rows["lexemes"][old]) & (words > 0)
        for place in np.flatnonzero(may_update).tolist():
            new = int(later[place])
            update, change = None, None
            if has_same_words[place] or texts[new].says_change:
                update = update_of(texts[old], texts[new])
            if update not in _REPLACEMENTS and (update or is_comparable[place]):
                change = find_change(
                    texts[old],
                    texts[new],
                    common=common[place] / asked,
                    covered=common[place] / max(known, _LEAST_WEIGHT),
                    asks_for_time=query.asks_for_time,
                )
            if update is not None or change is not None:
                is_replaced = (
                    not _REPLACEMENTS.isdisjoint((update, change))
                    and total[new] >= _ALIKE * total[old]
                    and not _is_to_come(candidates, query, new)
                )
                yield _Update(new, old, is_replaced)


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
