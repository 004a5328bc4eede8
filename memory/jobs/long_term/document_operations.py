"""What the operations on collections take and give."""

from typing import Self

from pydantic import ConfigDict, Field, model_validator

from mnestic.memory.deferred_model import DeferredModel
from mnestic.memory.jobs.long_term.documents import Document, SearchResult
from mnestic.memory.jobs.long_term.filters import Condition, check_condition
from mnestic.memory.operation_arguments import OperationArguments
from mnestic.memory.validation import Name


class EmbedArguments(OperationArguments):
    """A text to embed."""

    text: str = Field(min_length=1, description="The text", examples=["How long is a title?"])


class SearchDocumentsArguments(OperationArguments):
    """A search of a collection."""

    query: str = Field(
        min_length=1, description="What is searched for", examples=["How long is a title?"]
    )
    collection: Name = Field(description="A collection of the contract", examples=["guides"])
    filter: Condition | None = Field(
        None,
        description="Which documents, by their metadata; all by default",
        examples=[{"field": "category", "value": "titles"}],
    )
    top_k: int | None = Field(
        None, ge=1, le=1000, strict=True, description="How many at the most; default: the contract"
    )
    similarity_threshold: float | None = Field(
        None, ge=0, le=1, strict=True, description="Lowest score; default: the contract"
    )
    rerank: bool | None = Field(
        None, strict=True, description="Whether a model orders the results; default: the contract"
    )

    @model_validator(mode="after")
    def _check_size(self) -> Self:
        check_condition(self.filter)
        return self


class UpsertArguments(OperationArguments):
    """A document to write."""

    collection: Name = Field(description="A collection of the contract", examples=["guides"])
    doc: Document = Field(
        description="The document; it replaces the one of its id",
        examples=[{"id": "titles", "content": "A title has at most 60 characters."}],
    )


class DeleteDocumentArguments(OperationArguments):
    """A document to delete."""

    collection: Name = Field(description="A collection of the contract", examples=["guides"])
    document_id: Name = Field(description="Its id", examples=["titles"])


class EmbeddedText(DeferredModel):
    """The vector of a text, of length 1, and the model that made it."""

    model_config = ConfigDict(frozen=True)

    model: str
    vector: tuple[float, ...]


class SearchResults(DeferredModel):
    """What a search of a collection has found, the best first."""

    model_config = ConfigDict(frozen=True)

    results: tuple[SearchResult, ...]


class DocumentRef(DeferredModel):
    """A document of a collection."""

    model_config = ConfigDict(frozen=True)

    collection: str
    id: str


class UpsertedDocument(DocumentRef):
    """A document that was written: how many parts it has, whether it replaced one, and whether its vectors are there."""

    parts: int
    replaced: bool
    embedded: bool
