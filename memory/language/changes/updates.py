"""Updates: whether a later text says what has become of something that an earlier one says.

It stands apart from supersession, which scores by it, because it compares two texts and knows no candidates. A later text
updates an earlier one if it says that the earlier value has ended (*quit Acme*), if it puts whoever it is about into another state
that the query asks for (*moved to Emden*), or if both say the same but for one value. What an extractor learned from either does
not matter, since it may have missed the change.
"""

import re
from collections.abc import Iterable
from collections.abc import Set as AbstractSet
from itertools import takewhile
from typing import Literal

from mnestic.memory.language.changes.change_words import change_words, is_revision, stem, stems_of
from mnestic.memory.language.changes.statements import Clause, Kind
from mnestic.memory.language.changes.update_texts import UpdateText, asides
from mnestic.memory.language.terms import terms_of

_OTHER_WORDS = 6  # by how many words two texts may differ that say the same but for one value
_OTHER_PERSON = re.compile(r"\b(?:he|she|they|it|you)\b", re.IGNORECASE)

Update = Literal["ended", "changed", "restated"]


def update_of(old: UpdateText, new: UpdateText) -> Update | None:
    """How a later text of the same person, or about the same, updates an earlier one; None if it does not."""
    if new.says_change:
        if _ends(old, new):
            return "ended"
        if any(_is_of_same(old, new, subject) for subject in new.entered):
            return "changed"
    return "restated" if _restates(old, new) else None


def _ends(old: UpdateText, new: UpdateText) -> bool:
    """Whether a later text says that something has ended that the query is about, or the value that it asks for."""
    if not old.stems & new.stems:
        return False
    if any(rejected and rejected <= old.answer for rejected in new.rejected):
        return True
    known = old.stems | old.query_stems | asides()
    asked = old.stems & old.query_stems
    besides = asked - old.names or asked
    for ending in new.ended:
        if not _is_of_same(old, new, ending.before, known=old.stems):
            continue
        after = [*map(stem, terms_of(ending.after))]
        is_left = not ending.precedes and asides().issuperset(after)  # *Els left*
        is_before = ending.precedes or is_left
        found = stems_of(ending.before) if is_before else {*takewhile(known.__contains__, after)}
        if old.value and (old.value <= found or found & old.heads):
            return True
        is_asked = ending.precedes or (ending.gives_up and _is_by_subject(old, new, ending.before))
        # *Alpenhof is closed in August* ends no *customer number at Alpenhof*; *Alpenhof has closed* does.
        if is_asked and found & (besides if {*after} - asides() else asked):
            return True
    return False


def _is_by_subject(old: UpdateText, new: UpdateText, subject: str) -> bool:
    """Whether somebody of whom an earlier text speaks ends something: *Ana likes sushi*, *Ana has gone off sushi*."""
    both = old.statements.is_first_person and new.statements.is_first_person
    return both or bool(stems_of(subject) & old.stems & old.query_stems)


def _is_of_same(
    old: UpdateText, new: UpdateText, subject: str, *, known: AbstractSet[str] = frozenset()
) -> bool:
    """Whether a clause that begins like this is about the one whom the query or an earlier text is about."""
    stems = stems_of(subject) - asides()
    if not stems <= old.query_stems | known:
        return False
    if _OTHER_PERSON.search(subject):
        return not old.statements.is_first_person
    return bool(stems) or old.speaker == new.speaker


def _restates(old: UpdateText, new: UpdateText) -> bool:
    """Whether two texts say of one thing what it is, and differ in one number, time or code alone, or in a name that is a change."""
    if not (old.states_value and new.states_value):
        return False
    if len(old.stems ^ new.stems) > _OTHER_WORDS or not old.stems & new.stems & old.query_stems:
        return False
    first, second = old.statements, new.statements
    is_own = first.is_first_person or second.is_first_person
    if is_own and (first.is_first_person != second.is_first_person or old.speaker != new.speaker):
        return False
    if change_words().unchanged.search(new.text) is not None:  # *on Fridays, too*
        return False
    if len(first.clauses) != 1 or len(second.clauses) != 1:
        return False
    kinds: set[Kind] = {"number", "time", "name"} if is_revision(new.text) else {"number", "time"}
    return _differ_in_value(first.clauses[0], second.clauses[0], kinds=kinds)


def _differ_in_value(old: Clause, new: Clause, *, kinds: AbstractSet[Kind]) -> bool:
    """Whether the last words of two clauses, which are all of one kind, are the only ones that differ."""
    gone = {term: word for term, word in old.terms.items() if term not in new.terms}
    added = {term: word for term, word in new.terms.items() if term not in old.terms}
    if not gone or not added or old.has_many or new.has_many or old.denies or new.denies:
        return False
    if old.times != new.times or _has_digit(gone) != _has_digit(added):
        return False  # both may be one value in two forms, as *11:30* and *half past eleven*
    last = [max(word.row for word in clause.terms.values()) for clause in (old, new)]
    differing = {word.kind for words in (gone, added) for word in words.values()}
    before, after = ({word.preposition for word in words.values()} for words in (gone, added))
    return (
        len(differing) == 1
        and differing <= kinds
        and (differing != {"name"} or before == after)  # *is Petra*, *is in Rome*
        and all(
            {word.row for word in words.values()} == {row}
            for words, row in zip((gone, added), last, strict=True)
        )
    )


def _has_digit(terms: Iterable[str]) -> bool:
    return any(char.isdigit() for term in terms for char in term)
