"""The document `Memory:`, which says what memory an agent has, as models.

`checks.py` sees what no field shows: budgets together, references, queries. A section that is left out is disabled; one
that is written says whether it is enabled. Numbers and booleans are never read from text.
"""

from typing import Annotated, Any, ClassVar, Literal

from pydantic import ConfigDict, Field

from mnestic.memory.deferred_model import DeferredModel
from mnestic.memory.jobs.long_term.backends import RemoteBackend
from mnestic.memory.scope import Id
from mnestic.memory.selectors import Selector
from mnestic.memory.sharing.locks import LOCK_TIMEOUT_MS, LockStrategy, LockTimeout
from mnestic.memory.sharing.namespaces import AccessLevel
from mnestic.memory.validation import Name

EvictionPolicy = Literal["lru", "fifo", "priority"]
Retention = Literal["session", "task", "persistent"]
SummaryStrategy = Literal["extractive", "abstractive", "hybrid"]
StorageType = Literal["supabase", "redis", "vector", "graph", "postgres"]
SyncStrategy = Literal["write_through", "write_back", "read_through"]
ConflictResolution = Literal["last_write", "merge", "manual"]
SimilarityMetric = Literal["cosine", "euclidean", "dot"]

Count = Annotated[int, Field(strict=True)]
Flag = Annotated[bool, Field(strict=True)]
Tokens = Annotated[Count, Field(ge=1, le=10_000_000)]
LongText = Annotated[str, Field(max_length=10_000)]

_DRAFT = "https://json-schema.org/draft/2020-12/schema"


class Part(DeferredModel):
    """A part of the document. Its errors show no values, which may be filled in from the environment."""

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)


class ListedPart(Part):
    """A part that stands in a list, where it is the only one with its id."""

    id_fields: ClassVar[tuple[str, ...]]

    @property
    def list_id(self) -> str:
        """What tells it from the others in its list; ids contain no blanks."""
        return " ".join(str(getattr(self, field)) for field in self.id_fields)


class Segment(ListedPart):
    """A named part of the context with a token budget of its own."""

    id_fields = ("segment_id",)
    segment_id: Id = Field(description="Id of the segment, such as conversation")
    priority: Count = Field(1, ge=1, le=1_000_000, description="Rank; 1 is evicted last")
    max_tokens: Tokens = Field(description="Token budget of the segment")
    retention: Retention = Field("session", description="What its content ends with, if anything")


class Summarization(Part):
    """When and how the context is summarized before anything is evicted."""

    enabled: Flag = Field(description="Whether the context is summarized")
    trigger_threshold: Count = Field(80, ge=1, le=100, description="At which percent of max_tokens")
    strategy: SummaryStrategy = Field("hybrid", description="Key sentences, a new text, or both")


class ShortTerm(Part):
    """Short-term memory: what stands in the context window."""

    enabled: Flag = Field(description="Whether the agent has short-term memory")
    max_tokens: Tokens = Field(100_000, description="Token budget of all segments together")
    eviction_policy: EvictionPolicy = Field(
        "priority", description="First out: least recently used, oldest, or lowest in priority"
    )
    segments: tuple[Segment, ...] = Field((), description="The parts of the context")
    summarization: Summarization = Field(
        default_factory=lambda: Summarization(enabled=False), description="Summaries of the context"
    )


class BackendConfig(Part):
    """Where a backend is."""

    connection_string: Annotated[str, Field(min_length=1, max_length=2_000)] | None = Field(
        None,
        description="Address, with secrets as ${NAME} from the environment; default: Mnestic's own database",
    )
    table_prefix: str | None = Field(
        None, pattern=r"^[a-z_][a-z0-9_]{0,31}$", description="How names of its tables begin"
    )


class StorageBackend(ListedPart):
    """A store of rows."""

    id_fields = ("backend_id",)
    backend_id: Id = Field(description="Id of the backend, which schemas name")
    type: StorageType = Field(description="Kind of store")
    config: BackendConfig = Field(default_factory=BackendConfig, description="Where it is")

    @property
    def remote(self) -> RemoteBackend | None:
        """The backend as records use it; None where that is Mnestic's own database."""
        if self.type not in {"postgres", "supabase", "redis"} or not self.config.connection_string:
            return None
        fields = {"backend_id": self.backend_id, "type": self.type, **self.config.model_dump()}
        return RemoteBackend.model_validate(fields)


class RecordSchema(ListedPart):
    """A kind of rows: their form, indexes and time to live."""

    id_fields = ("schema_id",)
    schema_id: Id = Field(description="Id of the schema, such as agent_state")
    backend: Id = Field(description="backend_id of the store that has the rows")
    structure: dict[str, Any] = Field(description="JSON Schema (2020-12) of the rows")
    indexes: tuple[Name, ...] = Field((), description="Indexed properties; a.b is b inside of a")
    ttl_days: Count = Field(0, ge=0, le=36_500, description="Days that rows live; 0: forever")


class Sync(Part):
    """How writes reach the backend."""

    strategy: SyncStrategy = Field(
        "write_through", description="With the write, later in the background, or at the next read"
    )
    conflict_resolution: ConflictResolution = Field(
        "last_write", description="Of two writes: the last wins, both are merged, a person decides"
    )


class LongTerm(Part):
    """Long-term memory: rows that outlast a session."""

    enabled: Flag = Field(description="Whether the agent has long-term memory")
    storage_backends: tuple[StorageBackend, ...] = Field((), description="Stores of rows")
    schemas: tuple[RecordSchema, ...] = Field((), description="Kinds of rows")
    sync: Sync = Field(default_factory=Sync, description="How writes reach the backend")

    @property
    def remote_backends(self) -> tuple[RemoteBackend, ...]:
        """Its backends but Mnestic's own database."""
        found = (backend.remote for backend in self.storage_backends if self.enabled)
        return tuple(backend for backend in found if backend is not None)

    @property
    def remote_schemas(self) -> dict[str, RemoteBackend]:
        """The backend of each schema whose records are not in Mnestic's database alone."""
        backends = {backend.backend_id: backend for backend in self.remote_backends}
        return {s.schema_id: backends[s.backend] for s in self.schemas if s.backend in backends}


class Namespace(ListedPart):
    """Keys and values that agents share."""

    id_fields = ("namespace",)
    namespace: Id = Field(description="Name of the namespace, such as seo:audit")
    access_level: AccessLevel = Field(
        description="What the agents may do; each includes the former"
    )
    agents_allowed: tuple[Selector, ...] = Field(description="Agents, such as agent.seo.* or *")


class Channel(ListedPart):
    """A channel of events between agents."""

    id_fields = ("channel",)
    channel: Id = Field(description="Name of the channel, such as aicos:events")
    pattern: Selector = Field("*", description="Events on it, such as seo.violation.*")


class PubSub(Part):
    """Events between agents."""

    enabled: Flag = Field(description="Whether agents publish and subscribe")
    channels: tuple[Channel, ...] = Field((), description="Channels of events")


class Coordination(Part):
    """How agents lock what they share. Every lock has a timeout."""

    lock_strategy: LockStrategy = Field(
        "optimistic", description="Lock before a write, compare versions at the write, or neither"
    )
    lock_timeout_ms: LockTimeout = Field(
        LOCK_TIMEOUT_MS, description="Milliseconds until a lock is released by itself"
    )
    retry_count: Count = Field(3, ge=0, le=100, description="Further attempts if a lock fails")


class Shared(Part):
    """Shared memory: between agents."""

    enabled: Flag = Field(description="Whether the agent shares memory")
    namespaces: tuple[Namespace, ...] = Field((), description="What is shared, and with whom")
    pubsub: PubSub = Field(
        default_factory=lambda: PubSub(enabled=False), description="Events between agents"
    )
    coordination: Coordination = Field(default_factory=Coordination, description="Locks")


class EmbeddingModel(Part):
    """The model that makes vectors."""

    model: Name = Field(description="Name of the model, such as text-embedding-3-large")
    dimensions: Count = Field(ge=1, le=3_072, description="Dimensions of its vectors")

    @property
    def vectors(self) -> str:
        """The name under which its vectors are stored."""
        return f"{self.model}-{self.dimensions}"


class Collection(ListedPart):
    """Documents that are searched by meaning."""

    id_fields = ("collection_id",)
    collection_id: Id = Field(description="Id of the collection, such as knowledge_base")
    description: LongText = Field("", description="What is in the collection")
    metadata_schema: dict[str, Any] = Field({}, description="JSON Schema (2020-12) of metadata")
    similarity_metric: SimilarityMetric = Field("cosine", description="How vectors are compared")


class VectorRetrieval(Part):
    """How collections are searched."""

    top_k: Count = Field(10, ge=1, le=1_000, description="Number of results at most")
    similarity_threshold: float = Field(0.0, strict=True, ge=0, le=1, description="Lowest score")
    rerank_enabled: Flag = Field(False, description="Whether a model ranks results again")
    rerank_model: Name | None = Field(None, description="Its name; default: the worker's setting")


class Vector(Part):
    """Vector memory: documents, found by meaning."""

    enabled: Flag = Field(description="Whether the agent has vector memory")
    embeddings: EmbeddingModel | None = Field(
        None, description="Model of all collections; default: the worker's setting"
    )
    collections: tuple[Collection, ...] = Field((), description="Collections of documents")
    retrieval: VectorRetrieval = Field(default_factory=VectorRetrieval, description="Searches")


class NodeType(ListedPart):
    """A type of nodes."""

    id_fields = ("type",)
    type: Id = Field(description="Name of the type, such as Task")
    properties: tuple[Name, ...] = Field((), description="Properties that its nodes may have")


class EdgeType(ListedPart):
    """A type of edges between two types of nodes; one name may join several pairs of types."""

    id_fields = ("type", "from_node", "to_node")
    type: Id = Field(description="Name of the type, such as DEPENDS_ON")
    from_node: Id = Field(description="Type of the nodes where its edges begin")
    to_node: Id = Field(description="Type of the nodes where its edges end")
    properties: tuple[Name, ...] = Field((), description="Properties that its edges may have")


class GraphQuery(ListedPart):
    """A query with a name. It reads and never writes."""

    id_fields = ("query_id",)
    query_id: Id = Field(description="Id of the query, such as get_agent_dependencies")
    cypher: Annotated[LongText, Field(min_length=1)] = Field(description="Text of the query")


class GraphMemory(Part):
    """Graph memory: nodes and the edges between them."""

    enabled: Flag = Field(description="Whether the agent has graph memory")
    nodes: tuple[NodeType, ...] = Field((), description="Types of nodes")
    edges: tuple[EdgeType, ...] = Field((), description="Types of edges")
    queries: tuple[GraphQuery, ...] = Field((), description="Queries that agents call by id")


class MemorySections(Part):
    """The five kinds of memory of an agent. One that is left out is disabled."""

    short_term: ShortTerm = Field(
        default_factory=lambda: ShortTerm(enabled=False), description="What stands in the context"
    )
    long_term: LongTerm = Field(
        default_factory=lambda: LongTerm(enabled=False), description="Rows that outlast a session"
    )
    shared: Shared = Field(
        default_factory=lambda: Shared(enabled=False), description="What agents share"
    )
    vector: Vector = Field(
        default_factory=lambda: Vector(enabled=False), description="Documents, found by meaning"
    )
    graph: GraphMemory = Field(
        default_factory=lambda: GraphMemory(enabled=False), description="Nodes and edges"
    )


class MemoryContract(Part):
    """A memory contract: which kinds of memory an agent has, and the rules of each."""

    Memory: MemorySections = Field(description="The memory of the agent")


def json_schema() -> dict[str, Any]:
    """The JSON Schema (2020-12) of the document, by which editors complete and check it."""
    schema = MemoryContract.model_json_schema()
    return {"$schema": _DRAFT, **schema, "title": "Mnestic memory contract"}
