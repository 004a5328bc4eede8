"""The tables of events between agents."""

from datetime import datetime
from typing import Any

from sqlalchemy import BigInteger, Column, Index
from sqlalchemy.dialects.postgresql import JSONB
from sqlmodel import Field

from mnestic.stores.postgres.tables import Table, instant, words


class EventCountRow(Table, table=True):
    """How many events a tenant has had. Who publishes locks it until the end of the transaction, so events are seen in their order."""

    __tablename__ = "event_count"

    events: int = Field(sa_type=BigInteger)


class ChannelEventRow(Table, table=True):
    """An event that an agent has published on a channel."""

    __tablename__ = "channel_event"
    __table_args__ = (
        # serves what is forgotten or exported of an agent
        Index("channel_event_by_agent", "tenant_id", "agent_id", "number"),
    )

    number: int = Field(sa_column=Column(BigInteger, primary_key=True, autoincrement=False))
    id: str = words()
    channel: str = words()
    agent_id: str = words()
    payload: dict[str, Any] = Field(sa_type=JSONB)
    at: datetime = instant()


class SubscriptionRow(Table, table=True):
    """How far a named subscription of an agent has come."""

    __tablename__ = "subscription"

    agent_id: str = words(key=True)
    name: str = words(key=True)
    number: int = Field(sa_type=BigInteger)
    updated_at: datetime = instant()
