"""Entries as they were told last, as a process keeps them beside the rows that they are made of.

They stand apart from rows, which questions need: an entry takes more memory, and is soon made again.
"""

from collections.abc import Iterable, Mapping

from mnestic.memory.entries import Entry
from mnestic.stores.postgres.candidates import EntryLine
from mnestic.stores.postgres.recent import Recent


class KeptEntries:
    """Entries by the generation of their rows and by number, up to so many bytes."""

    def __init__(self, max_bytes: int) -> None:
        self._entries: Recent[int, int, Entry] = Recent(max_bytes)

    @property
    def bytes(self) -> int:
        """About how much memory they take."""
        return self._entries.bytes

    def of(self, generation: int, lines: Mapping[int, EntryLine]) -> dict[int, Entry]:
        """The entries of rows by number, all of which is known; those that were told before need not be made."""
        made = self._entries.get_all(generation, lines)
        told = {number: line.entry(made.get(number)) for number, line in lines.items()}
        for number, entry in told.items():
            if entry is not made.get(number):
                self._entries.put(generation, number, entry, size=lines[number].entry_bytes)
        return told

    def drop(self, generation: int, numbers: Iterable[int]) -> None:
        """Forgets those of rows that have changed."""
        for number in numbers:
            self._entries.drop(generation, number)

    def drop_all(self, generation: int) -> None:
        """Forgets those of a generation."""
        self._entries.drop_all(generation)
