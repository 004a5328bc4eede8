"""Supersession: which of the best candidates say that something has changed since others of them.

It stands alone because nothing else compares candidates with each other. A later text that says what has become of an earlier
one, or gives another value, is lifted to the score of that one. An earlier text is left out if the later one replaces it: the two differ in
one time, number or name (*The bin goes out on Thursdays*, *The bin goes out on Fridays now*), or the later one denies
the earlier one. Replacement works in English alone.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mnestic.memory.language.new_values import find_change
from mnestic.memory.language.statements import Clause, Kind, Statements
from mnestic.memory.language.updates import UpdateText, update_of
from mnestic.memory.retrieval.candidates import Candidates, RankingQuery, Values

_COMPARED = 60  # of the best candidates are compared with each other
_UPDATED = 10  # of them, the first, are compared with later ones that may have other words
_COMMON = 0.5  # of the words of the query that two texts have to share
_ALIKE = 0.5  # of the best score that both candidates need, for one to replace the other
_EQUAL = 0.6  # of the best score, from which on an entry with the same words of the query answers as well
_ABOVE = 0.01  # by how much the earlier text ranks above the later one, if the query asks for it
_REPLACEMENTS = frozenset({"restated", "replaced"})  # updates of which the earlier text is left out
_COMPARABLE = 0.25  # of the score of an earlier text, from which on a later one may give another value without a word of change
_LEAST_WEIGHT = 1e-6  # of words, so that nothing is divided by 0
# Common words, or a name, from which on the later text may lack one word of the earlier one, as "home" of a home match.
_ENOUGH = 3
_LEAST = 2  # words that a denial shares with what it denies
_MORE = 3  # words and names that make another sentence one about something else


def apply_supersession(
    candidates: Candidates, query: RankingQuery, *, words: Values, fact_match: Values, total: Values
) -> tuple[Values, Values]:
    """How far entries are lifted that supersede earlier ones, and which entries are replaced.

    Of equal scores the later entry comes first. A question supersedes nothing. A query with a period may mean the earlier
    value, so nothing changes. A fact is superseded by facts alone.

    Args:
        candidates: The candidates.
        query: The query.
        words: Their scores by words.
        fact_match: Their scores by facts.
        total: Their total scores.
    """
    rows = candidates.rows
    lifted, replaced = np.zeros(len(rows)), np.zeros(len(rows), dtype=bool)
    if not query.weights or query.period is not None:
        return lifted, replaced
    updates = [*_updates(candidates, query, total=total)]
    # The later text is lifted to the earlier one, or the other way round if the query asks for what was so before.
    for new, old, _ in updates:
        first, second = (old, new) if query.asks_for_earlier else (new, old)
        above = total[second] - total[first] + _ABOVE * query.asks_for_earlier
        lifted[first] = max(lifted[first], above)
    if not query.includes_past:
        revisions = _Revisions(candidates, query, words=words, fact_match=fact_match, total=total)
        replaced = revisions.replaced()
        replaced[[one.old for one in updates if one.is_replaced]] = True
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
            kind: str | None = None
            if has_same_words[place] or texts[new].says_change:
                kind = update_of(texts[old], texts[new])
            if kind is None and is_comparable[place]:
                kind = find_change(
                    texts[old],
                    texts[new],
                    common=common[place] / asked,
                    covered=common[place] / max(known, _LEAST_WEIGHT),
                    asks_for_time=query.asks_for_time,
                )
            if kind is not None:
                is_replaced = kind in _REPLACEMENTS and total[new] >= _ALIKE * total[old]
                yield _Update(new, old, is_replaced)


def _concern_same(candidates: Candidates, places: NDArray[np.intp], old: int) -> Values:
    """Which candidates concern whom an earlier one concerns, or are of the same speaker and about nobody else."""
    rows, speaker = candidates.rows, candidates.texts[old].speaker
    by_same = [
        speaker != "" and speaker == text.speaker and text.subjects <= {speaker}
        for text in (candidates.texts[place] for place in places.tolist())
    ]
    same: Values = (rows["concern"][places] == rows["concern"][old]) | np.array(by_same, dtype=bool)
    return same


class _Revisions:
    """Which of the best candidates have a word of change, and which of the others they may replace."""

    def __init__(
        self,
        candidates: Candidates,
        query: RankingQuery,
        *,
        words: Values,
        fact_match: Values,
        total: Values,
    ) -> None:
        rows = candidates.rows
        best = candidates.ordered(total)[:_COMPARED]
        best = best[(words[best] > 0) & ~rows["asks"][best]]
        revising = best[rows["revises"][best] & ~is_ahead(candidates, query)[best]]
        weights, bits = np.array(query.weights), np.arange(len(query.weights))
        new, old = rows[revising][:, None], rows[best]
        both = new["lexemes"] & old["lexemes"]
        is_used = np.bitwise_or.reduce(rows["lexemes"]) >> bits & 1  # no word parts that none has
        common = (both[..., None] >> bits & 1) @ weights
        may_revise = (both != 0) & (common >= _COMMON * (weights @ is_used))
        may_revise &= (new["at"] > old["at"]) & (new["concern"] == old["concern"])
        may_revise &= fact_match[best] <= fact_match[revising, None]
        self._best, self._revising, self._may_revise = best, revising, may_revise
        self._has_all = both == old["lexemes"]
        self._total, self._compared = total, _Comparison(candidates, query)

    def replaced(self) -> Values:
        """Which candidates a later one with a word of change replaces that scores as well."""
        total, best = self._total, self._best
        replaced = np.zeros(len(total), dtype=bool)
        if not len(self._revising):
            return replaced
        scores_well = total >= _ALIKE * total[best[0]]
        pairs = self._may_revise & self._has_all
        pairs &= scores_well[self._revising][:, None] & scores_well[best]
        for one in np.flatnonzero(pairs.any(axis=1)).tolist():
            others = best[pairs[one] & ~replaced[best]].tolist()
            replaced[self._compared.replaced(others, by=int(self._revising[one]))] = True
        return replaced


class _Comparison:
    """Comparisons between the candidates of one query, which are given by index."""

    def __init__(self, candidates: Candidates, query: RankingQuery) -> None:
        self._query, self._rows, self._texts = query, candidates.rows, candidates.texts
        self._clauses: dict[int, Statements] = {}

    def replaced(self, others: Sequence[int], *, by: int) -> list[int]:
        """Which of these earlier texts a later one replaces."""
        later, new = self._texts[by], self._statements(by)
        if not new.may_replace:
            return []
        if new.begins_later and any(start > self._query.asked_at for start, _ in later.times):
            return []  # the change is still to come
        return [place for place in others if self._replaces(by, place)]

    def _replaces(self, new: int, old: int) -> bool:
        about, others = (self._about(place) for place in (new, old))
        if about and others and about.isdisjoint(others):
            return False
        by_same = self._texts[new].speaker == self._texts[old].speaker != ""
        return replaces(self._statements(new), self._statements(old), by_same=by_same)

    def _about(self, place: int) -> frozenset[str]:
        """The subjects of a text without its speaker; *Mara's sister* counts as Mara."""
        text = self._texts[place]
        return frozenset(key.partition("'s ")[0] for key in text.subjects - {text.speaker})

    def _statements(self, place: int) -> Statements:
        if place not in self._clauses:
            self._clauses[place] = Statements(self._texts[place].content)
        return self._clauses[place]


def replaces(new: Statements, old: Statements, *, by_same: bool) -> bool:
    """Whether a later text states another value for one of an earlier text, or denies it.

    Args:
        new: The later text.
        old: The earlier one.
        by_same: Whether the same person said both, so that *my* has the same owner.
    """
    if not by_same and (new.is_first_person or old.is_first_person):
        return False
    added = [(change, kind) for change in new.changes if (kind := _added(change, old.terms))]
    return any(
        (
            any(_is_in_place(change, kind, clause, whole=new.terms) for change, kind in added)
            or any(_is_denied(clause, by=denial) for denial in new.denials)
        )
        and not _says_more(old, clause, new.terms)
        for clause in (old.clauses if added or new.denials else ())
    )


def _added(change: Clause, before: frozenset[str]) -> Kind | None:
    """The kind of the value that a clause adds to the earlier terms, if it adds one value and no other word."""
    added = [word for term, word in change.terms.items() if term not in before]
    if len({word.kind for word in added}) != 1 or added[0].kind == "word":
        return None
    kind = added[0].kind
    if kind == "time":
        return kind
    row, *others = {word.row for word in added}
    # A name or a number with more words behind it is no new value, unless somebody takes over.
    is_last = change.has_taker or row == max(word.row for word in change.terms.values())
    is_one_of_many = kind == "name" and change.has_many
    return None if others or is_one_of_many or not is_last else kind


def _is_in_place(change: Clause, kind: Kind, old: Clause, *, whole: frozenset[str]) -> bool:
    """Whether a clause states the same as an old one but for another value of this kind."""
    if kind not in {word.kind for word in old.terms.values()}:
        return False
    if kind == "time" and change.times != old.times:
        return False
    if kind == "name" and not change.has_taker and not _stands_alike(change, old):
        return False
    gone = old.left(whole)
    common = [word.kind for term, word in old.terms.items() if term in change.terms]
    words = common.count("word")
    is_sure = "name" in common or words >= _ENOUGH
    return words > 0 and gone.count("word") <= int(is_sure) and {*gone} <= {kind, "word"}


def _is_denied(old: Clause, *, by: Clause) -> bool:
    """Whether another clause denies this one: it has no other words, and hardly fewer."""
    if old.denies or len(by.terms) < _LEAST or not by.terms.keys() <= old.terms.keys():
        return False
    left = old.left(by.terms)
    return not left or (left == ["word"] and len(by.terms) >= _ENOUGH)


def _stands_alike(change: Clause, old: Clause) -> bool:
    """Whether the new name follows the same preposition as an old one, or *to*: *is Petra* and *is in Rome* do not match."""
    *_, last = (word.preposition for word in change.terms.values() if word.kind == "name")
    others = {word.preposition for word in old.terms.values() if word.kind == "name"}
    return last in others or "to" in {last, *others}


def _says_more(old: Statements, replaced: Clause, whole: frozenset[str]) -> bool:
    """Whether the rest of an old text says more: a clause with another name, or other sentences."""
    for clause in old.clauses:
        left = clause.left(whole)
        if clause.sentence == replaced.sentence:
            if clause is not replaced and not clause.denies and {"name", "word"} <= {*left}:
                return True
        elif left.count("word") + left.count("name") >= _MORE:
            return True
    return False
