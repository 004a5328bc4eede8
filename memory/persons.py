"""Several who are named: what concerns one of them apart from the others.

It stands apart from ranking because it looks at conversations as a whole: what somebody said concerns those
who spoke there, whoever is named in it.
"""

from collections import defaultdict
from collections.abc import Collection, Mapping

from mnestic.memory.candidates import Candidate
from mnestic.memory.questions import Named
from mnestic.memory.search import KnownName


def persons_of(named: Named, known: Mapping[str, KnownName]) -> tuple[frozenset[str], ...]:
    """The names of each of several who are named; several names may be of one."""
    persons: list[frozenset[str]] = []
    for name in named.names:
        keys = known[name].keys
        same = [one for one in persons if not one.isdisjoint(keys)]
        persons = [one for one in persons if one not in same] + [keys.union(*same)]
    return tuple(persons) if len(persons) > 1 else ()


def set_apart(candidates: Collection[Candidate], *, number: int) -> None:
    """Sets apart what concerns one of several, where something concerns them all.

    Args:
        candidates: With their `persons`; `concern` is set, and `is_said`.
        number: How many are named.
    """
    sessions: defaultdict[str, int] = defaultdict(int)
    for one in candidates:
        if one.is_turn and one.session_id:
            sessions[one.session_id] |= one.persons
    among = [
        (one, one.persons | (sessions[one.session_id or ""] if one.is_turn else 0))
        for one in candidates
        if one.persons
    ]
    everybody = (1 << number) - 1
    if any(persons == everybody for _, persons in among):
        for one, persons in among:
            if persons != everybody:
                one.concern, one.is_said = "apart", False
