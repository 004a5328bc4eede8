"""What Postgres told of the names and words of questions, as a process keeps it until the agent's memory is another.

Questions of one agent share most of both, and of most of what could be a name it is known that it is none.
"""

from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Any, NamedTuple, Self

_ROW_BYTES, _BYTES = 400, 120  # of each row that tells of a name or a word, and of that itself


class Told(NamedTuple):
    """Rows of Postgres of names by key and of words, none of what is not known, at a count of changes; and the agent's own."""

    knowledge: int
    names: Mapping[str, Sequence[Any]]
    words: Mapping[str, Sequence[Any]]
    state: Any = None

    def joined(self, kept: Self) -> Self:
        """With what was told of others before."""
        return self._replace(names={**self.names, **kept.names}, words={**self.words, **kept.words})


class KeptKnown:
    """What has been told of one agent at one count of changes."""

    def __init__(self) -> None:
        self.bytes = 0
        self._names: dict[str, Sequence[Any]] = {}
        self._words: dict[str, Sequence[Any]] = {}

    def keep(self, told: Told) -> None:
        """Takes what was told; of names only those that something is known of."""
        known = {name: rows for name, rows in told.names.items() if rows}
        for held, others in ((self._names, known), (self._words, told.words)):
            for name in others.keys() - held.keys():
                held[name] = others[name]
                self.bytes += _BYTES + len(name) + _ROW_BYTES * len(others[name])

    def told(
        self, names: AbstractSet[str], words: AbstractSet[str], *, may_name: Callable[[str], bool]
    ) -> tuple[dict[str, Sequence[Any]], dict[str, Sequence[Any]]]:
        """What is known of some of them; nothing of what names nothing."""
        of_names = {
            name: self._names.get(name, ())
            for name in names
            if name in self._names or not may_name(name)
        }
        return of_names, {word: self._words[word] for word in words if word in self._words}
