"""The tables, as SQLModel classes.

Those of a capability are in its `tables.py`. The migrations make them; a test proves that both agree. Roles, row-level security and triggers live in the migrations.
"""

from datetime import datetime
from decimal import Decimal
from typing import Any

from sqlalchemy import (
    BigInteger,
    CheckConstraint,
    Column,
    DateTime,
    Identity,
    Index,
    LargeBinary,
    Numeric,
    SmallInteger,
    Text,
    false,
    text,
)
from sqlalchemy.dialects.postgresql import JSON, JSONB
from sqlmodel import Field, MetaData, SQLModel

INSTANT = DateTime(timezone=True)


class Table(SQLModel):
    """What all tables have: a tenant, at the front of every key."""

    metadata = MetaData(schema="mnestic")

    tenant_id: str = Field(primary_key=True, sa_type=Text)


def words(*, key: bool = False) -> Any:
    """A column of text."""
    return Field(primary_key=key, sa_type=Text)


def maybe_words() -> Any:
    """A column of text that may be null."""
    return Field(default=None, nullable=True, sa_type=Text)


def instant() -> Any:
    """A column of moments."""
    return Field(sa_type=INSTANT)


def maybe_instant() -> Any:
    """A column of moments that may be null."""
    return Field(default=None, nullable=True, sa_type=INSTANT)


class WorkingMemoryRow(Table, table=True):
    """The state of a session: one document of canonical JSON. A checkpoint raises the version and keeps the document."""

    __tablename__ = "working_memory"

    agent_id: str = words(key=True)
    session_id: str = words(key=True)
    version: int
    state: dict[str, Any] = Field(sa_type=JSON)
    updated_at: datetime = instant()
    last_checkpoint: str | None = maybe_words()


class RecordRow(Table, table=True):
    """A long-term record. After a deletion `value` is null, and the version continues."""

    __tablename__ = "long_term_record"

    agent_id: str = words(key=True)
    namespace: str = words(key=True)
    key: str = words(key=True)
    version: int
    value: Any = Field(default=None, sa_column=Column(JSONB(none_as_null=True), nullable=True))
    created_at: datetime = instant()
    updated_at: datetime = instant()
    expires_at: datetime | None = maybe_instant()


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


class EpisodeRow(Table, table=True):
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


class ResourceRow(Table, table=True):
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


class OperationRow(Table, table=True):
    """The ledger: one row for each memory write, with its result."""

    __tablename__ = "operation"
    __table_args__ = (
        # serves list_operations and find_agent
        Index("operation_by_job", "tenant_id", "job_id", "created_at", "key"),
        # serves the opening of a wait, however much the job has done
        Index("operation_of_end", "tenant_id", "job_id", postgresql_where="name = 'end'"),
        # serves count_archived: what runs of maintenance did of an agent
        Index(
            *("operation_of_maintenance", "tenant_id", "agent_id"),
            postgresql_where="name = 'maintenance'",
        ),
    )

    key: str = words(key=True)
    name: str = words()
    agent_id: str = words()
    job_id: str | None = maybe_words()
    request_hash: str = words()
    result: Any = Field(default=None, sa_column=Column(JSONB(none_as_null=True), nullable=True))
    created_at: datetime = instant()


class AuditRow(Table, table=True):
    """A read or a write: who, what and when, in the same transaction. The application can only add rows."""

    __tablename__ = "audit_log"
    __table_args__ = (
        Index("audit_log_by_agent", "tenant_id", "agent_id", "id"),
        # serve list of the audit log, by key and of denials
        Index(
            *("audit_log_by_key", "tenant_id", "actor", "id"),
            postgresql_where="starts_with(actor, 'key/')",
        ),
        Index(
            *("audit_log_of_denials", "tenant_id", "id"),
            postgresql_where="action = 'access.denied'",
        ),
        # serves list_changes
        Index(
            *("audit_log_of_entries", "tenant_id", "agent_id", "target", "id"),
            postgresql_where=(
                "action IN ('entry.change', 'entry.remove', 'entry.archive', 'entry.restore') AND actor <> 'learning'"
            ),
        ),
    )

    id: int | None = Field(
        default=None,
        sa_column=Column(BigInteger, Identity(always=True), primary_key=True),
    )
    agent_id: str = words()
    at: datetime = instant()
    actor: str = words()
    action: str = words()
    target: str = words()
    operation_key: str | None = maybe_words()
    reason: str | None = maybe_words()


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


class UsageRow(Table, table=True):
    """One call of a model: its tokens and its cost, which is null if the model has no price."""

    __tablename__ = "llm_usage"
    __table_args__ = (
        # serves sum_by_job
        Index("llm_usage_by_job", "tenant_id", "agent_id", "job_id"),
        # serves sum_since
        Index("llm_usage_by_time", "tenant_id", "created_at"),
        # serves sum_by_run
        Index(
            *("llm_usage_by_run", "tenant_id", "operation_key"),
            postgresql_where="purpose = 'maintain'",
        ),
    )

    id: int | None = Field(
        default=None,
        sa_column=Column(BigInteger, Identity(always=True), primary_key=True),
    )
    agent_id: str = words()
    session_id: str | None = maybe_words()
    job_id: str | None = maybe_words()
    operation_key: str | None = maybe_words()
    purpose: str = words()
    model: str = words()
    input_tokens: int = Field(sa_type=BigInteger)
    output_tokens: int = Field(sa_type=BigInteger)
    cost_usd: Decimal | None = Field(default=None, sa_column=Column(Numeric, nullable=True))
    injected_tokens: int = Field(
        default=0, sa_column=Column(BigInteger, nullable=False, server_default=text("0"))
    )
    search_units: int = Field(
        default=0, sa_column=Column(BigInteger, nullable=False, server_default=text("0"))
    )
    created_at: datetime = instant()


class TenantRow(Table, table=True):
    """A tenant that has memory; a trigger on `agent_revision` registers it."""

    __tablename__ = "tenant"
    __table_args__ = (CheckConstraint("tenant_id <> ''", name="tenant_tenant_id_check"),)


class RevisionRow(Table, table=True):
    """Counters of an agent: writing transactions, transactions that changed its knowledge, and events."""

    __tablename__ = "agent_revision"

    agent_id: str = words(key=True)
    revision: int = Field(sa_type=BigInteger)
    events: int = Field(
        default=0, sa_column=Column(BigInteger, nullable=False, server_default=text("0"))
    )
    knowledge_revision: int = Field(
        default=0, sa_column=Column(BigInteger, nullable=False, server_default=text("0"))
    )
    updated_at: datetime = instant()


def table(row: type[Table]) -> Any:
    """The SQLAlchemy table of a row class, for statements."""
    return row.__table__  # type: ignore[attr-defined]
