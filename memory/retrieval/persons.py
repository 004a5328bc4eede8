"""Queries about several people: which candidates concern all of them, and which only one.

It stands apart from ranking because it looks at whole conversations: a message concerns everybody who spoke in its
conversation, whoever it names.
"""

from collections import defaultdict
from collections.abc import Mapping

import numpy as np

from mnestic.memory.retrieval.candidates import CONCERNS, MOST_BITS, Candidates
from mnestic.memory.retrieval.query_parsing import NameMatch
from mnestic.memory.retrieval.search import NameRow

_NAMED, _MENTIONED, _OTHER = map(CONCERNS.index, ("named", "mentioned", "other"))


def named_groups(named: NameMatch, known: Mapping[str, NameRow]) -> tuple[frozenset[str], ...]:
    """The names of each person, if a query names several but no crowd; one person may have several names."""
    persons: list[frozenset[str]] = []
    for name in named.names:
        keys = known[name].keys
        same = [one for one in persons if not one.isdisjoint(keys)]
        persons = [one for one in persons if one not in same] + [keys.union(*same)]
    return tuple(persons) if 1 < len(persons) <= MOST_BITS else ()


def separate_by_person(candidates: Candidates, *, number: int) -> None:
    """Sets the concern of candidates about one of several people to `apart`, if others concern all of them.

    Args:
        candidates: With their `persons`; changes `concern` and `is_by_named_speaker`.
        number: How many people are named.
    """
    rows = candidates.rows
    (among,) = np.nonzero(rows["persons"])
    if not len(among):
        return
    sessions: defaultdict[str, int] = defaultdict(int)
    session_ids = [
        (text.session_id or "") if is_turn else ""
        for text, is_turn in zip(candidates.texts, rows["is_turn"].tolist(), strict=True)
    ]
    for session, persons in zip(session_ids, rows["persons"].tolist(), strict=True):
        sessions[session] |= persons if session else 0
    there = np.array([sessions[session_ids[place]] for place in among.tolist()])
    concerns_all = (rows["persons"][among] | there) == (1 << number) - 1
    if concerns_all.any():
        apart = among[~concerns_all]
        rows["concern"][apart], rows["is_by_named_speaker"][apart] = CONCERNS.index("apart"), False


def find_unrelated_turns(candidates: Candidates) -> frozenset[int]:
    """The numbers of turns by others, in sessions where no candidate is by or about a named person."""
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
