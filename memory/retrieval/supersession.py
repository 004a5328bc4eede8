"""Revisions: which of the best candidates say that something is different from before, and of which others.

It stands alone because it alone compares candidates with each other. A later text with a word of change is lifted to
what it revises. What it replaces is left out: that says the same with one other time, number or name, as *The bin goes
out on Thursdays* does beside *The bin goes out on Fridays now*, or is what the later one denies. Replacement is English
alone. All of this only helps: what was learned as a fact is revised by facts.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain

import numpy as np

from mnestic.memory.language.change_words import (
    CHANGES,
    ENDING,
    GOES_ON,
    IS_NEW,
    OF_CHANGE,
    may_change,
)
from mnestic.memory.language.sentences import split_sentences
from mnestic.memory.language.statements import Clause, Kind, Statements
from mnestic.memory.language.terms import terms_of
from mnestic.memory.retrieval.candidates import Candidates, RankingQuery, Values

_COMPARED = 60  # the best candidates, of which some may revise others
_COMMON = 0.5  # of the words of the question, from where what has them may revise what has them too
_ALIKE = 0.5  # of the best score, from where one candidate may replace another
_BEGINNING = 1000  # characters that are looked at
# Words in common, or a name, where the later text may leave a word of the earlier one out, as "home" of a home match.
_ENOUGH = 3
_LEAST = 2  # words that a denial shares with what it denies
_MORE = 3  # words and names from where another sentence says something else

Change = Sequence[Sequence[str]]  # the terms of its clauses, from where its sentence begins


def apply_supersession(
    candidates: Candidates, query: RankingQuery, *, words: Values, fact_match: Values, total: Values
) -> tuple[Values, Values]:
    """How much those that revise others are lifted to them, which came earlier with the same words; and what is replaced.

    Of the same score the later one comes first. A question revises nothing; where a time is asked about, what was so
    then may be meant; and what was learned as the answer is revised by what was learned alone.

    Args:
        candidates: What was found.
        query: The query.
        words: The scores of their words.
        fact_match: The scores of their facts.
        total: Their whole scores.
    """
    rows = candidates.rows
    lifted, replaced = np.zeros(len(rows)), np.zeros(len(rows), dtype=bool)
    best = candidates.ordered(total)[:_COMPARED]
    best = best[(words[best] > 0) & ~rows["asks"][best]]
    revising = best[rows["revises"][best]]
    if not query.weights or query.period is not None or not len(revising):
        return lifted, replaced
    weights, bits = np.array(query.weights), np.arange(len(query.weights))
    new, old = rows[revising][:, None], rows[best]
    both = new["lexemes"] & old["lexemes"]
    is_used = np.bitwise_or.reduce(rows["lexemes"]) >> bits & 1  # no word parts that none has
    common = (both[..., None] >> bits & 1) @ weights
    may_revise = (both != 0) & (common >= _COMMON * (weights @ is_used))
    may_revise &= (new["at"] > old["at"]) & (new["concern"] == old["concern"])
    may_revise &= fact_match[best] <= fact_match[revising, None]
    above = np.maximum(0, total[best] - total[revising, None]) * may_revise
    compared = _Comparison(candidates, query)
    for place, row in zip(revising.tolist(), above, strict=True):
        most_first = np.argsort(-row, kind="stable")[: np.count_nonzero(row)].tolist()
        lifted[place] = next(
            (row[one] for one in most_first if compared.revises(place, int(best[one]))), 0.0
        )
    if not query.includes_past:
        scores_well = total >= _ALIKE * total[best[0]]
        pairs = may_revise & (both == old["lexemes"])
        pairs &= scores_well[revising][:, None] & scores_well[best]
        for one in np.flatnonzero(pairs.any(axis=1)).tolist():
            others = best[pairs[one] & ~replaced[best]].tolist()
            replaced[compared.replaced(others, by=int(revising[one]))] = True
    return lifted, replaced


class _Comparison:
    """Candidates of one question as they are compared with each other, by their places."""

    def __init__(self, candidates: Candidates, query: RankingQuery) -> None:
        self._query, self._rows, self._texts = query, candidates.rows, candidates.texts
        self._clauses: dict[int, Statements] = {}

    def revises(self, new: int, old: int) -> bool:
        """Whether a later text says what has changed of what an earlier one is about."""
        terms = [self._texts[place].terms() for place in (new, old)]
        if self._query.asks_for_time and ENDING.isdisjoint(terms[0]):
            new_tells, old_tells = (
                bool(self._rows["names_time"][place]) or has_figure(self._texts[place].terms())
                for place in (new, old)
            )
            if old_tells and not new_tells:
                return False
        lexemes = [int(self._rows["lexemes"][place]) for place in (new, old)]
        lacking = (lexemes[1] & ~lexemes[0]).bit_count()
        changes = changes_of(self._texts[new].content) if lacking else ()
        return is_of_same(*terms, lacking=lacking, changes=changes)

    def replaced(self, others: Sequence[int], *, by: int) -> list[int]:
        """Which of some earlier texts a later one replaces."""
        later, new = self._texts[by], self._statements(by)
        if not new.may_replace:
            return []
        if new.begins_later and any(start > self._query.asked_at for start, _ in later.times):
            return []  # it is not so yet
        return [place for place in others if self._replaces(by, place)]

    def _replaces(self, new: int, old: int) -> bool:
        about, others = (self._about(place) for place in (new, old))
        if about and others and about.isdisjoint(others):
            return False
        by_same = self._texts[new].speaker == self._texts[old].speaker != ""
        return replaces(self._statements(new), self._statements(old), by_same=by_same)

    def _about(self, place: int) -> frozenset[str]:
        """Whom a text is about beside who says it; *Mara's sister* is of Mara."""
        text = self._texts[place]
        return frozenset(key.partition("'s ")[0] for key in text.subjects - {text.speaker})

    def _statements(self, place: int) -> Statements:
        if place not in self._clauses:
            self._clauses[place] = Statements(self._texts[place].content)
        return self._clauses[place]


def is_of_same(
    new: Sequence[str], old: Sequence[str], *, lacking: int, changes: Iterable[Change] = ()
) -> bool:
    """Whether a later text, which has a word of change, says it of what an earlier one is about.

    What is new has to be what the earlier one speaks of (a *new vet* is no *new leash*). Where it lacks words
    of the question that the earlier one has, it may put no more in the place of what that says than that says
    itself: *the code of the attic has changed to 2222* says nothing of *the code of the cellar is 1111*.

    Args:
        new: The terms of the later text, in their order.
        old: Those of the earlier one.
        lacking: How many words of the question the earlier one has and the later one lacks.
        changes: What the later one says to have changed, if it lacks any.
    """
    known = frozenset(old)
    is_new = [place for place, term in enumerate(new) if term in IS_NEW]
    if is_new and OF_CHANGE.isdisjoint(frozenset(new) - IS_NEW):
        following = {new[place + 1] for place in is_new if place + 1 < len(new)}
        if following.isdisjoint(known):
            return False
    if not lacking:
        return True
    of_known = [change for change in changes if not known.isdisjoint(chain(*change))]
    added = min(len(_put_in_place(change, known)) for change in (*of_known, (new,)))
    return added <= len(known - frozenset(new)) - lacking


def changes_of(text: str) -> Iterator[Change]:
    """What a text says with a word of change: each sentence that has one, by its clauses, and the sentence after it."""
    # Long gaps would take long to look at.
    spaced = [" ".join(sentence.split()) for sentence in split_sentences(text[:_BEGINNING])]
    for place, sentence in enumerate(spaced):
        if may_change(sentence) and (match := CHANGES.search(sentence)):
            clause, *more = GOES_ON.split(sentence[match.end() :])
            clauses = (sentence[: match.end()] + clause, *more, *spaced[place + 1 : place + 2])
            yield tuple(map(terms_of, clauses))


def _put_in_place(change: Change, known: frozenset[str]) -> frozenset[str]:
    """What a change puts in the place of what is known; a clause after that one only says more of it."""
    terms: frozenset[str] = frozenset()
    for clause in change:
        terms |= frozenset(clause)
        if terms & known and (added := terms - known - OF_CHANGE):
            return added
    return terms - known - OF_CHANGE


def has_figure(terms: Sequence[str]) -> bool:
    """Whether a text has a number, as those do that name a time."""
    return any(term[0].isdigit() for term in terms)


def replaces(new: Statements, old: Statements, *, by_same: bool) -> bool:
    """Whether a later text says another value in the place of one of an earlier text, or denies it.

    Args:
        new: The later text.
        old: The earlier one.
        by_same: Whether the same person said both, so that *my* is the same one's.
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
    """The kind of the one value that a clause has, and no other word, more than what was said before."""
    added = [word for term, word in change.terms.items() if term not in before]
    if len({word.kind for word in added}) != 1 or added[0].kind == "word":
        return None
    kind = added[0].kind
    if kind == "time":
        return kind
    row, *others = {word.row for word in added}
    # A name or a number with more words behind it says of what it is, unless somebody takes over.
    is_last = change.has_taker or row == max(word.row for word in change.terms.values())
    is_one_of_many = kind == "name" and change.has_many
    return None if others or is_one_of_many or not is_last else kind


def _is_in_place(change: Clause, kind: Kind, old: Clause, *, whole: frozenset[str]) -> bool:
    """Whether a clause says the same with another value of a kind, and has no other value that is gone."""
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
    """Whether a clause is what another says to be so no more: that has no other words, and hardly fewer."""
    if old.denies or len(by.terms) < _LEAST or not by.terms.keys() <= old.terms.keys():
        return False
    left = old.left(by.terms)
    return not left or (left == ["word"] and len(by.terms) >= _ENOUGH)


def _stands_alike(change: Clause, old: Clause) -> bool:
    """Whether the last name follows the same preposition as one of the other's, or what it changed to: *is Petra* and *is in Rome* do not."""
    *_, last = (word.preposition for word in change.terms.values() if word.kind == "name")
    others = {word.preposition for word in old.terms.values() if word.kind == "name"}
    return last in others or "to" in {last, *others}


def _says_more(old: Statements, said: Clause, whole: frozenset[str]) -> bool:
    """Whether the rest of a text says something else: whom a clause names, or what other sentences say."""
    for clause in old.clauses:
        left = clause.left(whole)
        if clause.sentence == said.sentence:
            if clause is not said and not clause.denies and {"name", "word"} <= {*left}:
                return True
        elif left.count("word") + left.count("name") >= _MORE:
            return True
    return False
