"""The port of the store of documents, which works in the transaction that it came from."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Protocol

if TYPE_CHECKING:  # who implements or uses the port loads no model
    from collections.abc import Sequence

    from mnestic.memory.jobs.long_term.documents import (
        Document,
        DocumentPart,
        Metric,
        SearchResult,
        StoredParts,
    )
    from mnestic.memory.jobs.long_term.filters import Condition


class PartVectors(NamedTuple):
    """Vectors of parts, in their order, by the name under which they are stored."""

    name: str
    vectors: tuple[bytes, ...]


class DocumentSearch(NamedTuple):
    """What is searched for in a collection: the nearest to a vector of a name, among documents whose metadata pass a condition."""

    name: str
    vector: bytes
    metric: Metric
    limit: int
    min_score: float = 0
    where: Condition | None = None


class DocumentStore(Protocol):
    """The documents of an agent's collections; each is replaced or removed with all of its parts."""

    async def find_active_model(self, collection_id: str) -> str | None:
        """The name of the vectors that searches of a collection compare; None of an empty one."""
        ...

    async def put(
        self,
        collection_id: str,
        document: Document,
        parts: Sequence[DocumentPart],
        *,
        made: PartVectors | None,
    ) -> bool:
        """Writes a document in place of the one of its id; returns whether there was one. Without vectors it gets them later."""
        ...

    async def restore(self, document: StoredParts) -> bool:
        """Adds an exported document, unless there is one of its id; returns whether it is new."""
        ...

    async def remove(self, collection_id: str, document_id: str) -> bool:
        """Removes a document; returns whether there was one."""
        ...

    async def search(self, collection_id: str, query: DocumentSearch) -> tuple[SearchResult, ...]:
        """The nearest parts, the best first."""
        ...

    async def list_documents(
        self, *, limit: int = 100, cursor: str | None = None
    ) -> tuple[tuple[StoredParts, ...], str | None]:
        """The documents of all collections, in their order, and the cursor of the next page."""
        ...
