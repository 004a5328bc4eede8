"""The operations of a memory contract: one table, which the client, HTTP, MCP, plan nodes and `AgentMemory` read.

What an operation does is the part of memory that has it: segments of working memory, long-term records, channels, collections, the graph.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from mnestic.memory.deferred_model import DeferredModel
from mnestic.memory.errors import InvalidInputError
from mnestic.memory.graph.graph import Edge, EndedParts, Graph, GraphPaths, GraphRows, Node
from mnestic.memory.graph.operations import (
    DeleteEdgeArguments,
    DeleteNodeArguments,
    NeighboursArguments,
    PathsArguments,
    QueryGraphArguments,
    SubgraphArguments,
    UpsertEdgeArguments,
    UpsertNodeArguments,
)
from mnestic.memory.jobs.long_term.conflicts import PersistedRecord
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
from mnestic.memory.jobs.long_term.filters import QueryFilter
from mnestic.memory.jobs.long_term.records import LongTermRecord, ReadRecord
from mnestic.memory.jobs.short_term.segments import SegmentContext
from mnestic.memory.operation_arguments import OperationArguments
from mnestic.memory.scope import Id
from mnestic.memory.selectors import Selector
from mnestic.memory.sharing.events import ChannelEvent
from mnestic.memory.sharing.locks import Lock
from mnestic.memory.sharing.namespaces import NamespaceGrant, SharedRecord
from mnestic.memory.sharing.shared_operations import (
    DeleteSharedArguments,
    DropNamespaceArguments,
    GetSharedArguments,
    GrantArguments,
    GrantList,
    ListGrantsArguments,
    ListSharedArguments,
    LockArguments,
    Removed,
    RevokeArguments,
    SetSharedArguments,
    SharedRecordPage,
    UnlockArguments,
)
from mnestic.memory.validation import Name, refused

_LONGEST_SHOWN = 256  # characters of an argument in the audit log
_TARGETS = (  # arguments that say what an operation is about
    *("segment_id", "schema_id", "namespace", "key", "channel", "selector"),
    *("node_id", "source", "target", "query_id", "collection", "document_id"),
)

OperationName = Literal[
    "get_context",
    "set_context",
    "summarize",
    "persist",
    "retrieve",
    "query",
    "publish",
    "list_events",
    "get_shared",
    "set_shared",
    "delete_shared",
    "list_shared",
    "lock",
    "unlock",
    "grant",
    "revoke",
    "list_grants",
    "drop_namespace",
    "upsert_node",
    "upsert_edge",
    "delete_node",
    "delete_edge",
    "neighbours",
    "paths",
    "subgraph",
    "query_graph",
    "embed",
    "search",
    "upsert",
    "delete_document",
]


class GetContextArguments(OperationArguments):
    """A segment to read."""

    segment_id: Name = Field(description="A segment of the contract", examples=["task_context"])


class SummarizeArguments(GetContextArguments):
    """A segment to summarize."""


class SetContextArguments(GetContextArguments):
    """A text for a segment."""

    content: str = Field(
        description="The text; what is too large is cut at a sentence", examples=["Audit site 7."]
    )


class RetrieveArguments(OperationArguments):
    """A record to read."""

    schema_id: Name = Field(description="A schema of the contract", examples=["audits"])
    key: Name = Field(description="The key of the record", examples=["site-7"])


class PersistArguments(RetrieveArguments):
    """A record to write."""

    value: Any = Field(
        description="What is stored; it has to fit the schema", examples=[{"score": 71}]
    )
    metadata: dict[str, Any] | None = Field(None, description="What is known beside the value")
    ttl_seconds: float | None = Field(
        None,
        gt=0,
        le=3_153_600_000,
        strict=True,
        description="How long it lives; default: ttl_days",
    )
    expected_version: int | None = Field(
        None,
        ge=0,
        strict=True,
        description="The version that the write follows; 0 for a new record",
    )


class QueryArguments(OperationArguments):
    """A query of a schema's records."""

    schema_id: Name = Field(description="A schema of the contract", examples=["audits"])
    filter: QueryFilter = Field(
        default_factory=QueryFilter,
        description="Which records, in which order; all by default",
        examples=[{"where": {"field": "score", "op": "lt", "value": 80}}],
    )


class PublishArguments(OperationArguments):
    """An event to publish."""

    channel: Id = Field(description="A channel of the contract", examples=["seo.violation.title"])
    event: dict[str, Any] = Field(
        description="What it says", examples=[{"severity": "high", "page": "/"}]
    )


class ListEventsArguments(OperationArguments):
    """Events to read."""

    channel: Selector = Field(
        description="A channel of the contract, or a pattern of such", examples=["seo.violation.*"]
    )
    after: int | None = Field(
        None,
        ge=0,
        le=2**63 - 1,
        strict=True,
        description="The number of the last event seen; by default the oldest kept",
    )
    limit: int = Field(100, ge=1, le=1000, strict=True, description="How many at the most")


class PublishedEvent(DeferredModel):
    """An event that was published; its number is known once it is read."""

    model_config = ConfigDict(frozen=True)

    id: str
    channel: str


class EventList(DeferredModel):
    """Events in their order; the next ones are after the number of the last."""

    model_config = ConfigDict(frozen=True)

    events: tuple[ChannelEvent, ...]


class RecordPage(DeferredModel):
    """Records in their order, and the cursor of the next page."""

    model_config = ConfigDict(frozen=True)

    records: tuple[LongTermRecord, ...]
    next_cursor: str | None = None


@dataclass(frozen=True, slots=True)
class MemoryOperation:
    """One operation: what it does in a line, what it takes and gives, and whether it writes or is about a session."""

    name: OperationName
    summary: str
    arguments: type[OperationArguments]
    result: type[BaseModel]
    writes: bool = False
    of_session: bool = False


_OPERATIONS: tuple[
    tuple[OperationName, str, type[OperationArguments], type[BaseModel], bool], ...
] = (  # name, summary, arguments, result, whether it writes
    ("get_context", "Reads a segment of a session.", GetContextArguments, SegmentContext, False),
    ("set_context", "Replaces the text of a segment.", SetContextArguments, SegmentContext, True),
    ("summarize", "Summarizes a segment but its newest.", SummarizeArguments, SegmentContext, True),
    ("persist", "Writes a record of a schema.", PersistArguments, PersistedRecord, True),
    ("retrieve", "Reads a record of a schema.", RetrieveArguments, ReadRecord, False),
    ("query", "Finds records of a schema by a filter.", QueryArguments, RecordPage, False),
    ("publish", "Publishes an event on a channel.", PublishArguments, PublishedEvent, True),
    ("list_events", "Reads events of channels in order.", ListEventsArguments, EventList, False),
    ("embed", "Makes the vector of a text.", EmbedArguments, EmbeddedText, False),
    ("search", "Finds documents near a query.", SearchDocumentsArguments, SearchResults, False),
    ("upsert", "Writes a document of a collection.", UpsertArguments, UpsertedDocument, True),
    ("delete_document", "Deletes a document.", DeleteDocumentArguments, DocumentRef, True),
    ("get_shared", "Reads a shared record.", GetSharedArguments, SharedRecord, False),
    ("set_shared", "Writes a shared record.", SetSharedArguments, SharedRecord, True),
    ("delete_shared", "Deletes a shared record.", DeleteSharedArguments, Removed, True),
    ("list_shared", "Lists records of a namespace.", ListSharedArguments, SharedRecordPage, False),
    ("lock", "Locks a key of a namespace, for a while.", LockArguments, Lock, True),
    ("unlock", "Ends a lock.", UnlockArguments, Removed, True),
    ("grant", "Gives agents a namespace.", GrantArguments, NamespaceGrant, True),
    ("revoke", "Takes a namespace from agents.", RevokeArguments, Removed, True),
    ("list_grants", "Lists who may do what in namespaces.", ListGrantsArguments, GrantList, False),
    ("drop_namespace", "Removes all in a namespace.", DropNamespaceArguments, Removed, True),
    ("upsert_node", "Writes a node of the graph.", UpsertNodeArguments, Node, True),
    ("upsert_edge", "Writes an edge between two nodes.", UpsertEdgeArguments, Edge, True),
    ("delete_node", "Ends a node, with its edges.", DeleteNodeArguments, EndedParts, True),
    ("delete_edge", "Ends an edge of the graph.", DeleteEdgeArguments, EndedParts, True),
    ("neighbours", "Reads the edges of a node.", NeighboursArguments, Graph, False),
    ("paths", "Reads the shortest paths between two nodes.", PathsArguments, GraphPaths, False),
    ("subgraph", "Reads what is around a node.", SubgraphArguments, Graph, False),
    ("query_graph", "Runs a Cypher query of the contract.", QueryGraphArguments, GraphRows, False),
)

OPERATIONS: Mapping[OperationName, MemoryOperation] = MappingProxyType(
    {
        name: MemoryOperation(
            name,
            summary,
            arguments,
            result,
            writes=writes,
            of_session=issubclass(arguments, GetContextArguments),
        )
        for name, summary, arguments, result, writes in _OPERATIONS
    }
)


def access_of(
    name: OperationName, arguments: Any, *, session_id: str | None = None
) -> tuple[str, str]:
    """The action and the target of an operation in the audit log, whatever the arguments are.

    Raises:
        InvalidInputError: there is no such operation.
    """
    if name not in OPERATIONS:
        why = f"there is no {str(name)[:_LONGEST_SHOWN]!r}; there are {', '.join(OPERATIONS)}"
        raise InvalidInputError(what="name", why=why)
    named = arguments if isinstance(arguments, Mapping) else {}
    parts = [session_id] if OPERATIONS[name].of_session else []
    parts += [named.get(field) for field in _TARGETS]
    document = named.get("doc")
    parts.append(
        document.get("id") if isinstance(document, Mapping) else getattr(document, "id", None)
    )
    shown = (part[:_LONGEST_SHOWN] for part in parts if isinstance(part, str))
    return f"memory.{name}", "/".join(shown)


def check_arguments(name: OperationName, arguments: Mapping[str, Any]) -> OperationArguments:
    """The arguments of an operation, checked.

    Raises:
        InvalidInputError: names what is wrong.
    """
    model = OPERATIONS[name].arguments
    try:
        return model.model_validate(arguments)
    except ValidationError as error:
        raise refused(name, error, model=model) from None
    except RecursionError:
        raise InvalidInputError(what=name, why="is nested too deep") from None


def check_argument_names(name: OperationName, arguments: Mapping[str, Any]) -> None:
    """Refuses arguments of which one is unknown or missing, whatever templates their values hold.

    Raises:
        InvalidInputError: names it.
    """
    fields = OPERATIONS[name].arguments.model_fields
    for unknown in arguments.keys() - fields.keys():
        raise InvalidInputError(
            what=name, why=f"has no argument {unknown!r}; it has {', '.join(fields)}"
        )
    missing = [one for one, field in fields.items() if field.is_required() and one not in arguments]
    if missing:
        raise InvalidInputError(what=name, why=f"lacks {', '.join(missing)}")
