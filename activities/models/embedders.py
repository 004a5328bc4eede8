"""The embedders of a process: the one that the settings choose, and those of vectors that were made before.

An agent's vectors stay those of an earlier model until maintenance has made new ones: until then its queries are
embedded by that model.
"""

from collections.abc import Callable

from mnestic.memory.ports import Embedder

FindEmbedder = Callable[[str], Embedder | None]
"""The embedder of the vectors of a name, or None where this process cannot have it."""


def _find_none(_: str) -> None:
    return None


class Embedders:
    """The chosen embedder, and others by the names of their vectors."""

    def __init__(self, chosen: Embedder, *, find_other: FindEmbedder = _find_none) -> None:
        self.chosen, self._find_other = chosen, find_other

    def find(self, name: str) -> Embedder | None:
        """The embedder of the vectors of a name, if there is one."""
        return self.chosen if name == self.chosen.name else self._find_other(name)

    def active(self, name: str | None) -> Embedder:
        """The embedder of an agent's active vectors; the chosen one if it has none, or theirs cannot be had."""
        return (name and self.find(name)) or self.chosen
