"""Several who are named: what concerns one of them apart from the others.

It stands apart from ranking because it looks at conversations as a whole: what somebody said concerns those
who spoke there, whoever is named in it.
"""

from collections import defaultdict
from collections.abc import Mapping

import numpy as np

from mnestic.memory.retrieval.candidates import CONCERNS, MOST_BITS, Candidates
from mnestic.memory.retrieval.query_parsing import NameMatch
from mnestic.memory.retrieval.search import NameRow

_NAMED, _MENTIONED, _OTHER = map(CONCERNS.index, ("named", "mentioned", "other"))


def named_groups(named: NameMatch, known: Mapping[str, NameRow]) -> tuple[frozenset[str], ...]:
    """The names of each of several who are named, unless it is a crowd; several names may be of one."""
    persons: list[frozenset[str]] = []
    for name in named.names:
        keys = known[name].keys
        same = [one for one in persons if not one.isdisjoint(keys)]
        persons = [one for one in persons if one not in same] + [keys.union(*same)]
    return tuple(persons) if 1 < len(persons) <= MOST_BITS else ()


def separate_by_person(candidates: Candidates, *, number: int) -> None:
    """Sets apart what concerns one of several, where something concerns them all.

    Args:
        candidates: With their `persons`; `concern` is set, and `is_by_named_speaker`.
        number: How many are named.
    """
    rows = candidates.rows
    (among,) = np.nonzero(rows["persons"])
    if not len(among):
        return
    sessions: defaultdict[str, int] = defaultdict(int)
    heard_in = [
        (text.session_id or "") if is_turn else ""
        for text, is_turn in zip(candidates.texts, rows["is_turn"].tolist(), strict=True)
    ]
    for session, persons in zip(heard_in, rows["persons"].tolist(), strict=True):
        sessions[session] |= persons if session else 0
    there = np.array([sessions[heard_in[place]] for place in among.tolist()])
    concerns_all = (rows["persons"][among] | there) == (1 << number) - 1
    if concerns_all.any():
        apart = among[~concerns_all]
        rows["concern"][apart], rows["is_by_named_speaker"][apart] = CONCERNS.index("apart"), False


def find_unrelated_turns(candidates: Candidates) -> frozenset[int]:
    """The numbers of what others said where, as far as is known, nobody who is named spoke or was mentioned."""
    rows = candidates.rows
    (others,) = np.nonzero(rows["is_turn"] & (rows["concern"] == _OTHER))
    if not len(others):
        return frozenset()
    texts = candidates.texts
    is_concerned = (rows["concern"] == _NAMED) | (rows["concern"] == _MENTIONED)
    (concerned,) = np.nonzero(rows["is_turn"] & is_concerned)
    sessions = {texts[place].session_id for place in concerned.tolist()}
    unrelated = [place for place in others.tolist() if texts[place].session_id not in sessions]
    return frozenset(rows["number"][unrelated].tolist())
