"""Replacements: whether a later text takes the place of an earlier one altogether, so that nothing of that is so any more.

They stand apart from comparisons, since a text that gives another value need not repeat all else that the earlier one says.
"""

from collections.abc import Iterable, Sequence

from mnestic.memory.language.changes.comparisons import Comparison
from mnestic.memory.language.changes.statements import VALUES, Clause, Word, words_in

_ASIDES = 2  # words of another clause, none of them a name, that go with a text that is replaced


class Replacement(Comparison):
    """Two texts, of which the later may take the place of the other."""

    @property
    def takes_the_place(self) -> bool:
        """Whether nothing of the earlier text is so any more: the later one says that it has changed, or is so no more."""
        if self.missing or not self.changing:
            return False
        topical, others = self._old_clauses
        about = [self._clauses[place] for place in self.about]
        if any(clause.has_many for clause in (*topical, *about)):
            return False
        if any(map(self._is_of_more, others)):
            return False
        return self._denies or self._has_another_of_each_kind(topical)

    def _is_of_more(self, clause: Clause) -> bool:
        """Whether a clause of the earlier text says more than an aside, which the later text does not repeat."""
        kinds = [word.kind for word in self._gone_from([clause])]
        return "name" in kinds or kinds.count("word") > _ASIDES

    def _gone_from(self, clauses: Iterable[Clause]) -> list[Word]:
        """The words of clauses of the earlier text that the clauses of the later one about the same do not have."""
        still = {term for place in self.about for term in self._clauses[place].terms}
        gone = self._old.value - (frozenset() if self._names_value or self._replaces else still)
        return [word for term, word in words_in(clauses) if term in gone]

    def _has_another_of_each_kind(self, old: Sequence[Clause]) -> bool:
        """Whether it has another value for each that is gone: times of the same kinds, and names after the same prepositions.

        *My boss is in Rome now* has no other name for *My boss is Petra*.
        """
        gone = self._gone_from(old)
        values = {word.kind for word in gone} & VALUES
        if not values or not values <= self._added:
            return False
        if "time" in values and {one.times for one in old}.isdisjoint(
            one.times for one in self._adding
        ):
            return False
        if "name" not in values or any(one.has_taker for one in self._adding):
            return True
        before, after = (
            {word.preposition for word in words if word.kind == "name"}
            for words in (gone, self._added_words)
        )
        return "to" in before | after or not before.isdisjoint(after)
