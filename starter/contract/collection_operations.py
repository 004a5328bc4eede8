"""What `ContractMemory` does with collections: embeds, searches, and writes documents and files."""

import asyncio
from abc import abstractmethod
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel

from mnestic.memory.jobs.long_term.document_operations import (
    DocumentRef,
    EmbeddedText,
    SearchResults,
    UpsertedDocument,
)
from mnestic.memory.jobs.long_term.documents import Document, SearchResult
from mnestic.memory.jobs.long_term.filters import AllOf, AnyOf, FieldCondition, Not
from mnestic.memory.jobs.memory_operations import (
    OperationName,
)
from mnestic.starter.contract.document_files import read_document

Result = TypeVar("Result", bound=BaseModel)


class CollectionOperations:
    """The operations on collections of the contract."""

    @abstractmethod
    async def _do(self, name: OperationName, result_type: type[Result], **arguments: Any) -> Result:
        """Does an operation."""

    async def embed(self, text: str) -> tuple[float, ...]:
        """The vector of a text by the model of the contract, of length 1.

        Raises:
            InvalidInputError: the contract has no vector memory, or names a model that this deployment does not have.
            UnavailableError: the model does not answer.
        """
        return (await self._do("embed", EmbeddedText, text=text)).vector

    async def search(
        self,
        query: str,
        collection: str,
        *,
        filter: FieldCondition | AllOf | AnyOf | Not | dict[str, Any] | None = None,  # noqa: A002 - the design's name
        top_k: int | None = None,
        similarity_threshold: float | None = None,
        rerank: bool | None = None,
    ) -> tuple[SearchResult, ...]:
        """The parts of documents that are nearest to a query, the best first; what is left out is as the contract says.

        Args:
            query: What is searched for.
            collection: A collection of the contract.
            filter: A condition on metadata, as of `query`; `$key` is the document's id.
            top_k: How many at the most.
            similarity_threshold: The lowest score, from 0 to 1.
            rerank: Whether a model reads the nearest, and orders them.

        Raises:
            InvalidInputError: there is no such collection, or the filter is invalid.
            UnavailableError: the model does not answer.
        """
        arguments = {
            "query": query,
            "collection": collection,
            "filter": filter,
            "top_k": top_k,
            "similarity_threshold": similarity_threshold,
            "rerank": rerank,
        }
        return (await self._do("search", SearchResults, **arguments)).results

    async def upsert(self, collection: str, doc: Document | dict[str, Any]) -> UpsertedDocument:
        """Writes a document with its vectors, in place of the one of its id.

        Raises:
            InvalidInputError: there is no such collection, or the metadata do not fit it.
            KeptOutError: it speaks of what was forgotten and is kept out.
        """
        document = doc.model_dump(mode="json") if isinstance(doc, Document) else doc
        return await self._do("upsert", UpsertedDocument, collection=collection, doc=document)

    async def upsert_file(
        self,
        collection: str,
        path: str | Path,
        *,
        document_id: str | None = None,
        metadata: dict[str, Any] | None = None,
    ) -> UpsertedDocument:
        """Writes the text of a file: Markdown, plain text, or PDF with `mnestic[pdf]`.

        Args:
            collection: A collection of the contract.
            path: The file.
            document_id: The id of the document; by default the name of the file.
            metadata: What is known of it.

        Raises:
            InvalidInputError: the file cannot be read, has no text, or `upsert` refuses it.
            KeptOutError: as `upsert`.
        """
        document = await asyncio.to_thread(
            read_document, Path(path), document_id=document_id, metadata=metadata or {}
        )
        return await self.upsert(collection, document)

    async def delete_document(self, collection: str, document_id: str) -> None:
        """Deletes a document with all of its parts.

        Raises:
            InvalidInputError: there is no such collection.
            NotFoundError: there is no such document.
        """
        await self._do(
            "delete_document", DocumentRef, collection=collection, document_id=document_id
        )
