"""Documents of collections: what agents store to find it by its meaning, and what a search returns of it."""

from typing import Any, Literal

from pydantic import AwareDatetime, ConfigDict, Field

from mnestic.memory.deferred_model import DeferredModel
from mnestic.memory.validation import Name

Metric = Literal["cosine", "euclidean", "dot"]
LARGEST_DOCUMENT_BYTES = 4_194_304


class Document(DeferredModel):
    """A text of a collection, under an id of its own. One that is long is found by its parts."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    id: Name = Field(description="Id of the document; one that is there is replaced")
    content: str = Field(
        min_length=1,
        max_length=LARGEST_DOCUMENT_BYTES,
        description="Its text; headings of Markdown, and form feeds between pages, say where parts begin",
    )
    metadata: dict[str, Any] = Field(
        default_factory=dict, description="What is known of it; it has to fit the collection"
    )
    source: Name | None = Field(None, description="The file or address that it is from")


class DocumentPart(DeferredModel):
    """A part of a document, and where it begins: under which headings, in which line, on which page if there are pages."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    content: str
    headings: tuple[str, ...] = ()
    line: int = 1
    page: int | None = None


class DocumentPlace(DeferredModel):
    """Where a part of a document stands; parts are counted from 0."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    source: str | None = None
    part: int = 0
    headings: tuple[str, ...] = ()
    line: int = 1
    page: int | None = None


class SearchResult(DeferredModel):
    """A part of a document that a search has found.

    `score` is how near its vector is to that of the query, from 0 to 1; `relevance` is what a reranker says, if one read it.
    """

    model_config = ConfigDict(frozen=True)

    id: str
    content: str
    score: float
    relevance: float | None = None
    metadata: dict[str, Any]
    place: DocumentPlace


class StoredParts(DeferredModel):
    """A document as it is stored."""

    model_config = ConfigDict(frozen=True)

    collection_id: str
    id: str
    metadata: dict[str, Any]
    source: str | None
    parts: tuple[DocumentPart, ...]
    created_at: AwareDatetime
    updated_at: AwareDatetime


def score_of(metric: Metric, similarity: float) -> float:
    """The score of a vector by the inner product with that of the query; both have length 1.

    Source: the scores of Elasticsearch's `dense_vector`, which keep the order and are from 0 to 1.
    """
    if metric == "euclidean":
        return 1 / (1 + max(0.0, 2 - 2 * similarity))  # the square of the distance
    return min(1.0, max(0.0, (1 + similarity) / 2))
