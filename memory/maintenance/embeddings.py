"""Embeddings of an agent: which models there are vectors of, which one searches compare, and what a change of model needs."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, NamedTuple, Protocol

from pydantic import AwareDatetime, ConfigDict

from mnestic.memory.deferred_model import DeferredModel

if TYPE_CHECKING:  # who implements or uses one port loads no model of the others
    from mnestic.memory.knowledge.entries import Embedding, Unembedded
    from mnestic.memory.maintenance.integrity import IndexSample

NEAREST = 10  # results of a sampled query
_WORD = re.compile(r"\S+")
_FEW_WORDS = 6  # below, a passage says too little


class AgentEmbeddings(DeferredModel):
    """The embeddings of an agent's entries.

    Searches compare vectors of `active_model`. Until `switched_at` they compared those of `previous_model`, which remain for the
    way back. `rejected_model` is one from which somebody switched back. `vectors` counts by model those of the `entries`.
    """

    model_config = ConfigDict(frozen=True, extra="ignore")

    agent_id: str
    active_model: str | None
    previous_model: str | None = None
    rejected_model: str | None = None
    switched_at: AwareDatetime | None = None
    entries: int
    vectors: Mapping[str, int]


class MissingVectors(NamedTuple):
    """How many entries, and archived entries, have no vector of a model."""

    entries: int
    archived: int


class SampledEntry(NamedTuple):
    """An entry that is to be found by its words."""

    number: int
    content: str

    @property
    def passage(self) -> str:
        """The middle half of a text, or all of a short one."""
        words = list(_WORD.finditer(self.content))
        if len(words) < _FEW_WORDS:
            return self.content
        quarter = len(words) // 4
        return self.content[words[quarter].start() : words[-quarter - 1].end()]


class EmbeddingStore(Protocol):
    """The embeddings of an agent, or of one of its collections. Vectors of several models stand side by side."""

    async def find(self) -> AgentEmbeddings | None:
        """The embeddings of the agent; None if it has never had an entry."""
        ...

    async def list_agents(
        self, *, limit: int = 100, cursor: str | None = None
    ) -> tuple[tuple[AgentEmbeddings, ...], str | None]:
        """The embeddings of all agents of the tenant, by name, and the cursor of the next page."""
        ...

    async def list_corpora(self) -> tuple[str, ...]:
        """What stands for each of the agent's collections in place of an agent."""
        ...

    async def count_missing(self, model: str) -> MissingVectors:
        """How many entries have no vector of a model: the entries themselves are looked at, not their counts."""
        ...

    async def list_unembedded_archived(self, model: str, *, limit: int) -> tuple[Unembedded, ...]:
        """Archived entries that have no vector of a model."""
        ...

    async def embed_archived(self, model: str, embeddings: Sequence[Embedding]) -> int:
        """Adds vectors of a model to archived entries, except those of a content that has changed since."""
        ...

    async def list_embedded(self, model: str, *, after: str, limit: int) -> tuple[Unembedded, ...]:
        """Entries and archived ones that have a vector of a model, by id from the one after `after` on."""
        ...

    async def renew(self, model: str, embeddings: Sequence[Embedding]) -> int:
        """Puts vectors in place of those of a model, except those of a content that has changed since; returns how many."""
        ...

    async def sample(self, *, limit: int) -> tuple[SampledEntry, ...]:
        """Active entries, the same ones each time, as long as these stay."""
        ...

    async def sample_index(self) -> IndexSample:
        """Whether the indexes find a sample of the tenant's entries."""
        ...

    async def is_indexed(self, model: str) -> bool:
        """Whether there is a vector index of a model's vectors."""
        ...

    async def lacks_index(self, model: str) -> bool:
        """Whether a model has so many vectors that they are worth an index, and there is none."""
        ...

    async def list_nearest(
        self, model: str, vectors: Sequence[bytes], *, is_exact: bool = False
    ) -> tuple[tuple[int, ...], ...]:
        """The numbers of the entries whose vectors of a model are nearest to each of these, as searches find them.

        Args:
            model: Of the entries' vectors.
            vectors: Those of queries, float32.
            is_exact: Whether all vectors are compared, also where there is an index.
        """
        ...

    async def switch(self, model: str, *, now: datetime) -> MissingVectors:
        """Has searches compare the vectors of a model from now on, if all entries have one; returns how many have none.

        It waits for writers of the agent's entries, and they for it. The model before it is `previous_model` then.
        """
        ...

    async def switch_back(self, *, now: datetime) -> AgentEmbeddings:
        """Has searches compare the vectors of the previous model again; the model so far is rejected.

        Raises:
            InvalidInputError: there is none, or somebody has switched back already.
        """
        ...

    async def accept(self) -> AgentEmbeddings:
        """Has the next monthly run try the rejected model again.

        Raises:
            InvalidInputError: none is rejected.
        """
        ...

    async def remove_vectors(self, model: str, *, limit: int) -> int:
        """Removes vectors of a model that is not active, so many of entries, or of archived ones; returns how many.

        Once none is left the model is not the previous one any more.

        Raises:
            InvalidInputError: it is active.
        """
        ...
