"""The table of forgettings."""

from datetime import datetime
from typing import Any

from sqlalchemy import CheckConstraint, Column, Index, text
from sqlalchemy.dialects.postgresql import JSONB
from sqlmodel import Field

from mnestic.stores.postgres.tables import Table, instant, maybe_instant, maybe_words, words


class ForgettingRow(Table, table=True):
    """A forgetting: who, the topic, and how many rows. Done, it has no topic, but may keep it out by hashes."""

    __tablename__ = "forgetting"
    __table_args__ = (
        CheckConstraint(
            "(finished_at IS NULL) = (topic IS NOT NULL)"
            " AND (finished_at IS NULL OR entries IS NULL)",
            name="forgetting_finished",
        ),
        Index(
            "forgetting_kept_out",
            "tenant_id",
            "agent_id",
            postgresql_where=text("kept_out IS NOT NULL"),
        ),
    )

    agent_id: str = words(key=True)
    id: str = words(key=True)
    actor: str = words()
    topic: str | None = maybe_words()
    entries: Any = Field(default=None, sa_column=Column(JSONB(none_as_null=True), nullable=True))
    purged: dict[str, int] = Field(
        sa_column=Column(JSONB, nullable=False, server_default=text("'{}'"))
    )
    requested_at: datetime = instant()
    finished_at: datetime | None = maybe_instant()
    kept_out: Any = Field(default=None, sa_column=Column(JSONB(none_as_null=True), nullable=True))
