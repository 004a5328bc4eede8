"""The embedders of a process: the one that the settings choose, and those of vectors that were made before.

An agent's vectors stay those of an earlier model until maintenance has made new ones: until then its queries are
embedded by that model.
"""

from collections.abc import Callable

from mnestic.memory.contract.document import EmbeddingModel, Vector
from mnestic.memory.errors import InvalidInputError
from mnestic.memory.ports import Embedder, Transaction

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

    def of_contract(self, wanted: EmbeddingModel | None, *, active: str | None = None) -> Embedder:
        """The embedder of a collection: that of its active vectors, else the one that the contract names, else the chosen one.

        Raises:
            InvalidInputError: the deployment does not have the one that the contract names.
        """
        named = self.chosen if wanted is None else self.find(wanted.vectors)
        if named is None:
            assert wanted is not None, "the chosen one is there"
            why = (
                f"names {wanted.model} of {wanted.dimensions} dimensions, which this deployment cannot ask; it has "
                f"{self.chosen.name}. Set OPENAI_API_KEY or OPENAI_BASE_URL, or leave `embeddings` out of the contract"
            )
            raise InvalidInputError(what="vector.embeddings", why=why)
        return (active and self.find(active)) or named

    async def of_collections(
        self, transaction: Transaction, agent_id: str
    ) -> dict[str, Embedder | None]:
        """The embedder that each collection of an agent is to have, by its corpus; None where this process does not have it."""
        corpora = await transaction.embeddings.list_corpora()
        found = await transaction.contracts.find_for(agent_id) if corpora else None
        document = {} if found is None else found.document or {}
        section = document.get("Memory", {}).get("vector") or {"enabled": False}
        wanted = Vector.model_validate(section).embeddings
        target = self.chosen if wanted is None else self.find(wanted.vectors)
        return dict.fromkeys(corpora, target)

    def active(self, name: str | None) -> Embedder:
        """The embedder of an agent's active vectors; the chosen one if it has none, or theirs cannot be had."""
        return (name and self.find(name)) or self.chosen
