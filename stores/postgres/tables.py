"""The tables, as SQLAlchemy's, and what they are made of.

Those of knowledge are in `knowledge_tables.py`. The migrations make them; a test proves that both agree. Roles, row-level
security and triggers live in the migrations. No row is ever an object, so none of them is mapped to a class.
"""

from typing import Any

from sqlalchemy import (
    BigInteger,
    Boolean,
    CheckConstraint,
    Column,
    Computed,
    DateTime,
    Identity,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    Numeric,
    SmallInteger,
    Table,
    Text,
    false,
    text,
)
from sqlalchemy.dialects.postgresql import JSON, JSONB
from sqlalchemy.schema import SchemaItem
from sqlalchemy.types import TypeEngine

METADATA = MetaData(schema="mnestic")
INSTANT = DateTime(timezone=True)
_Type = TypeEngine[Any] | type[TypeEngine[Any]]


def tenant_table(name: str, *parts: SchemaItem) -> Table:
    """A table with a tenant at the front of its key, as all of them have."""
    return Table(name, METADATA, key("tenant_id"), *parts)


def key(name: str, kind: _Type = Text, *parts: SchemaItem, **options: Any) -> Column[Any]:
    """A column of the primary key."""
    return Column(name, kind, *parts, primary_key=True, **options)


def required(name: str, kind: _Type, *parts: SchemaItem, **options: Any) -> Column[Any]:
    """A column that has a value in each row."""
    return Column(name, kind, *parts, nullable=False, **options)


# A session's state as one document in canonical form, rewritten at each version but a checkpoint's. `message_count`
# is null where the document is no state.
WORKING = tenant_table(
    "working_memory",
    key("agent_id"),
    key("session_id"),
    required("version", Integer),
    required("state", JSON),
    required("updated_at", INSTANT),
    Column("last_checkpoint", Text),
    Column("message_count", Integer, Computed("json_array_length((state -> 'messages'::text))")),
)

# A long-term record; `value` is null once it is deleted, and the version goes on counting.
RECORD = tenant_table(
    "long_term_record",
    key("agent_id"),
    key("namespace"),
    key("key"),
    required("version", Integer),
    Column("value", JSONB(none_as_null=True)),
    required("created_at", INSTANT),
    required("updated_at", INSTANT),
    Column("expires_at", INSTANT),
)

# The read set of a job: which record it saw, at which version, with which value.
READ = tenant_table(
    "job_read",
    key("agent_id"),
    key("job_id"),
    key("namespace"),
    key("key"),
    required("version", Integer),
    Column("value", JSONB(none_as_null=True)),
    required("pinned", Boolean, server_default=false()),
)

# An episode.
EPISODE = tenant_table(
    "episode",
    key("id"),
    required("agent_id", Text),
    Column("session_id", Text),
    Column("job_id", Text),
    required("summary", Text),
    required("payload", JSONB),
    required("created_at", INSTANT),
    Index("episode_by_agent", "tenant_id", "agent_id", "created_at", "id"),
    Index("episode_by_session", "tenant_id", "agent_id", "session_id", "created_at", "id"),
    Index("episode_by_job", "tenant_id", "agent_id", "job_id", "created_at", "id"),
)

# A sealed memory snapshot. A trigger refuses updates, and the application may not try. Where something of it was
# forgotten, `redacted_sha256` is the hash of what is left.
SNAPSHOT = tenant_table(
    "memory_snapshot",
    key("id"),
    required("agent_id", Text),
    required("job_id", Text),
    required("schema_version", Integer),
    required("sha256", Text),
    required("body", LargeBinary),
    required("memory_revision", BigInteger),
    required("created_at", INSTANT),
    Column("redacted_at", INSTANT),
    Column("redacted_sha256", Text),
)

# A wait of a job; `mnestic.memory.waits.WaitState` tells who enters and leaves each state.
WAIT = tenant_table(
    "job_wait",
    key("wait_id"),
    required("job_id", Text),
    required("agent_id", Text),
    required("session_id", Text),
    required("key", Text),
    required("state", Text),
    required("policy", Text),
    required("snapshot_id", Text),
    required("context", JSONB),
    required("outcomes", JSONB, server_default="[]"),
    Column("ask", Text),
    Column("form", JSONB(none_as_null=True)),
    required("deadline", INSTANT),
    required("opened_at", INSTANT),
    Column("closed_at", INSTANT),
    Column("request_id", Text),
    Column("receipt", JSONB(none_as_null=True)),
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

# A raw message, append-only; one that was forgotten says nothing, so that it is known when it comes again.
RESOURCE = tenant_table(
    "resource",
    key("agent_id"),
    key("session_id"),
    key("source_id"),
    required("channel", Text),
    required("speaker", Text),
    required("content", Text),
    required("at", INSTANT),
    required("offset_minutes", SmallInteger, server_default="0"),
    required("created_at", INSTANT),
    Column("forgotten_at", INSTANT),
    # serves list_by_session
    Index("resource_by_session", "tenant_id", "agent_id", "session_id", "at", "source_id"),
)

# The ledger: each memory write once, with what it gave.
OPERATION = tenant_table(
    "operation",
    key("key"),
    required("name", Text),
    required("agent_id", Text),
    Column("job_id", Text),
    required("request_hash", Text),
    Column("result", JSONB(none_as_null=True)),
    required("created_at", INSTANT),
    # serves list_operations and find_agent
    Index("operation_by_job", "tenant_id", "job_id", "created_at", "key"),
    # serves the opening of a wait, however much the job has done
    Index("operation_of_end", "tenant_id", "job_id", postgresql_where="name = 'end'"),
)

# Who read or wrote what, in the same transaction; the application may only add to it.
AUDIT = tenant_table(
    "audit_log",
    key("id", BigInteger, Identity(always=True)),
    required("agent_id", Text),
    required("at", INSTANT),
    required("actor", Text),
    required("action", Text),
    required("target", Text),
    Column("operation_key", Text),
    Column("reason", Text),
    Index("audit_log_by_agent", "tenant_id", "agent_id", "id"),
)

# A plan that jobs were started with, by the hash that their waits name.
PLAN = tenant_table(
    "plan",
    key("decision_id"),
    required("document", JSONB),
    required("created_at", INSTANT),
)

# A tool's result that is too large to travel with a job, which holds a reference to it.
RESULT = tenant_table(
    "tool_result",
    key("id"),
    required("agent_id", Text),
    required("job_id", Text),
    required("node", Text),
    required("sha256", Text),
    required("size_bytes", BigInteger),
    required("body", LargeBinary),
    required("created_at", INSTANT),
)

# One call of a language model: what it took, and what it cost; null where no price is known.
USAGE = tenant_table(
    "llm_usage",
    key("id", BigInteger, Identity(always=True)),
    required("agent_id", Text),
    Column("session_id", Text),
    Column("job_id", Text),
    Column("operation_key", Text),
    required("purpose", Text),
    required("model", Text),
    required("input_tokens", BigInteger),
    required("output_tokens", BigInteger),
    Column("cost_usd", Numeric),
    required("injected_tokens", BigInteger, server_default=text("0")),
    required("search_units", BigInteger, server_default=text("0")),
    required("created_at", INSTANT),
    # serves sum_by_job
    Index("llm_usage_by_job", "tenant_id", "agent_id", "job_id"),
    # serves sum_since
    Index("llm_usage_by_time", "tenant_id", "created_at"),
)

# How many transactions have written an agent's memory, how many of them what is known, and how many signals.
REVISION = tenant_table(
    "agent_revision",
    key("agent_id"),
    required("revision", BigInteger),
    required("signals", BigInteger, server_default=text("0")),
    required("knowledge", BigInteger, server_default=text("0")),
    required("updated_at", INSTANT),
)

# As the unit of work calls them.
RevisionRow, AuditRow = REVISION, AUDIT


def table(row: Table) -> Table:
    """The table itself."""
    return row
