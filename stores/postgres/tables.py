"""The tables, as SQLModel classes.

They stand in one module because a reader wants the whole schema at one sight. The migrations make
them; a test proves that both agree. Roles, row-level security and triggers live in the migrations.
"""

from datetime import datetime
from decimal import Decimal
from typing import Any

from sqlalchemy import (
    BigInteger,
    CheckConstraint,
    Column,
    Computed,
    DateTime,
    Double,
    Identity,
    Index,
    Integer,
    LargeBinary,
    Numeric,
    Text,
    false,
)
from sqlalchemy.dialects.postgresql import JSON, JSONB
from sqlmodel import Field, MetaData, SQLModel

_CATEGORIES = "'profile', 'preferences', 'relationships', 'work', 'events', 'knowledge'"
INSTANT = DateTime(timezone=True)


class Table(SQLModel):
    """What all tables have: a tenant, at the front of every key."""

    metadata = MetaData(schema="mnestic")

    tenant_id: str = Field(primary_key=True, sa_type=Text)


def _text(*, key: bool = False) -> Any:
    return Field(primary_key=key, sa_type=Text)


def _maybe_text() -> Any:
    return Field(default=None, nullable=True, sa_type=Text)


def _instant() -> Any:
    return Field(sa_type=INSTANT)


def _maybe_instant() -> Any:
    return Field(default=None, nullable=True, sa_type=INSTANT)


class WorkingMemoryRow(Table, table=True):
    """A session's state as one document in canonical form, rewritten at each version but a checkpoint's.

    `message_count` is null where the document is no state.
    """

    __tablename__ = "working_memory"

    agent_id: str = _text(key=True)
    session_id: str = _text(key=True)
    version: int
    state: dict[str, Any] = Field(sa_type=JSON)
    updated_at: datetime = _instant()
    last_checkpoint: str | None = _maybe_text()
    message_count: int | None = Field(
        default=None,
        sa_column=Column(Integer, Computed("json_array_length((state -> 'messages'::text))")),
    )


class RecordRow(Table, table=True):
    """A long-term record; `value` is null once it is deleted, and the version goes on counting."""

    __tablename__ = "long_term_record"

    agent_id: str = _text(key=True)
    namespace: str = _text(key=True)
    key: str = _text(key=True)
    version: int
    value: Any = Field(default=None, sa_column=Column(JSONB(none_as_null=True), nullable=True))
    created_at: datetime = _instant()
    updated_at: datetime = _instant()
    expires_at: datetime | None = _maybe_instant()


class JobReadRow(Table, table=True):
    """The read set of a job: which record it saw, at which version, with which value."""

    __tablename__ = "job_read"

    agent_id: str = _text(key=True)
    job_id: str = _text(key=True)
    namespace: str = _text(key=True)
    key: str = _text(key=True)
    version: int
    value: Any = Field(default=None, sa_column=Column(JSONB(none_as_null=True), nullable=True))
    pinned: bool = Field(default=False, sa_column_kwargs={"server_default": false()})


class EpisodeRow(Table, table=True):
    """An episode."""

    __tablename__ = "episode"
    __table_args__ = (
        Index("episode_by_agent", "tenant_id", "agent_id", "created_at", "id"),
        Index("episode_by_session", "tenant_id", "agent_id", "session_id", "created_at", "id"),
        Index("episode_by_job", "tenant_id", "agent_id", "job_id", "created_at", "id"),
    )

    id: str = _text(key=True)
    agent_id: str = _text()
    session_id: str | None = _maybe_text()
    job_id: str | None = _maybe_text()
    summary: str = _text()
    payload: dict[str, Any] = Field(sa_type=JSONB)
    created_at: datetime = _instant()


class SnapshotRow(Table, table=True):
    """A sealed memory snapshot. A trigger refuses updates, and the application may not try."""

    __tablename__ = "memory_snapshot"

    id: str = _text(key=True)
    agent_id: str = _text()
    job_id: str = _text()
    schema_version: int
    sha256: str = _text()
    body: bytes = Field(sa_type=LargeBinary)
    memory_revision: int = Field(sa_type=BigInteger)
    created_at: datetime = _instant()


class WaitRow(Table, table=True):
    """A wait of a job; `mnestic.memory.waits.WaitState` tells who enters and leaves each state."""

    __tablename__ = "job_wait"
    __table_args__ = (
        CheckConstraint(
            "state IN ('waiting', 'resumed', 'timed_out', 'cancelled')", name="job_wait_state"
        ),
        CheckConstraint("policy IN ('pinned', 'rebase', 'strict')", name="job_wait_policy"),
        CheckConstraint("(state = 'waiting') = (closed_at IS NULL)", name="job_wait_closed"),
        # serves list_by_job
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
    )

    wait_id: str = _text(key=True)
    job_id: str = _text()
    agent_id: str = _text()
    session_id: str = _text()
    key: str = _text()
    state: str = _text()
    policy: str = _text()
    snapshot_id: str = _text()
    context: dict[str, Any] = Field(sa_type=JSONB)
    outcomes: list[str] = Field(sa_column=Column(JSONB, nullable=False, server_default="[]"))
    ask: str | None = _maybe_text()
    form: Any = Field(default=None, sa_column=Column(JSONB(none_as_null=True), nullable=True))
    deadline: datetime = _instant()
    opened_at: datetime = _instant()
    closed_at: datetime | None = _maybe_instant()
    request_id: str | None = _maybe_text()
    receipt: Any = Field(default=None, sa_column=Column(JSONB(none_as_null=True), nullable=True))


class ResourceRow(Table, table=True):
    """A raw message, append-only."""

    __tablename__ = "resource"
    __table_args__ = (
        # serves list_by_session
        Index("resource_by_session", "tenant_id", "agent_id", "session_id", "at", "source_id"),
    )

    agent_id: str = _text(key=True)
    session_id: str = _text(key=True)
    source_id: str = _text(key=True)
    channel: str = _text()
    speaker: str = _text()
    content: str = _text()
    at: datetime = _instant()
    created_at: datetime = _instant()


class ClaimRow(Table, table=True):
    """What somebody said to be so, append-only."""

    __tablename__ = "claim"
    __table_args__ = (
        CheckConstraint(
            "kind IN ('affirmed', 'corrected', 'ended', 'retracted', 'reactivated', 'deleted')",
            name="claim_kind",
        ),
        # serves claim, of facts
        Index("claim_by_topic", "tenant_id", "agent_id", "subject_key", "predicate"),
    )

    agent_id: str = _text(key=True)
    id: str = _text(key=True)
    kind: str = _text()
    subject: str = _text()
    subject_key: str = _text()
    predicate: str = _text()
    object: str | None = _maybe_text()
    confidence: float = Field(sa_type=Double)
    said_at: datetime = _instant()
    valid_from: datetime | None = _maybe_instant()
    valid_to: datetime | None = _maybe_instant()
    source: dict[str, Any] = Field(sa_type=JSONB)
    recorded_at: datetime = _instant()


class FactRow(Table, table=True):
    """What is believed, worked out of the claims; rewritten when they change it."""

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
            unique=True,
            postgresql_where="status = 'active' AND cardinality = 'single'",
        ),
        Index(
            *("fact_active_multi", "tenant_id", "agent_id", "subject_key", "predicate"),
            "object_key",
            unique=True,
            postgresql_where="status = 'active' AND cardinality = 'multi'",
        ),
    )

    agent_id: str = _text(key=True)
    id: str = _text(key=True)
    subject: str = _text()
    subject_key: str = _text()
    predicate: str = _text()
    object: str = _text()
    object_key: str = _text()
    category: str = _text()
    cardinality: str = _text()
    status: str = _text()
    confidence: float = Field(sa_type=Double)
    valid_from: datetime = _instant()
    valid_to: datetime | None = _maybe_instant()
    end: str | None = _maybe_text()
    supersedes: str | None = _maybe_text()
    superseded_by: str | None = _maybe_text()
    claims: list[str] = Field(sa_type=JSONB)
    created_at: datetime = _instant()
    updated_at: datetime = _instant()


class PredicateRow(Table, table=True):
    """What a tenant says of a predicate; of others the defaults hold."""

    __tablename__ = "predicate"
    __table_args__ = (
        CheckConstraint("cardinality IN ('single', 'multi')", name="predicate_cardinality"),
        CheckConstraint(f"category IN ({_CATEGORIES})", name="predicate_category"),
    )

    name: str = _text(key=True)
    cardinality: str = _text()
    category: str = _text()
    updated_at: datetime = _instant()


class OperationRow(Table, table=True):
    """The ledger: each memory write once, with what it gave."""

    __tablename__ = "operation"
    __table_args__ = (
        # serves list_operations, find_agent, and the opening of a wait
        Index("operation_by_job", "tenant_id", "job_id", "created_at", "key"),
    )

    key: str = _text(key=True)
    name: str = _text()
    agent_id: str = _text()
    job_id: str | None = _maybe_text()
    request_hash: str = _text()
    result: Any = Field(default=None, sa_column=Column(JSONB(none_as_null=True), nullable=True))
    created_at: datetime = _instant()


class AuditRow(Table, table=True):
    """Who read or wrote what, in the same transaction; the application may only add to it."""

    __tablename__ = "audit_log"
    __table_args__ = (Index("audit_log_by_agent", "tenant_id", "agent_id", "id"),)

    id: int | None = Field(
        default=None,
        sa_column=Column(BigInteger, Identity(always=True), primary_key=True),
    )
    agent_id: str = _text()
    at: datetime = _instant()
    actor: str = _text()
    action: str = _text()
    target: str = _text()
    operation_key: str | None = _maybe_text()
    reason: str | None = _maybe_text()


class PlanRow(Table, table=True):
    """A plan that jobs were started with, by the hash that their waits name."""

    __tablename__ = "plan"

    decision_id: str = _text(key=True)
    document: dict[str, Any] = Field(sa_type=JSONB)
    created_at: datetime = _instant()


class ToolResultRow(Table, table=True):
    """A tool's result that is too large to travel with a job, which holds a reference to it."""

    __tablename__ = "tool_result"

    id: str = _text(key=True)
    agent_id: str = _text()
    job_id: str = _text()
    node: str = _text()
    sha256: str = _text()
    size_bytes: int = Field(sa_type=BigInteger)
    body: bytes = Field(sa_type=LargeBinary)
    created_at: datetime = _instant()


class UsageRow(Table, table=True):
    """One call of a language model: what it took, and what it cost; null where no price is known."""

    __tablename__ = "llm_usage"
    __table_args__ = (
        # serves sum_by_job
        Index("llm_usage_by_job", "tenant_id", "agent_id", "job_id"),
    )

    id: int | None = Field(
        default=None,
        sa_column=Column(BigInteger, Identity(always=True), primary_key=True),
    )
    agent_id: str = _text()
    session_id: str | None = _maybe_text()
    job_id: str | None = _maybe_text()
    operation_key: str | None = _maybe_text()
    purpose: str = _text()
    model: str = _text()
    input_tokens: int = Field(sa_type=BigInteger)
    output_tokens: int = Field(sa_type=BigInteger)
    cost_usd: Decimal | None = Field(default=None, sa_column=Column(Numeric, nullable=True))
    created_at: datetime = _instant()


class RevisionRow(Table, table=True):
    """How many transactions have written an agent's memory."""

    __tablename__ = "agent_revision"

    agent_id: str = _text(key=True)
    revision: int = Field(sa_type=BigInteger)
    updated_at: datetime = _instant()


def table(row: type[Table]) -> Any:
    """The SQLAlchemy table of a row class, for statements."""
    return row.__table__  # type: ignore[attr-defined]
