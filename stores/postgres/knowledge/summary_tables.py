"""The table of summaries by time."""

from datetime import datetime

from sqlalchemy import BigInteger, CheckConstraint, Index
from sqlmodel import Field

from mnestic.stores.postgres.tables import INSTANT, Table, instant, words


class SummaryRow(Table, table=True):
    """The summary of a session in a week, a week, a month or the whole life of an agent with many messages.

    `digest` is that of what it was made of. It is removed once one of its messages changes or is gone, until it is built again.
    """

    __tablename__ = "summary"
    __table_args__ = (
        CheckConstraint("level IN ('session', 'week', 'month', 'life')", name="summary_level"),
        CheckConstraint("level = 'session' OR session_id = ''", name="summary_session"),
        # serves clear_summaries and find
        Index(
            *("summary_by_session", "tenant_id", "agent_id", "session_id", "starts_at"),
            postgresql_where="level = 'session'",
        ),
    )

    agent_id: str = words(key=True)
    level: str = words(key=True)
    starts_at: datetime = Field(primary_key=True, sa_type=INSTANT)
    session_id: str = words(key=True)
    ends_at: datetime = instant()
    text: str = words()
    tokens: int
    messages: int = Field(sa_type=BigInteger)
    digest: str = words()
    updated_at: datetime = instant()
