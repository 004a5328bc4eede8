"""The tables of jobs: working memory, records, snapshots, waits and what belongs to them."""

from datetime import datetime
from typing import Any

from sqlalchemy import (
    ARRAY,
    BigInteger,
    CheckConstraint,
    Column,
    Index,
    Integer,
    LargeBinary,
    false,
)
from sqlalchemy.dialects.postgresql import JSON, JSONB
from sqlmodel import Field

from mnestic.stores.postgres.tables import (
    AudienceTable,
    Table,
    instant,
    maybe_instant,
    maybe_words,
    words,
)


class WorkingMemoryRow(Table, table=True):
    """The state of a session: one document of canonical JSON. A checkpoint raises the version and keeps the document."""

    __tablename__ = "working_memory"

    agent_id: str = words(key=True)
    session_id: str = words(key=True)
    version: int
    state: dict[str, Any] = Field(sa_type=JSON)
    updated_at: datetime = instant()
    last_checkpoint: str | None = maybe_words()


class DocumentRow(Table, table=True):
    """A document of a collection: its metadata, where each of its parts begins, and the numbers of these, which are entries of kind document."""

    __tablename__ = "document"

    agent_id: str = words(key=True)
    collection_id: str = words(key=True)
    id: str = words(key=True)
    metadata_: dict[str, Any] = Field(sa_column=Column("metadata", JSONB, nullable=False))
    source: str | None = maybe_words()
    places: list[Any] = Field(sa_type=JSONB)
    numbers: list[int] = Field(sa_column=Column(ARRAY(BigInteger), nullable=False))
    created_at: datetime = instant()
    updated_at: datetime = instant()


class RecordRow(Table, table=True):
    """A long-term record. After a deletion `value` is null, and the version continues.

    `backend_state` says how far it has come to the backend of its schema, null where that is this database.
    """

    __tablename__ = "long_term_record"
    __table_args__ = (
        CheckConstraint(
            "backend_state IN ('pending', 'stored', 'forgotten')",
            name="long_term_record_backend_state",
        ),
        # serves record_sync.list_pending, and pending_agents
        Index(
            "long_term_record_pending",
            "tenant_id",
            "agent_id",
            postgresql_where="backend_state <> 'stored'",
        ),
        # has one row for each key of a shared namespace, whoever owns it; serves the statements of shared_memory.sql
        Index(
            "long_term_record_shared",
            "tenant_id",
            "namespace",
            "key",
            unique=True,
            postgresql_where="starts_with(namespace, '~shared/')",
        ),
    )

    agent_id: str = words(key=True)
    namespace: str = words(key=True)
    key: str = words(key=True)
    version: int
    value: Any = Field(default=None, sa_column=Column(JSONB(none_as_null=True), nullable=True))
    created_at: datetime = instant()
    updated_at: datetime = instant()
    expires_at: datetime | None = maybe_instant()
    metadata_: dict[str, Any] | None = Field(
        default=None, sa_column=Column("metadata", JSONB(none_as_null=True))
    )
    backend_state: str | None = maybe_words()


class JobReadRow(Table, table=True):
    """One record of a job's read set: the version and the value that the job saw."""

    __tablename__ = "job_read"

    agent_id: str = words(key=True)
    job_id: str = words(key=True)
    namespace: str = words(key=True)
    key: str = words(key=True)
    version: int
    value: Any = Field(default=None, sa_column=Column(JSONB(none_as_null=True), nullable=True))
    pinned: bool = Field(default=False, sa_column_kwargs={"server_default": false()})


class EpisodeRow(AudienceTable, table=True):
    """An episode: the summary of a job or a conversation, with its payload."""

    __tablename__ = "episode"
    __table_args__ = (
        Index("episode_by_agent", "tenant_id", "agent_id", "created_at", "id"),
        Index("episode_by_session", "tenant_id", "agent_id", "session_id", "created_at", "id"),
        Index("episode_by_job", "tenant_id", "agent_id", "job_id", "created_at", "id"),
    )

    id: str = words(key=True)
    agent_id: str = words()
    session_id: str | None = maybe_words()
    job_id: str | None = maybe_words()
    summary: str = words()
    payload: dict[str, Any] = Field(sa_type=JSONB)
    created_at: datetime = instant()


class SnapshotRow(Table, table=True):
    """A snapshot of a job's memory. The application may not update it, and a trigger refuses updates.

    Where something of it was forgotten, `redacted_sha256` is the hash of what is left.
    """

    __tablename__ = "memory_snapshot"
    __table_args__ = (Index("memory_snapshot_by_job", "tenant_id", "job_id"),)

    id: str = words(key=True)
    agent_id: str = words()
    job_id: str = words()
    schema_version: int
    sha256: str = words()
    body: bytes = Field(sa_type=LargeBinary)
    memory_revision: int = Field(sa_type=BigInteger)
    created_at: datetime = instant()
    redacted_at: datetime | None = maybe_instant()
    redacted_sha256: str | None = maybe_words()


class WaitRow(Table, table=True):
    """A wait of a job, with its resumption context and its receipt."""

    __tablename__ = "job_wait"
    __table_args__ = (
        CheckConstraint(
            "state IN ('waiting', 'resumed', 'timed_out', 'cancelled')", name="job_wait_state"
        ),
        CheckConstraint("policy IN ('pinned', 'rebase', 'strict')", name="job_wait_policy"),
        CheckConstraint("(state = 'waiting') = (closed_at IS NULL)", name="job_wait_closed"),
        # serves list_by_job and list_latest
        Index("job_wait_by_job", "tenant_id", "agent_id", "job_id", "opened_at", "wait_id"),
        # serves find_receipt, and lets one request resume one wait only
        Index(
            "job_wait_by_request",
            "tenant_id",
            "job_id",
            "request_id",
            unique=True,
            postgresql_where="request_id IS NOT NULL",
        ),
        # serves the match of events, and the poll that sends them
        Index(
            *("job_wait_of_event", "tenant_id"),
            postgresql_where="state = 'waiting' AND event_channel IS NOT NULL",
        ),
        # serves the poll that looks for facts
        Index(
            *("job_wait_of_fact", "tenant_id"),
            postgresql_where="state = 'waiting' AND fact IS NOT NULL",
        ),
    )

    wait_id: str = words(key=True)
    job_id: str = words()
    agent_id: str = words()
    session_id: str = words()
    key: str = words()
    state: str = words()
    policy: str = words()
    snapshot_id: str = words()
    context: dict[str, Any] = Field(sa_type=JSONB)
    outcomes: list[str] = Field(sa_column=Column(JSONB, nullable=False, server_default="[]"))
    ask: str | None = maybe_words()
    form: Any = Field(default=None, sa_column=Column(JSONB(none_as_null=True), nullable=True))
    deadline: datetime = instant()
    opened_at: datetime = instant()
    closed_at: datetime | None = maybe_instant()
    request_id: str | None = maybe_words()
    receipt: Any = Field(default=None, sa_column=Column(JSONB(none_as_null=True), nullable=True))
    event_channel: str | None = maybe_words()
    event_where: dict[str, Any] | None = Field(
        default=None, sa_column=Column(JSONB(none_as_null=True), nullable=True)
    )
    event_number: int | None = Field(default=None, nullable=True, sa_type=BigInteger)
    fact: dict[str, Any] | None = Field(
        default=None, sa_column=Column(JSONB(none_as_null=True), nullable=True)
    )
    sent_at: datetime | None = maybe_instant()
    sent: int = Field(sa_column=Column(Integer, nullable=False, server_default="0"))
    temporal_namespace: str | None = maybe_words()


class PlanRow(Table, table=True):
    """A plan of a job, under its hash. Waits refer to it."""

    __tablename__ = "plan"

    decision_id: str = words(key=True)
    document: dict[str, Any] = Field(sa_type=JSONB)
    created_at: datetime = instant()


class ToolResultRow(Table, table=True):
    """A large result of a tool. Its job carries only a reference."""

    __tablename__ = "tool_result"

    id: str = words(key=True)
    agent_id: str = words()
    job_id: str = words()
    node: str = words()
    sha256: str = words()
    size_bytes: int = Field(sa_type=BigInteger)
    body: bytes = Field(sa_type=LargeBinary)
    created_at: datetime = instant()
