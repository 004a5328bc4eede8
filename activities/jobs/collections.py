"""Collections of documents, as the contract of an agent gives them: writes documents with their vectors, and searches them.

Vectors are made before the transaction that stores them, since a model may be asked.
"""

import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Protocol

import numpy as np
from pydantic import BaseModel

from mnestic.activities.callers import Caller
from mnestic.activities.jobs.segments import SegmentInput, find_section
from mnestic.activities.models.embedders import Embedders
from mnestic.memory.canonical import check_json
from mnestic.memory.contract.document import Collection, Vector
from mnestic.memory.errors import BudgetExceededError, InvalidInputError, NotFoundError
from mnestic.memory.forgetting.redaction import texts_of
from mnestic.memory.jobs.long_term.document_operations import (
    DeleteDocumentArguments,
    DocumentRef,
    EmbedArguments,
    EmbeddedText,
    SearchDocumentsArguments,
    SearchResults,
    UpsertArguments,
    UpsertedDocument,
)
from mnestic.memory.jobs.long_term.document_parts import cut_document
from mnestic.memory.jobs.long_term.document_store import DocumentSearch, PartVectors
from mnestic.memory.jobs.long_term.documents import (
    LARGEST_DOCUMENT_BYTES,
    DocumentPart,
    SearchResult,
)
from mnestic.memory.jobs.long_term.schemas import check_structure
from mnestic.memory.knowledge.resources import check_content
from mnestic.memory.models.errors import ModelRefusedError, ModelUnavailableError
from mnestic.memory.ports import Embedder, TokenCounter, Transaction
from mnestic.memory.retrieval.ports import Reranker
from mnestic.memory.retrieval.queries import Rerank

CollectionArguments = (
    EmbedArguments | SearchDocumentsArguments | UpsertArguments | DeleteDocumentArguments
)
_RERANKED = 50  # candidates that a reranker reads, or as many as are wanted
# Errors of a model that keep no document from being stored, and no result from being returned.
_SKIPPED = (BudgetExceededError, ModelRefusedError, ModelUnavailableError)
log = logging.getLogger("mnestic.collections")


class AccountModels(Protocol):
    """Models on a caller's account, as `mnestic.activities.retrieval.query_models.QueryModels` has them."""

    def embedders(self, caller: Caller) -> Embedders:
        """The embedders."""
        ...

    def rerankers(self, caller: Caller) -> Mapping[Rerank, Reranker]:
        """The rerankers."""
        ...


@dataclass(frozen=True, kw_only=True)
class PreparedVectors:
    """What was made for an operation outside of its transaction: its arguments, their parts, and the vectors of these."""

    arguments: CollectionArguments
    name: str
    model: str
    vectors: tuple[bytes, ...] | None
    parts: tuple[DocumentPart, ...] = ()


class Collections:
    """Does operations on collections."""

    def __init__(
        self, models: AccountModels, *, count_tokens: TokenCounter, rules: Vector | None = None
    ) -> None:
        """Prepares them.

        Args:
            models: Make vectors, and read results again.
            count_tokens: By which documents are cut.
            rules: Those of the contract; by default they are read from the contract of each operation.
        """
        self._models, self._count_tokens, self._rules = models, count_tokens, rules

    async def prepare(
        self,
        transaction: Transaction,
        params: SegmentInput,
        arguments: CollectionArguments,
        *,
        caller: Caller,
    ) -> Callable[[], Awaitable[PreparedVectors | SearchResults]] | None:
        """What asks the models that an operation needs, outside of a transaction; None if it needs none.

        It makes vectors, or a whole search if a reranker reads what is found.

        Raises:
            InvalidInputError: the contract has no such collection, metadata do not fit it, or the model or the reranker that it
                names is not there.
        """
        rules = await self._require_rules(transaction, params)
        if isinstance(arguments, DeleteDocumentArguments):
            return None
        active = None
        if not isinstance(arguments, EmbedArguments):
            rule = _collection_of(rules, arguments.collection)
            active = await transaction.documents.find_active_model(rule.collection_id)
        embedder = self._models.embedders(caller).of_contract(rules.embeddings, active=active)
        if isinstance(arguments, SearchDocumentsArguments):
            defaults = rules.retrieval
            if defaults.rerank_enabled if arguments.rerank is None else arguments.rerank:
                by = _reranker(self._models.rerankers(caller), rules)
                return partial(_search_reranked, caller, arguments, embedder, rules=rules, by=by)
        if not isinstance(arguments, UpsertArguments):
            text = arguments.text if isinstance(arguments, EmbedArguments) else arguments.query
            return partial(_make, embedder, arguments, [text])
        metadata = arguments.doc.metadata
        check_json(metadata, what="metadata")
        check_structure(rule.metadata_schema, metadata, what="metadata")
        check_content(arguments.doc.content, what="content", limit_bytes=LARGEST_DOCUMENT_BYTES)
        parts = cut_document(arguments.doc.content, count_tokens=self._count_tokens)
        return partial(_make_parts, embedder, arguments, parts)

    async def do(
        self,
        transaction: Transaction,
        params: SegmentInput,
        arguments: CollectionArguments,
        *,
        made: object,
    ) -> BaseModel:
        """Does an operation; its result is what the table says.

        Raises:
            InvalidInputError: the contract has no such collection.
            NotFoundError: there is no document to delete.
            KeptOutError: the document speaks of what was forgotten and is kept out.
        """
        rules = await self._require_rules(transaction, params)
        if isinstance(arguments, DeleteDocumentArguments):
            collection_id = _collection_of(rules, arguments.collection).collection_id
            if not await transaction.documents.remove(collection_id, arguments.document_id):
                name = f"{collection_id}/{arguments.document_id}"
                raise NotFoundError(what="document", name=name)
            return DocumentRef(collection=collection_id, id=arguments.document_id)
        if isinstance(made, SearchResults):
            return made
        assert isinstance(made, PreparedVectors), "an operation that needs vectors was prepared"
        arguments = made.arguments  # as they were when the vectors were made
        if isinstance(arguments, UpsertArguments):
            return await _upsert(transaction, arguments, made)
        if isinstance(arguments, SearchDocumentsArguments):
            found = await _search(transaction, arguments, made, rules=rules)
            return SearchResults(results=found)
        (vector,) = made.vectors or ()
        return EmbeddedText(model=made.model, vector=tuple(np.frombuffer(vector, "<f4").tolist()))

    async def _require_rules(self, transaction: Transaction, params: SegmentInput) -> Vector:
        rules = self._rules
        if rules is None:
            section = await find_section(transaction, params.contract, "vector")
            rules = Vector.model_validate(section or {"enabled": False})
        if not rules.enabled:
            why = "has no contract with vector memory"
            raise InvalidInputError(what=f"agent {params.scope.agent_id}", why=why)
        return rules


async def _search(
    transaction: Transaction,
    arguments: SearchDocumentsArguments,
    made: PreparedVectors,
    *,
    rules: Vector,
    limit: int | None = None,
) -> tuple[SearchResult, ...]:
    rule, least = _collection_of(rules, arguments.collection), arguments.similarity_threshold
    (vector,) = made.vectors or ()
    if not np.frombuffer(vector, "<f4").any():  # nothing in the query is known
        return ()
    query = DocumentSearch(
        name=made.name,
        vector=vector,
        metric=rule.similarity_metric,
        limit=limit or _top_k(arguments, rules),
        min_score=rules.retrieval.similarity_threshold if least is None else least,
        where=arguments.filter,
    )
    return await transaction.documents.search(rule.collection_id, query)


async def _search_reranked(
    caller: Caller,
    arguments: SearchDocumentsArguments,
    embedder: Embedder,
    *,
    rules: Vector,
    by: Reranker,
) -> SearchResults:
    """A search in a transaction between the calls of two models."""
    made, limit = await _make(embedder, arguments, [arguments.query]), _top_k(arguments, rules)
    async with caller() as transaction:
        found = await _search(
            transaction, arguments, made, rules=rules, limit=max(limit, _RERANKED)
        )
    if found:
        found = await _reranked(by, arguments.query, found)
    return SearchResults(results=found[:limit])


def _top_k(arguments: SearchDocumentsArguments, rules: Vector) -> int:
    return rules.retrieval.top_k if arguments.top_k is None else arguments.top_k


async def _upsert(
    transaction: Transaction, arguments: UpsertArguments, made: PreparedVectors
) -> UpsertedDocument:
    document = arguments.doc
    said = texts_of(document.model_dump(mode="json"))
    await transaction.suppression_list.check(*said, what="document")
    replaced = await transaction.documents.put(
        arguments.collection,
        document,
        made.parts,
        made=None if made.vectors is None else PartVectors(made.name, made.vectors),
    )
    return UpsertedDocument(
        collection=arguments.collection,
        id=document.id,
        parts=len(made.parts),
        replaced=replaced,
        embedded=made.vectors is not None,
    )


async def _make(
    embedder: Embedder, arguments: CollectionArguments, texts: Sequence[str]
) -> PreparedVectors:
    vectors = (await embedder.embed(texts)).vectors
    model = embedder.model or embedder.name
    return PreparedVectors(arguments=arguments, name=embedder.name, model=model, vectors=vectors)


async def _make_parts(
    embedder: Embedder, arguments: UpsertArguments, parts: tuple[DocumentPart, ...]
) -> PreparedVectors:
    """Vectors of parts; none if the model does not make them now: then `IngestMessages` asks for them."""
    texts, vectors = [part.content for part in parts], tuple[bytes, ...]()
    try:
        for start in range(0, len(texts), embedder.batch):
            vectors += (await embedder.embed(texts[start : start + embedder.batch])).vectors
    except _SKIPPED as error:
        log.warning("document has no vectors yet", extra={"why": str(error)})
        made = None
    else:
        made = vectors
    return PreparedVectors(
        arguments=arguments, name=embedder.name, model="", vectors=made, parts=parts
    )


async def _reranked(
    by: Reranker, query: str, found: Sequence[SearchResult]
) -> tuple[SearchResult, ...]:
    """Results by their relevance; as they were, if the reranker does not answer."""
    try:
        scores = await by.rerank(query, [one.content for one in found])
    except _SKIPPED as error:
        log.warning("results are not reranked", extra={"why": str(error)})
        return tuple(found)
    read = [
        one.model_copy(update={"relevance": relevance})
        for one, relevance in zip(found, scores.relevances, strict=True)
    ]
    return tuple(sorted(read, key=lambda one: -(one.relevance or 0)))


def _reranker(rerankers: Mapping[Rerank, Reranker], rules: Vector) -> Reranker:
    wanted = rules.retrieval.rerank_model
    known = [rerankers[name] for name in ("remote", "local") if name in rerankers]
    for one in known:
        if wanted is None or wanted in {one.model, one.name}:
            return one
    there = ", ".join(one.model or one.name for one in known) or "none"
    why = f"is {wanted}, which this deployment does not have; there are {there}. Set MNESTIC_RERANK_MODEL, or search with rerank=False"
    raise InvalidInputError(what="rerank_model", why=why)


def _collection_of(rules: Vector, collection_id: str) -> Collection:
    for one in rules.collections:
        if one.collection_id == collection_id:
            return one
    there = ", ".join(one.collection_id for one in rules.collections) or "none"
    why = f"{collection_id!r} is not in the contract; there are {there}"
    raise InvalidInputError(what="collection", why=why)
