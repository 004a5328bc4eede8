"""The table of what becomes of messages: how far each is learned from."""

from datetime import datetime
from typing import Any

from sqlalchemy import ARRAY, BigInteger, CheckConstraint, Column, Identity, Index
from sqlalchemy.dialects.postgresql import JSONB
from sqlmodel import Field

from mnestic.stores.postgres.tables import Table, instant, maybe_words, words


class IngestStateRow(Table, table=True):
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
        Index("ingest_state_by_state", "tenant_id", "agent_id", "state", "number"),
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
    context: list[int] | None = Field(default=None, sa_type=ARRAY(BigInteger), nullable=True)
    reason: str | None = maybe_words()
    updated_at: datetime = instant()
