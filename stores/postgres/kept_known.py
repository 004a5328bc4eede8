"""What Postgres told of the names and words of questions, as a process keeps it until the agent's memory is another.

Questions of one agent share most of both, and of most of what could be a name it is known that it is none.
"""

from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Any, NamedTuple, Self

from mnestic.memory.caches import CacheCount
from mnestic.stores.postgres.kept_places import KeptPlaces
from mnestic.stores.postgres.kept_state import State
from mnestic.stores.postgres.recent import Recent

_LARGEST = 0.5  # share that one agent may have
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
    """What has been told of agents, each at one count of changes, up to so many bytes."""

    def __init__(self, max_bytes: int) -> None:
        self._agents: Recent[int, None, _Known] = Recent(max_bytes, largest=_LARGEST)
        self._hits = self._misses = 0

    def told(
        self,
        state: State,
        names: AbstractSet[str],
        words: AbstractSet[str],
        *,
        may_name: Callable[[str], bool] | None,
    ) -> Told:
        """What is known of some names and words.

        Args:
            state: That of the agent.
            names: By key.
            words: As a question has them.
            may_name: Whether a key may name something; None where nothing is known of the agent.
        """
        self._hits += may_name is not None
        self._misses += may_name is None
        if may_name is None:
            return Told(state.knowledge, {}, {})
        known = self._of(state.generation)
        of_names = {
            name: known.names.get(name, ())
            for name in names
            if name in known.names or not may_name(name)
        }
        of_words = {word: known.words[word] for word in words if word in known.words}
        return Told(state.knowledge, of_names, of_words)

    def names(self, generation: int, names: AbstractSet[str]) -> frozenset[str]:
        """Those of some names of which it was told that they are known."""
        known = self._of(generation).names
        return frozenset(
            name for name in names if any(row.key is not None for row in known.get(name, ()))
        )

    def keep(self, generation: int, told: Told) -> None:
        """Takes what was told; of names only those that something is known of."""
        known = self._of(generation)
        named = {name: rows for name, rows in told.names.items() if rows}
        for held, others in ((known.names, named), (known.words, told.words)):
            for name in others.keys() - held.keys():
                held[name] = others[name]
                known.bytes += _BYTES + len(name) + _ROW_BYTES * len(others[name])
        self._agents.put(generation, None, known, size=known.bytes)

    def drop(self, generation: int) -> None:
        """Forgets what was told at other counts."""
        self._agents.drop_all(generation)

    def _of(self, generation: int) -> "_Known":
        return self._agents.get(generation, None) or _Known()

    def counts(self, places: Recent[int, None, KeptPlaces]) -> CacheCount:
        """What is held of that, and of all places with their words, and how often it was of use."""
        return CacheCount(
            hits=self._hits,
            misses=self._misses,
            held=sum(len(one.words) for one in places if one.words is not None),
            bytes=self._agents.bytes + places.bytes,
        )


class _Known:
    """What has been told of one agent."""

    def __init__(self) -> None:
        self.bytes = 0
        self.names: dict[str, Sequence[Any]] = {}
        self.words: dict[str, Sequence[Any]] = {}
