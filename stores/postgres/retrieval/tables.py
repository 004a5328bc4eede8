"""The tables of retrieval: what is set for an agent, and what was put into prompts."""

from datetime import datetime
from typing import Any

from sqlalchemy import BigInteger, Column, Identity, Index
from sqlalchemy.dialects.postgresql import JSONB
from sqlmodel import Field

from mnestic.stores.postgres.tables import Table, instant, words


class SettingRow(Table, table=True):
    """A setting of an agent."""

    __tablename__ = "setting"

    agent_id: str = words(key=True)
    name: str = words(key=True)
    value: Any = Field(sa_type=JSONB)
    updated_at: datetime = instant()


class MemoryRetrievalRow(Table, table=True):
    """The result of one auto-retrieval before a message."""

    __tablename__ = "memory_retrievals"
    __table_args__ = (
        Index("memory_retrievals_by_time", "tenant_id", "agent_id", "created_at", "id"),
    )

    agent_id: str = words(key=True)
    id: int | None = Field(
        default=None, sa_column=Column(BigInteger, Identity(always=True), primary_key=True)
    )
    channel: str = words()
    preview: str = words()
    memories: list[dict[str, Any]] = Field(sa_type=JSONB)
    notes: list[dict[str, Any]] = Field(sa_type=JSONB)
    skipped: list[dict[str, Any]] = Field(sa_type=JSONB)
    tokens: int
    created_at: datetime = instant()
