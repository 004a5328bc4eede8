"""The table of maintenance: the reports of runs."""

from datetime import datetime
from typing import Any

from sqlalchemy import Column, Index, text
from sqlalchemy.dialects.postgresql import JSONB
from sqlmodel import Field

from mnestic.stores.postgres.tables import Table, instant, maybe_words, words


class MaintenanceRunRow(Table, table=True):
    """The report of a maintenance run: counts by name, what it could not do, and how much memory there was at its end."""

    __tablename__ = "maintenance_run"
    __table_args__ = (
        # serves list_reports
        Index("maintenance_run_by_time", "tenant_id", "started_at", "id"),
    )

    id: str = words(key=True)
    kind: str = words()
    agent_id: str | None = maybe_words()
    dry_run: bool
    scheduled_at: datetime = instant()
    started_at: datetime = instant()
    finished_at: datetime = instant()
    agents: int
    counts: dict[str, int] = Field(sa_type=JSONB)
    usage: dict[str, Any] = Field(
        sa_column=Column(JSONB, nullable=False, server_default=text("'{}'"))
    )
    problems: list[Any] = Field(sa_type=JSONB)
    sizes: dict[str, int] | None = Field(
        default=None, sa_column=Column(JSONB(none_as_null=True), nullable=True)
    )
