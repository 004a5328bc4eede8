"""Where an agent's entries are, as a process keeps it: in which conversation, beside what, and what they are related to.

With them goes whether what was claimed there still holds, and which names and words there are. Postgres looks for all
of this entry by entry, for twenty to thirty of them a question.
"""

import json
import math
import sys
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from itertools import pairwise
from operator import attrgetter
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mnestic.memory.candidates import Tie
from mnestic.memory.dates import Period
from mnestic.memory.facts import Stretch
from mnestic.stores.postgres.candidates import EntryLine, Patterns, held_until, names_one
from mnestic.stores.postgres.kept_claims import KeptClaims, Source
from mnestic.stores.postgres.kept_words import KeptWords

PLACE_COLUMNS = "e.related::text AS related, e.source_id"  # what places are made of, beside the columns of lines
LONG = 300  # entries of a session that is not looked through: whoever is named may well be in it
_MOST_MOVED = 100  # entries; of more it is quicker to put all in order anew
_MOST_UNSEEN = 1000  # entries; of more it is quicker to read all anew
# Of an entry's place, beside its text, once its ties have been asked for; by tracemalloc.
_PLACE_BYTES = 800
_BETWEEN = "\0"  # texts, so that no name begins in one and ends in another
# In a conversation two turns before and after, the nearest first.
_BESIDE: Sequence[tuple[int, Tie]] = ((-1, "beside"), (-2, "near"), (1, "beside"), (2, "near"))
_NEAR = 2  # places
_at = attrgetter("at")


Lines = Callable[[Iterable[int]], dict[int, EntryLine]]  # of entries, those that are kept
Tied = list[tuple[int, Tie]]
# Times of entries, in their order, until when they hold, and their numbers.
_Times = tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.int64]]


class Place(NamedTuple):
    """Where an entry is: in which session, when (seconds since 1970), and to which others it says that it is related.

    `length` is how many characters it has that are worth keeping, and `holds_until` as of `candidates.ROW`.
    """

    number: int
    entry_id: str
    session_id: str | None
    at: float
    is_turn: bool
    related: tuple[str, ...]
    length: int
    source_id: str | None = None
    holds_until: float = math.inf

    @property
    def source(self) -> Source:
        """The message that it became of."""
        return self.session_id, self.source_id


class KeptPlaces:
    """The places of one agent's entries, once `is_whole`; `unseen` are entries of which it is not known where they are.

    As long as there are any, nothing is known of the others either: they may be beside any of them. What a session
    says is put together ahead, or when it is first asked for, as is its order. `claims` are what was claimed there, and
    `words` what all of them have, while that is known.
    """

    def __init__(self) -> None:
        self.is_whole = False
        self.unseen: set[int] = set()
        self._places: dict[int, Place] = {}
        self._numbers: dict[str, int] = {}
        self._sessions: defaultdict[str, set[int]] = defaultdict(set)
        self._naming: defaultdict[str, set[int]] = defaultdict(set)
        self._told: dict[str, tuple[AbstractSet[str], str]] = {}
        self._ordered: dict[str, tuple[Sequence[int | None], Mapping[int, int]]] = {}
        self._by_time: _Times | None = None
        self._moved: set[int] = (
            set()
        )  # entries that were put elsewhere since these were put in order
        self._length = 0
        self.claims: KeptClaims | None = None
        self.words: KeptWords | None = None

    @property
    def bytes(self) -> int:
        """About how much memory it takes, once all sessions have been asked for."""
        beside = sum(one.bytes for one in (self.claims, self.words) if one is not None)
        return _PLACE_BYTES * len(self._places) + 2 * self._length + beside

    @property
    def is_known(self) -> bool:
        """Whether it is known where all entries are."""
        return self.is_whole and not self.unseen

    @property
    def knows_claims(self) -> bool:
        """Likewise, and what was claimed there."""
        return self.is_known and self.claims is not None

    @property
    def knows_all(self) -> bool:
        """Likewise, and which names and words there are."""
        return self.knows_claims and self.words is not None

    def has_name(self, name: str) -> bool:
        """Whether an entry or a fact has a name, or an entry has it as a tag; it may have where that is not known."""
        held = (self.words, self.claims)
        return any(one is None or one.has(name) for one in held)

    @property
    def lacks_most(self) -> bool:
        """Whether of so many it is not known where they are that it is not worth its place."""
        return len(self.unseen) > _MOST_UNSEEN

    def place(self, place: Place) -> None:
        """Notes where an entry is."""
        self.unseen.discard(place.number)
        self._remove(place.number)
        self._places[place.number] = place
        self._move(place.number)
        self._numbers[place.entry_id] = place.number
        for other in place.related:
            self._naming[other].add(place.number)
        self._length += place.length
        if place.session_id is not None:
            self._sessions[place.session_id].add(place.number)
            self._forget(place.session_id)

    def change(self, numbers: Collection[int], added: Collection[int]) -> None:
        """Hears which entries are others, or gone, and which are new."""
        for number in numbers:
            self._remove(number)
        self.unseen.update(numbers, added)

    def apart(
        self,
        numbers: Iterable[int],
        names: AbstractSet[str],
        *,
        patterns: Patterns,
        lines: Lines,
    ) -> dict[int, bool]:
        """Of entries, whether they are in a session where nobody of the names spoke or was mentioned, as far as that is known.

        Args:
            numbers: The entries.
            names: By key, one or more.
            patterns: Of texts that mention one of them.
            lines: What is kept of entries.
        """
        sessions = {place.number: place.session_id for place in self._known(numbers)}
        known: dict[str | None, bool] = {None: False}
        for session in filter(None, set(sessions.values())):
            if len(self._sessions[session]) > LONG:
                known[session] = False
            elif (told := self._tell(session, lines)) is not None:
                speakers, text = told
                known[session] = speakers.isdisjoint(names) and not names_one(text, patterns)
        return {number: known[one] for number, one in sessions.items() if one in known}

    def ties(self, numbers: Iterable[int]) -> dict[int, Tied]:
        """What is tied to entries: beside them in their conversation, and related to them either way; as far as it is known."""
        found: dict[int, Tied] = {}
        for place in self._known(numbers):
            if (beside := self._beside(place)) is not None:
                found[place.number] = beside + self._related(place)
        return found

    def over(
        self,
        numbers: Iterable[int],
        respects: AbstractSet[str],
        *,
        held: Stretch | None = None,
        now: float,
    ) -> dict[int, bool]:
        """Of entries, whether nothing of what was claimed there holds, as far as that is known.

        Args:
            numbers: The entries.
            respects: Predicates that are asked about, which alone count where something was claimed by them.
            held: When it is to hold; now without it.
            now: Seconds since 1970.
        """
        if (claims := self.claims) is None:
            return {}
        known, holds = self._known(numbers), claims.holding(held, now=now)
        return {one.number: claims.is_over(one.source, respects, holds) for one in known}

    def of_others(
        self, numbers: Collection[int], names: Collection[str], predicates: Collection[str]
    ) -> set[int] | None:
        """Of entries those whose messages claim something by the predicates, but of none of the names; None where that is not known."""
        if not (names and predicates):
            return set()
        known = self._known(numbers)
        if (claims := self.claims) is None or len(known) < len(numbers):
            return None
        return {one.number for one in known if claims.is_of_others(one.source, names, predicates)}

    def holding(self, entry_ids: Iterable[str], *, now: float) -> dict[str, int] | None:
        """The numbers of those entries that there are and that hold, by id; None where that is not known."""
        if not self.is_known:
            return None
        found = {one: self._numbers[one] for one in entry_ids if one in self._numbers}
        return {one: at for one, at in found.items() if self._places[at].holds_until > now}

    def of_time(self, period: Period, *, now: float, limit: int) -> list[int] | None:
        """The last entries of a period that hold; None where that is not known.

        That hangs on the ids of entries, too, where some of one time are the last ones that there is place for.
        """
        if not self.is_known:
            return None
        found = self._within(period, now=now, limit=limit + 1)
        found.sort(key=_at, reverse=True)
        if len(found) > limit and found[limit - 1].at == found[limit].at:
            return None
        return [one.number for one in found[:limit]]

    def has_time(self, period: Period) -> bool:
        """Whether an active entry is of a period, even one that has expired; while it `is_known`."""
        return bool(self._within(period, now=-math.inf, limit=1))

    def _within(self, period: Period, *, now: float, limit: int) -> list[Place]:
        """Entries of a period that hold: so many of the last ones, and those that have moved since all were put in order."""
        at, holds_until, numbers = self._sorted()
        start, end = period.start.timestamp(), period.end.timestamp()
        first, last = np.searchsorted(at, (start, end)).tolist()
        holding = np.flatnonzero(holds_until[first:last] > now)[-limit - len(self._moved) :]
        stayed = [one for one in numbers[first + holding].tolist() if one not in self._moved]
        moved = [self._places[one] for one in self._moved if one in self._places]
        return [
            *(self._places[one] for one in stayed),
            *(one for one in moved if start <= one.at < end and one.holds_until > now),
        ]

    def _sorted(self) -> _Times:
        """Entries by their times, but for those that have moved since, which are few."""
        if self._by_time is None or len(self._moved) > _MOST_MOVED:
            at = np.fromiter((one.at for one in self._places.values()), float)
            until = np.fromiter((one.holds_until for one in self._places.values()), float)
            order = np.argsort(at)
            self._by_time = at[order], until[order], np.fromiter(self._places, np.int64)[order]
            self._moved.clear()
        return self._by_time

    def tell_all(self, lines: Lines) -> Iterator[None]:
        """Puts together what all sessions say, one at each step, before somebody asks."""
        for session in tuple(self._sessions):
            if 0 < len(self._sessions.get(session, ())) <= LONG:  # some may be gone by then
                self._tell(session, lines)
                yield

    def _known(self, numbers: Iterable[int]) -> list[Place]:
        if not self.is_known:
            return []
        return [self._places[number] for number in numbers if number in self._places]

    def _tell(self, session: str, lines: Lines) -> tuple[AbstractSet[str], str] | None:
        """Who speaks in a session, and all that is said; None where some of it is not kept."""
        if session not in self._told:
            entries = self._sessions[session]
            found = lines(entries)
            if len(found) < len(entries):
                return None
            speakers = frozenset(line.speaker for line in found.values())
            text = _BETWEEN.join(line.folded for line in found.values())
            self._told[session] = speakers, text
        return self._told[session]

    def _beside(self, place: Place) -> Tied | None:
        """The turns beside a turn; None where some of a session are of one time, whose order is that of their ids in Postgres."""
        if place.session_id is None or not place.is_turn:
            return []
        if place.session_id not in self._ordered:
            self._ordered[place.session_id] = self._order(place.session_id)
        turns, at = self._ordered[place.session_id]
        if place.number not in at:
            return None
        beside = [(turns[at[place.number] + away], tie) for away, tie in _BESIDE]
        return [(number, tie) for number, tie in beside if number is not None]

    def _order(self, session: str) -> tuple[Sequence[int | None], Mapping[int, int]]:
        """Its turns with their places, as far as it has any there; none have any if two entries are of one time."""
        order = sorted((self._places[one] for one in self._sessions[session]), key=_at)
        if any(one.at == other.at for one, other in pairwise(order)):
            return (), {}
        turns = [one.number if one.is_turn else None for one in order]
        ends = [None] * _NEAR
        places = {number: at for at, number in enumerate(turns, _NEAR) if number is not None}
        return [*ends, *turns, *ends], places

    def _related(self, place: Place) -> Tied:
        named = [self._numbers[one] for one in place.related if one in self._numbers]
        naming = sorted(self._naming.get(place.entry_id, ()))
        return [(number, "related") for number in (*named, *naming)]

    def _remove(self, number: int) -> None:
        """Forgets a place, and what its session said: what was forgotten is in no memory."""
        place = self._places.pop(number, None)
        if place is None:
            return
        self._move(number)
        if self._numbers[place.entry_id] == number:  # else it was added anew
            del self._numbers[place.entry_id]
        for other in dict.fromkeys(place.related):
            self._naming[other].discard(number)
            if not self._naming[other]:
                del self._naming[other]
        self._length -= place.length
        if place.session_id is not None:
            self._sessions[place.session_id].discard(number)
            if not self._sessions[place.session_id]:
                del self._sessions[place.session_id]
            self._forget(place.session_id)

    def _move(self, number: int) -> None:
        if self._by_time is not None:
            self._moved.add(number)

    def _forget(self, session: str) -> None:
        self._told.pop(session, None)
        self._ordered.pop(session, None)


def place_of(row: Any) -> Place:
    """A place out of the columns of its row; of one whose content was too long to be read, too."""
    turn = (row.session_id, row.at.timestamp(), row.entry_type == "interaction")
    length = len(row.content or "")
    related = _related(row.related)
    until = held_until(row)
    return Place(row.number, sys.intern(row.id), *turn, related, length, row.source_id, until)


def _related(stored: str) -> tuple[str, ...]:
    return tuple(map(sys.intern, json.loads(stored))) if stored != "[]" else ()
