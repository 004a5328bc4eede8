"""The table of model calls."""

from datetime import datetime
from decimal import Decimal

from sqlalchemy import (
    BigInteger,
    Column,
    Identity,
    Index,
    Numeric,
    text,
)
from sqlmodel import Field

from mnestic.stores.postgres.tables import (
    Table,
    instant,
    maybe_words,
    words,
)


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
