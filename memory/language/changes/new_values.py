"""New values: whether a later text gives another value for what a query asks of an earlier one, in whatever words.

It stands apart from updates, which know the words of an ending or of one predicate, because it compares any two texts by
their clauses: *Staging was upgraded to Postgres 17* gives another version than *Staging runs Postgres 15*. A word of change is not
needed where both say what is so. Words are data, in `change_words.yaml`; clauses are told apart in English alone.
"""

from typing import Literal

from mnestic.memory.language.changes.change_words import change_words
from mnestic.memory.language.changes.comparisons import LEAST_COVERED
from mnestic.memory.language.changes.replacements import Replacement
from mnestic.memory.language.changes.update_texts import UpdateText

ValueChange = Literal["changed", "replaced"]


def find_change(
    old: UpdateText, new: UpdateText, *, common: float, covered: float
) -> ValueChange | None:
    """Whether a later text gives another value than an earlier one for what a query asks, or takes its place altogether.

    Args:
        old: The earlier text.
        new: The later one, of the same person or about the same.
        common: Of the weight of the query's words in the earlier text, the share that the later text has too.
        covered: The same, of the weight of all words of the query.
    """
    is_own = old.statements.is_first_person or new.statements.is_first_person
    if (is_own and old.speaker != new.speaker) or not _may_change(old, new, covered=covered):
        return None
    compared = Replacement(old, new, common=common, covered=covered)
    if not compared.has_new_value:
        return None
    return "replaced" if compared.takes_the_place else "changed"


def _may_change(old: UpdateText, new: UpdateText, *, covered: float) -> bool:
    """Whether a text may give another value; it is looked at as a whole, since its clauses take ten times as long."""
    shared, missing = old.topic_with(new)
    if not shared:
        return change_words().replacements.search(new.text) is not None
    is_same = 2 * len(missing) <= len(shared) and covered >= LEAST_COVERED
    return is_same or new.may_update
