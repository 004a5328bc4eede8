"""The tables of knowledge: messages, claims and facts, entries and the indexes that find them, summaries, the graph, events."""

from datetime import datetime
from typing import Any

from pgvector.sqlalchemy import HALFVEC
from sqlalchemy import (
    ARRAY,
    REAL,
    BigInteger,
    CheckConstraint,
    Column,
    Computed,
    Double,
    Identity,
    Index,
    Integer,
    SmallInteger,
    Text,
)
from sqlalchemy.dialects.postgresql import INT8MULTIRANGE, JSONB, TSVECTOR
from sqlmodel import Field

from mnestic.stores.postgres.tables import (
    INSTANT,
    AudienceTable,
    Table,
    audience_column,
    instant,
    maybe_instant,
    maybe_words,
    words,
)

_CATEGORIES = "'profile', 'preferences', 'relationships', 'work', 'events', 'knowledge'"
_NAMING = "'also_known_as', 'full_name', 'nickname', 'preferred_name'"
_TYPES = (
    "'interaction', 'insight', 'correction', 'context', 'learning', 'error', 'success', 'pattern', "
    "'preference', 'knowledge'"
)
_WORDS = "mnestic.words_of(entry ->> 'language', entry ->> 'content')"
_DUPLICATE_KEY = "mnestic.duplicate_key(kind, entry_type, content, speaker, channel, parent, subjects, tags, aliases, expires_at)"


def _of(document: str, name: str) -> Any:
    """A column that is a member of a JSON column."""
    return Field(
        default=None, sa_column=Column(Text, Computed(f"{document} ->> '{name}'"), nullable=True)
    )


class ClaimRow(AudienceTable, table=True):
    """A claim: what one message or person says. Rows never change."""

    __tablename__ = "claim"
    __table_args__ = (
        CheckConstraint(
            "kind IN ('affirmed', 'corrected', 'ended', 'retracted', 'reactivated', 'deleted', 'faded')",
            name="claim_kind",
        ),
        # serves claim, of facts
        Index("claim_by_topic", "tenant_id", "agent_id", "subject_key", "predicate"),
        # serves list_from, find_candidates and fetch_hits
        Index("claim_by_source", "tenant_id", "agent_id", "session_id", "source_id"),
    )

    agent_id: str = words(key=True)
    id: str = words(key=True)
    kind: str = words()
    subject: str = words()
    subject_key: str = words()
    predicate: str = words()
    object: str | None = maybe_words()
    confidence: float = Field(sa_type=Double)
    said_at: datetime = instant()
    valid_from: datetime | None = maybe_instant()
    valid_to: datetime | None = maybe_instant()
    source: dict[str, Any] = Field(sa_type=JSONB)
    session_id: str | None = _of("source", "session_id")
    source_id: str | None = _of("source", "source_id")
    recorded_at: datetime = instant()


class FactRow(AudienceTable, table=True):
    """A fact: what is believed. It is computed from claims, again with each new claim.

    Weekly maintenance computes `decayed_confidence`, which a new claim clears. `used_at` and `promotion`, which is part of `confidence`, are what nights have seen of its use; they stay.
    """

    __tablename__ = "fact"
    __table_args__ = (
        CheckConstraint("status IN ('active', 'archived', 'deleted')", name="fact_status"),
        CheckConstraint("cardinality IN ('single', 'multi')", name="fact_cardinality"),
        CheckConstraint(f"category IN ({_CATEGORIES})", name="fact_category"),
        # serves list, and claim
        Index(
            *("fact_by_topic", "tenant_id", "agent_id", "subject_key", "predicate"),
            *("valid_from", "id"),
        ),
        Index(
            *("fact_active_single", "tenant_id", "agent_id", "subject_key", "predicate"),
            "audience",
            unique=True,
            postgresql_where="status = 'active' AND cardinality = 'single'",
        ),
        Index(
            *("fact_active_multi", "tenant_id", "agent_id", "subject_key", "predicate"),
            *("object_key", "audience"),
            unique=True,
            postgresql_where="status = 'active' AND cardinality = 'multi'",
        ),
        # serves list_entries and resolve_terms: whom a name means
        Index(
            *("fact_by_name", "tenant_id", "agent_id", "object_key"),
            postgresql_where=f"status = 'active' AND predicate IN ({_NAMING})",
        ),
        # serves resolve_terms: when something next ends
        Index(
            *("fact_ending", "tenant_id", "agent_id", "valid_to"),
            postgresql_where="status = 'active' AND valid_to IS NOT NULL",
        ),
        # serves read, of categories
        Index(
            *("fact_by_category", "tenant_id", "agent_id", "category", "valid_from", "id"),
            postgresql_where="status = 'active'",
        ),
    )

    agent_id: str = words(key=True)
    id: str = words(key=True)
    subject: str = words()
    subject_key: str = words()
    predicate: str = words()
    object: str = words()
    object_key: str = words()
    category: str = words()
    cardinality: str = words()
    status: str = words()
    confidence: float = Field(sa_type=Double)
    valid_from: datetime = instant()
    valid_to: datetime | None = maybe_instant()
    end: str | None = maybe_words()
    supersedes: str | None = maybe_words()
    superseded_by: str | None = maybe_words()
    decayed_confidence: float | None = Field(default=None, sa_type=Double, nullable=True)
    promotion: float = Field(sa_column=Column(Double, nullable=False, server_default="0"))
    used_at: datetime | None = maybe_instant()
    claims: list[str] = Field(sa_type=JSONB)
    created_at: datetime = instant()
    updated_at: datetime = instant()


def _names() -> Any:
    """A column that is a list of names."""
    return Field(sa_type=JSONB)


class EntryRow(AudienceTable, table=True):
    """An entry: a text that a search finds. The indexes refer to it by `number`; `lexemes` is its length.

    Entries that may say the same have one `duplicate_key`. `features` are those of `mnestic.memory.knowledge.entry_features`. `tokens` are those of its first
    terms in the local embedder, for late interaction; null if it was written without one. `summary` is null if it is the content.
    One of kind document is a part of the document `session_id`, and its `agent_id` names a collection: AGENT/COLLECTION. One of another `kind` than message follows from
    the fact or the episode of its id, or from archived entries that name it.
    """

    __tablename__ = "entry"
    __table_args__ = (
        CheckConstraint("status IN ('active', 'archived')", name="entry_status"),
        CheckConstraint(f"entry_type IN ({_TYPES})", name="entry_type"),
        CheckConstraint(
            "kind IN ('message', 'fact', 'episode', 'compressed', 'document')", name="entry_kind"
        ),
        # serves list_agents and count_entries: the entries of facts and episodes, which have their ids
        Index(
            *("entry_derived", "tenant_id", "agent_id", "kind"),
            postgresql_where="kind <> 'message'",
        ),
        Index("entry_by_number", "tenant_id", "agent_id", "number", unique=True),
        Index("entry_by_time", "tenant_id", "agent_id", "at", "number"),
        Index("entry_by_session", "tenant_id", "agent_id", "session_id", "at", "number"),
        # serves list_entries and find_candidates; of the channel alone, so that each is in it once
        Index("entry_by_channel", "tenant_id", "agent_id", "channel"),
        Index(
            *("entry_by_parent", "tenant_id", "agent_id", "parent"),
            postgresql_where="parent IS NOT NULL",
        ),
        Index(
            *("entry_expiring", "tenant_id", "agent_id", "expires_at"),
            postgresql_where="expires_at IS NOT NULL",
        ),
        # serves hidden_entries: how many a reader may not see
        Index(
            *("entry_with_readers", "tenant_id", "agent_id", "audience"),
            postgresql_include=["lexemes"],
            postgresql_where="audience <> 0",
        ),
    )

    agent_id: str = words(key=True)
    id: str = words(key=True)
    number: int | None = Field(
        default=None, sa_column=Column(BigInteger, Identity(always=True), nullable=False)
    )
    entry_type: str = words()
    status: str = words()
    content: str = words()
    summary: str | None = maybe_words()
    session_id: str | None = maybe_words()
    source_id: str | None = maybe_words()
    channel: str | None = maybe_words()
    speaker: str | None = maybe_words()
    subjects: list[str] = _names()
    keywords: list[str] = _names()
    tags: list[str] = _names()
    aliases: list[str] = _names()
    times: list[dict[str, Any]] = Field(sa_type=JSONB)
    related: list[str] = _names()
    parent: str | None = maybe_words()
    importance: float = Field(sa_type=REAL)
    critical: bool
    access_count: int
    last_accessed: datetime | None = maybe_instant()
    language: str = words()
    lexemes: int | None = Field(
        default=None,
        sa_column=Column(
            Integer, Computed("mnestic.count_lexemes(language, content)"), nullable=False
        ),
    )
    duplicate_key: int | None = Field(
        default=None, sa_column=Column(BigInteger, Computed(_DUPLICATE_KEY), nullable=True)
    )
    at: datetime = instant()
    created_at: datetime = instant()
    updated_at: datetime = instant()
    expires_at: datetime | None = maybe_instant()
    features: int = Field(sa_type=SmallInteger)
    tokens: bytes | None
    kind: str = Field(sa_column=Column(Text, nullable=False, server_default="message"))
    merged_into: str | None = maybe_words()
    restored_at: datetime | None = maybe_instant()
    reinstated_at: datetime | None = maybe_instant()
    replaces: list[Any] = Field(sa_column=Column(JSONB, nullable=False, server_default="[]"))


class ArchivedEntryRow(AudienceTable, table=True):
    """An entry in the archive, in no index: the whole row of `entry`, and its vectors by model.

    `run` is the maintenance run that has archived it, if one did. `words` find it where nothing live answers.
    """

    __tablename__ = "archived_entry"
    __table_args__ = (
        CheckConstraint(
            "reason IN ('unimportant', 'over_limit', 'by_hand', 'compressed', 'merged')",
            name="archived_entry_reason",
        ),
        # serves list_archived
        Index("archived_entry_by_time", "tenant_id", "agent_id", "archived_at", "id"),
        # serves entries_from
        Index("archived_entry_by_source", "tenant_id", "agent_id", "session_id", "source_id"),
        # serves select_merged and merge_entries
        Index(
            *("archived_entry_merged", "tenant_id", "agent_id", "merged_into"),
            postgresql_where="merged_into IS NOT NULL",
        ),
    )

    agent_id: str = words(key=True)
    id: str = words(key=True)
    archived_at: datetime = instant()
    reason: str = words()
    run: str | None = maybe_words()
    entry: dict[str, Any] = Field(sa_type=JSONB)
    models: list[str] = Field(sa_column=Column(ARRAY(Text), nullable=False))
    vectors: list[Any] = Field(sa_column=Column(ARRAY(HALFVEC), nullable=False))
    session_id: str | None = _of("entry", "session_id")
    source_id: str | None = _of("entry", "source_id")
    merged_into: str | None = _of("entry", "merged_into")
    words: str | None = Field(
        default=None, sa_column=Column(TSVECTOR, Computed(_WORDS), nullable=True)
    )


class SupersessionRow(Table, table=True):
    """Since when what an entry says is so no longer, by which entry, and why; `supersede_entries.sql` alone writes it.

    It is no part of the entry's row, so that who decides it needs no lock of entries that others write.
    """

    __tablename__ = "supersession"
    __table_args__ = (
        CheckConstraint(
            "why IN ('superseded', 'replaced', 'ended', 'corrected', 'withdrawn')",
            name="supersession_why",
        ),
    )

    agent_id: str = words(key=True)
    entry_id: str = words(key=True)
    at: datetime = instant()
    by: str | None = maybe_words()
    why: str = words()


class PostingRow(AudienceTable, table=True):
    """A list of the entries that have a lexeme, from that of `first_number` up to the next list, of one audience.

    Each posting is the number of an entry, the frequency of the lexeme in it, and its length: `mnestic.unpack_postings` reads them.
    """

    __tablename__ = "posting"

    agent_id: str = words(key=True)
    lexeme: str = words(key=True)
    audience: int = audience_column(key=True)
    first_number: int = Field(primary_key=True, sa_type=BigInteger)
    postings: list[int] = Field(sa_column=Column(ARRAY(BigInteger), nullable=False))


class CorpusRow(Table, table=True):
    """The number of an agent's entries, their total length in lexemes, their languages, and the model of their vectors.

    Searches compare vectors of `active_model`. Until `switched_at` they compared those of `previous_model`, which are there for
    the way back. `rejected_model` is one from which somebody switched back.
    """

    __tablename__ = "corpus"

    agent_id: str = words(key=True)
    entries: int = Field(sa_type=BigInteger)
    lexemes: int = Field(sa_type=BigInteger)
    languages: list[str] = Field(sa_column=Column(ARRAY(Text), nullable=False))
    active_model: str | None = maybe_words()
    previous_model: str | None = maybe_words()
    rejected_model: str | None = maybe_words()
    switched_at: datetime | None = maybe_instant()


class EntryTermRow(AudienceTable, table=True):
    """A keyword, tag, alias or subject of an entry, or an entry that it is related to or that it replaced, ended or corrected."""

    __tablename__ = "entry_term"
    __table_args__ = (
        CheckConstraint(
            "kind IN ('keyword', 'tag', 'alias', 'subject', 'related', 'replaced', 'ended', 'corrected')",
            name="entry_term_kind",
        ),
    )

    agent_id: str = words(key=True)
    kind: str = words(key=True)
    term: str = words(key=True)
    entry_number: int = Field(primary_key=True, sa_type=BigInteger)


class EmbeddingRow(AudienceTable, table=True):
    """The vector of an entry, by one model."""

    __tablename__ = "embedding"

    agent_id: str = words(key=True)
    model: str = words(key=True)
    entry_number: int = Field(primary_key=True, sa_type=BigInteger)
    dimensions: int
    vector: list[float] = Field(sa_type=HALFVEC)


class EmbeddingModelRow(Table, table=True):
    """The number of an agent's entries that have a vector by a model. All entries up to `complete_to` have one.

    Which entries have none is found without looking at those that have one.
    """

    __tablename__ = "embedding_model"

    agent_id: str = words(key=True)
    model: str = words(key=True)
    entries: int = Field(sa_type=BigInteger)
    complete_to: int = Field(sa_type=BigInteger)


class EventRow(Table, table=True):
    """An event about a change of memory, for subscribers."""

    __tablename__ = "memory_event"
    __table_args__ = (
        CheckConstraint("target IN ('fact', 'entry', 'pattern')", name="memory_event_target"),
    )

    agent_id: str = words(key=True)
    number: int = Field(sa_column=Column(BigInteger, primary_key=True, autoincrement=False))
    kind: str = words()
    target: str = words()
    ids: list[str] = _names()
    subject: str | None = maybe_words()
    predicate: str | None = maybe_words()
    details: dict[str, Any] = Field(sa_type=JSONB)
    at: datetime = instant()


class IngestStateRow(AudienceTable, table=True):
    """The state of a message's extraction; `reason` says why it is parked, `corrects` which message, by source id, it corrects.

    `job_id` and `workflow_run` are of the job that received it; `context` has the numbers of the messages that it was read with, `replaces`
    the places of those that it replaces.
    """

    __tablename__ = "ingest_state"
    __table_args__ = (
        CheckConstraint(
            "state IN ('received', 'extracted', 'learned', 'parked', 'dropped')",
            name="ingest_state_state",
        ),
        CheckConstraint("kind IN ('message', 'tool_result')", name="ingest_state_kind"),
        CheckConstraint("(state = 'parked') = (reason IS NOT NULL)", name="ingest_state_parked"),
        # serves take and list_by_state; the migration says of which collation it is, and why
        Index(
            *("ingest_state_by_state", "tenant_id", "agent_id", "state", "number"),
            postgresql_where="state <> 'learned'",
        ),
    )

    agent_id: str = words(key=True)
    session_id: str = words(key=True)
    source_id: str = words(key=True)
    number: int | None = Field(
        default=None, sa_column=Column(BigInteger, Identity(always=True), nullable=False)
    )
    state: str = words()
    entry_type: str = words()
    kind: str = words()
    job_id: str | None = maybe_words()
    workflow_run: str | None = maybe_words()
    corrects: str | None = maybe_words()
    extractor: str | None = maybe_words()
    extracted: Any = Field(default=None, sa_column=Column(JSONB(none_as_null=True), nullable=True))
    replaces: list[Any] = Field(sa_column=Column(JSONB, nullable=False, server_default="[]"))
    context: Any = Field(default=None, sa_type=INT8MULTIRANGE, nullable=True)
    reason: str | None = maybe_words()
    updated_at: datetime = instant()


class ResourceRow(AudienceTable, table=True):
    """A raw message. Rows never change, except that forgetting empties them."""

    __tablename__ = "resource"
    __table_args__ = (
        # serves list_by_session and list_around; the migration says of which collation it is
        Index("resource_by_session", "tenant_id", "agent_id", "session_id", "at", "source_id"),
    )

    agent_id: str = words(key=True)
    session_id: str = words(key=True)
    source_id: str = words(key=True)
    channel: str = words()
    speaker: str = words()
    content: str = words()
    at: datetime = instant()
    offset_minutes: int = Field(
        default=0, sa_column=Column(SmallInteger, nullable=False, server_default="0")
    )
    created_at: datetime = instant()
    forgotten_at: datetime | None = maybe_instant()


class GraphEdgeRow(AudienceTable, table=True):
    """An edge of the graph: the fact of its id, as a connection of two nodes, or a declared one, which alone has properties.

    That of a fact follows it in the same transaction.
    """

    __tablename__ = "graph_edge"
    __table_args__ = (
        # serve list_edges; they begin with the name, so that only the primary key serves to look an edge up
        Index("graph_edge_by_source", "source_key", "agent_id", "tenant_id"),
        Index("graph_edge_by_target", "target_key", "agent_id", "tenant_id"),
    )

    agent_id: str = words(key=True)
    id: str = words(key=True)
    source: str = words()
    source_key: str = words()
    predicate: str = words()
    target: str = words()
    target_key: str = words()
    weight: float = Field(sa_type=Double)
    is_active: bool
    valid_from: datetime = instant()
    valid_to: datetime | None = maybe_instant()
    properties: dict[str, Any] | None = Field(default=None, sa_type=JSONB)


class GraphNodeRow(Table, table=True):
    """A version of a declared node of the graph, from a write of it to the next one."""

    __tablename__ = "graph_node"

    agent_id: str = words(key=True)
    key: str = words(key=True)
    id: str = words()
    type: str = words()
    properties: dict[str, Any] = Field(sa_type=JSONB)
    valid_from: datetime = Field(primary_key=True, sa_type=INSTANT)
    valid_to: datetime | None = maybe_instant()


class CategoryRow(Table, table=True):
    """The summary of a category of an agent's facts; null after one of these has changed, until it is built again.

    `model` is the chat model that was asked to write it; null if none was.
    """

    __tablename__ = "category"
    __table_args__ = (CheckConstraint(f"name IN ({_CATEGORIES})", name="category_name"),)

    agent_id: str = words(key=True)
    name: str = words(key=True)
    summary: str | None = maybe_words()
    model: str | None = maybe_words()
    updated_at: datetime = instant()


class PredicateRow(Table, table=True):
    """A tenant's changes to a predicate. The other predicates have their defaults."""

    __tablename__ = "predicate"
    __table_args__ = (
        CheckConstraint("cardinality IN ('single', 'multi')", name="predicate_cardinality"),
        CheckConstraint(f"category IN ({_CATEGORIES})", name="predicate_category"),
    )

    name: str = words(key=True)
    cardinality: str = words()
    category: str = words()
    updated_at: datetime = instant()


class SummaryRow(Table, table=True):
    """The summary of a session in a week, a week, a month or the whole life of an agent with many messages.

    `digest` is that of what it was made of. It is removed once one of its messages changes or is gone, until it is built again.
    """

    __tablename__ = "summary"
    __table_args__ = (
        CheckConstraint("level IN ('session', 'week', 'month', 'life')", name="summary_level"),
        CheckConstraint("level = 'session' OR session_id = ''", name="summary_session"),
        # serves clear_summaries and find
        Index(
            *("summary_by_session", "tenant_id", "agent_id", "session_id", "starts_at"),
            postgresql_where="level = 'session'",
        ),
    )

    agent_id: str = words(key=True)
    level: str = words(key=True)
    starts_at: datetime = Field(primary_key=True, sa_type=INSTANT)
    session_id: str = words(key=True)
    ends_at: datetime = instant()
    text: str = words()
    tokens: int
    messages: int = Field(sa_type=BigInteger)
    digest: str = words()
    updated_at: datetime = instant()
