"""Subjects by name: which subjects of an agent's facts somebody means who gives a name of theirs.

It stands apart from the store that knows the names, since who is meant is a rule, and one for every list.
"""

from collections.abc import Iterable, Sequence
from typing import Literal, NamedTuple

from mnestic.memory.errors import InvalidInputError
from mnestic.memory.knowledge.claims import name_key
from mnestic.memory.knowledge.facts import Fact

_MOST_LISTED = 10  # candidates that an error names


class NamedSubject(NamedTuple):
    """A subject that a name may mean: because it `is` its own, is an `alias`, or the `first` of several words.

    `key` is the subject's, `subject` how facts spell it.
    """

    by: Literal["is", "alias", "first"]
    key: str
    subject: str


def choose_subjects(
    name: str, found: Sequence[NamedSubject], *, is_strict: bool = True
) -> tuple[str, ...]:
    """The keys of the one whom a name means, their own first; none where nobody is known by it.

    A subject of just that name is meant, and whoever has it as another name: by what is known, they are one.
    If several have it, the subject itself is meant, if there is one. A first name means the one subject whose
    name, or other name, begins with it.

    Raises:
        InvalidInputError: it is a name of several, and `is_strict`; names them.
    """
    itself = [one.key for one in found if one.by == "is"]
    called = {one.key: one.subject for one in found if one.by == "alias" and one.key not in itself}
    if itself and len(called) != 1:
        return tuple(itself)
    if not (itself or called):
        called = {one.key: one.subject for one in found if one.by == "first"}
    if len(called) > 1 and not is_strict:
        return ()
    if len(called) > 1:
        raise InvalidInputError(what="subject", why=_ambiguous(name, sorted(called.values())))
    return (*called, *itself)


def spelt(key: str, facts: Iterable[Fact], *, otherwise: str) -> str:
    """How facts spell the subject of a key; `otherwise` if none is about it."""
    return next((fact.subject for fact in facts if name_key(fact.subject) == key), otherwise)


def _ambiguous(name: str, subjects: Sequence[str]) -> str:
    listed = ", ".join(subjects[:_MOST_LISTED])
    more = f" and {len(subjects) - _MOST_LISTED} more" if len(subjects) > _MOST_LISTED else ""
    return f"{name!r} is a name of several: {listed}{more}; say which of them"
