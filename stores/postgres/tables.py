"""The tables, as SQLModel classes.

Those of a capability are in its `tables.py`. The migrations make them; a test proves that both agree. Roles, row-level security and triggers live in the migrations.
"""

from datetime import datetime
from typing import Any

from sqlalchemy import (
    BigInteger,
    CheckConstraint,
    Column,
    DateTime,
    Identity,
    Index,
    Integer,
    Text,
    text,
)
from sqlalchemy.dialects.postgresql import JSONB
from sqlmodel import Field, MetaData, SQLModel

INSTANT = DateTime(timezone=True)


class Table(SQLModel):
    """What all tables have: a tenant, at the front of every key."""

    metadata = MetaData(schema="mnestic")

    tenant_id: str = Field(primary_key=True, sa_type=Text)


def audience_column(*, key: bool = False) -> Any:
    """The number of a set of readers; by default that of the transaction."""
    default = {"server_default": text("mnestic.own_audience()")}
    return Field(default=0, primary_key=key, sa_type=Integer, sa_column_kwargs=default)


class AudienceTable(Table):
    """What tables have whose rows follow from what was said: for which readers, by the number of their set; 0 is everybody."""

    audience: int = audience_column()


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


class OperationRow(Table, table=True):
    """The ledger: one row for each memory write, with its result."""

    __tablename__ = "operation"
    __table_args__ = (
        # serves list_operations and find_agent
        Index("operation_by_job", "tenant_id", "job_id", "created_at", "key"),
        # serves the opening of a wait, however much the job has done
        Index("operation_of_end", "tenant_id", "job_id", postgresql_where="name = 'end'"),
        # serves remove_old_rows: the jobs that ended before a moment
        Index(
            *("operation_of_old_end", "tenant_id", "agent_id", "created_at"),
            postgresql_where="name = 'end'",
        ),
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


class TenantRow(Table, table=True):
    """A tenant that has memory; a trigger on `agent_revision` registers it."""

    __tablename__ = "tenant"
    __table_args__ = (CheckConstraint("tenant_id <> ''", name="tenant_tenant_id_check"),)


class RevisionRow(Table, table=True):
    """Counters of an agent: writing transactions, those that changed its knowledge, those that changed its graph, and events."""

    __tablename__ = "agent_revision"

    agent_id: str = words(key=True)
    revision: int = Field(sa_type=BigInteger)
    events: int = Field(
        default=0, sa_column=Column(BigInteger, nullable=False, server_default=text("0"))
    )
    knowledge_revision: int = Field(
        default=0, sa_column=Column(BigInteger, nullable=False, server_default=text("0"))
    )
    graph_revision: int = Field(
        default=0, sa_column=Column(BigInteger, nullable=False, server_default=text("0"))
    )
    updated_at: datetime = instant()


def table(row: type[Table]) -> Any:
    """The SQLAlchemy table of a row class, for statements."""
    return row.__table__  # type: ignore[attr-defined]
