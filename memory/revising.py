"""Revising: which of the best candidates say that something is another than before, and of which others.

It stands apart from the other signals because it alone compares candidates with each other. By what one text
revises or replaces another stands in `revisions` and `replacements`.
"""

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from mnestic.memory.candidates import Asked, Candidates, CandidateText, Values
from mnestic.memory.replacements import replaces
from mnestic.memory.revisions import has_figure, is_end, is_instead, is_of_same

_COMPARED = 60  # the best, of which some may revise others
_COMMON = 0.5  # of the words of the question, from where what has them may revise what has them too
_ALIKE = 0.5  # of what the best says, from where one may be in the place of another


def revise(
    candidates: Candidates, asked: Asked, *, words: Values, learned: Values, total: Values
) -> tuple[Values, Values]:
    """How much those that revise others are lifted to them, which came earlier with the same words; and what is replaced.

    Of the same score the later one is told first. Who asks tells nothing, where a time is asked about, what
    was so then may be meant, and what was learned as the answer is revised by what was learned alone.

    Args:
        candidates: What was found.
        asked: The question.
        words: What their words say.
        learned: What was learned from them says.
        total: All that speaks for them.
    """
    rows = candidates.rows
    lifted, replaced = np.zeros(len(rows)), np.zeros(len(rows), dtype=bool)
    best = candidates.ordered(total)[:_COMPARED]
    best = best[(words[best] > 0) & ~rows["asks"][best]]
    revising = best[rows["revises"][best]]
    if not asked.weights or asked.period is not None or not len(revising):
        return lifted, replaced
    weights, bits = np.array(asked.weights), np.arange(len(asked.weights))
    new, old = rows[revising][:, None], rows[best]
    both = new["lexemes"] & old["lexemes"]
    is_used = np.bitwise_or.reduce(rows["lexemes"]) >> bits & 1  # no word parts that none has
    common = (both[..., None] >> bits & 1) @ weights
    may_revise = (both != 0) & (common >= _COMMON * (weights @ is_used))
    may_revise &= (new["at"] > old["at"]) & (new["concern"] == old["concern"])
    may_revise &= learned[best] <= learned[revising, None]
    above = np.maximum(0, total[best] - total[revising, None]) * may_revise
    compared = _Compared(candidates, asked, best)
    for place, row in zip(revising.tolist(), above, strict=True):
        most_first = np.argsort(-row, kind="stable")[: np.count_nonzero(row)].tolist()
        lifted[place] = next(
            (row[one] for one in most_first if compared.is_of_same(place, int(best[one]))), 0.0
        )
    if not asked.tells_past:
        says_much = total >= _ALIKE * total[best[0]]
        pairs = may_revise & (both == old["lexemes"])
        pairs &= says_much[revising][:, None] & says_much[best]
        for one in np.flatnonzero(pairs.any(axis=1)).tolist():
            others = best[pairs[one] & ~replaced[best]].tolist()
            replaced[compared.replaced(others, by=int(revising[one]))] = True
    return lifted, replaced


class _Compared:
    """The best candidates as they are compared with each other, by their places."""

    def __init__(self, candidates: Candidates, asked: Asked, best: NDArray[np.intp]) -> None:
        self._asked, self._texts, self._best = asked, candidates.texts, best
        self._at, self._concern, self._lexemes, self._tells_when = (
            candidates.rows[name][best] for name in ("at", "concern", "lexemes", "names_time")
        )
        self._among = {place: one for one, place in enumerate(best.tolist())}
        self._is_instead: dict[tuple[int, int], bool] = {}

    def is_of_same(self, new: int, old: int) -> bool:
        """Whether a later text says what has changed of what an earlier one is about."""
        said = [self._texts[place].terms() for place in (new, old)]
        if self._asked.asks_when and not is_end(said[0]):
            told = [bool(self._tells_when[self._among[place]]) for place in (new, old)]
            figures = [has_figure(terms) for terms in said]
            if not (told[0] or figures[0]) and (told[1] or figures[1]):
                return False
        lexemes = [int(self._lexemes[self._among[place]]) for place in (new, old)]
        lacking = (lexemes[1] & ~lexemes[0]).bit_count()
        changes = self._texts[new].changes() if lacking else ()
        if changes and self._is_of_another(new, lexemes[0] & lexemes[1]):
            return False
        return is_of_same(*said, lacking=lacking, changes=changes)

    def _is_of_another(self, new: int, both: int) -> bool:
        """Whether a change puts one thing for one in the place of what an earlier text says, which has no other words."""
        if (new, both) not in self._is_instead:
            one = self._among[new]
            others = (self._lexemes == both) & (self._at < self._at[one])
            others &= self._concern == self._concern[one]
            changes = self._texts[new].changes()
            self._is_instead[new, both] = any(
                is_instead(changes, self._texts[place].terms())
                for place in self._best[others].tolist()
            )
        return self._is_instead[new, both]

    def replaced(self, others: Sequence[int], *, by: int) -> list[int]:
        """Which of some earlier texts a later one replaces."""
        later = self._texts[by]
        new, about = later.told(), _about(later.subjects, later.speaker)
        if not new.may_replace:
            return []
        if new.begins_later and any(start > self._asked.asked_at for start, _ in later.times):
            return []  # it is not so yet
        return [place for place in others if self._replaces(later, about, self._texts[place])]

    def _replaces(
        self, later: CandidateText, about: AbstractSet[str], earlier: CandidateText
    ) -> bool:
        others = _about(earlier.subjects, earlier.speaker)
        if about and others and about.isdisjoint(others):
            return False
        by_same = later.speaker == earlier.speaker != ""
        return replaces(later.told(), earlier.told(), by_same=by_same)


@lru_cache(10_000)
def _about(subjects: frozenset[str], speaker: str) -> frozenset[str]:
    """Whom a text is about beside who says it; *Mara's sister* is of Mara."""
    return frozenset(key.partition("'s ")[0] for key in subjects - {speaker})
