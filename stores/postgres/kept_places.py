"""Conversations of an agent as a process keeps them: which entries each has, and among whom it was.

Postgres looks through some twenty of them for one question, entry by entry.
"""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable
from collections.abc import Set as AbstractSet

from mnestic.stores.postgres.candidates import EntryLine, Patterns, names_one

LONG = 300  # entries of a session that is not looked through: whoever is named may well be in it
_MOST_UNSEEN = 1000  # entries; of more it is quicker to read all anew
_PLACE_BYTES = 200  # of an entry's place, beside its text
_BETWEEN = "\0"  # texts, so that no name begins in one and ends in another

Lines = Callable[[Iterable[int]], dict[int, EntryLine]]  # of entries, those that are kept


class KeptSessions:
    """The sessions of one agent's entries, once `is_whole`; `unseen` are entries of which it is not known where they are.

    What a session says is put together when it is first asked for, of rows that are kept.
    """

    def __init__(self) -> None:
        self.is_whole = False
        self.unseen: set[int] = set()
        self._of: dict[int, str | None] = {}
        self._entries: defaultdict[str, list[int]] = defaultdict(list)
        self._told: dict[str, tuple[AbstractSet[str], str]] = {}
        self._changed: set[str] = set()
        self._length = 0

    @property
    def bytes(self) -> int:
        """About how much memory it takes, once all sessions have been asked for."""
        return _PLACE_BYTES * len(self._of) + 2 * self._length

    @property
    def lacks_most(self) -> bool:
        """Whether of so many it is not known where they are that it is not worth its place."""
        return len(self.unseen) > _MOST_UNSEEN

    def place(self, number: int, session_id: str | None, *, length: int = 0) -> None:
        """Notes where an entry is, or that it is nowhere, and how many characters it has."""
        self.unseen.discard(number)
        if number in self._of:
            return
        self._of[number] = session_id
        self._length += length
        if session_id is not None:
            self._entries[session_id].append(number)
            self._told.pop(session_id, None)

    def change(self, numbers: Collection[int], added: Collection[int]) -> None:
        """Hears which entries are others, or gone, and which are new."""
        self.unseen.update(added)
        changed = {*filter(None, map(self._of.get, numbers))}
        self._changed |= changed
        for session in changed:
            self._told.pop(session, None)  # what was forgotten is in no memory

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
        if not self.is_whole or self.unseen:
            return {}
        sessions = {number: self._of[number] for number in numbers if number in self._of}
        known: dict[str | None, bool] = {None: False}
        for session in {*filter(None, sessions.values())} - self._changed:
            if len(self._entries[session]) > LONG:
                known[session] = False
            elif (told := self._tell(session, lines)) is not None:
                speakers, text = told
                known[session] = speakers.isdisjoint(names) and not names_one(text, patterns)
        return {number: known[one] for number, one in sessions.items() if one in known}

    def _tell(self, session: str, lines: Lines) -> tuple[AbstractSet[str], str] | None:
        """Who speaks in a session, and all that is said; None where some of it is not kept."""
        if session not in self._told:
            entries = self._entries[session]
            found = lines(entries)
            if len(found) < len(entries):
                return None
            speakers = frozenset(line.speaker for line in found.values())
            text = _BETWEEN.join(line.folded for line in found.values())
            self._told[session] = speakers, text
        return self._told[session]
