"""The tables of what agents share: events, grants of namespaces, locks, readers. Shared records are in that of records."""

from datetime import datetime
from typing import Any

from sqlalchemy import ARRAY, BigInteger, CheckConstraint, Column, Identity, Index, Integer, Text
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
    """How far a named subscription of an agent to a channel, or a pattern of such, has come."""

    __tablename__ = "subscription"

    agent_id: str = words(key=True)
    name: str = words(key=True)
    channel: str = words(key=True)
    number: int = Field(sa_type=BigInteger)
    updated_at: datetime = instant()


class NamespaceGrantRow(Table, table=True):
    """What a contract or an agent lets the agents of a selector do in a namespace; of several, the highest level counts."""

    __tablename__ = "namespace_grant"
    __table_args__ = (
        CheckConstraint("level IN ('read', 'write', 'admin')", name="namespace_grant_level"),
    )

    namespace: str = words(key=True)
    selector: str = words(key=True)
    granted_by: str = words(key=True)
    level: str = words()


class LeaseRow(Table, table=True):
    """The last lease of a key of shared memory. It is held until it expires; its token stays used."""

    __tablename__ = "lease"

    namespace: str = words(key=True)
    key: str = words(key=True)
    agent_id: str = words()
    token: int = Field(sa_type=BigInteger)
    acquired_at: datetime = instant()
    expires_at: datetime = instant()


class ReaderSetRow(Table, table=True):
    """A set of readers of an agent's memory; rows name it by `audience`."""

    __tablename__ = "reader_set"
    __table_args__ = (
        # serves receive_messages and find_audience
        Index("reader_set_by_readers", "tenant_id", "agent_id", "readers", unique=True),
    )

    agent_id: str = words(key=True)
    id: int | None = Field(
        default=None, sa_column=Column(Integer, Identity(always=True), primary_key=True)
    )
    readers: list[str] = Field(sa_column=Column(ARRAY(Text), nullable=False))


class ReaderDefaultRow(Table, table=True):
    """The readers of what is said in a session or a channel without any of its own."""

    __tablename__ = "reader_default"
    __table_args__ = (
        CheckConstraint("kind IN ('session', 'channel')", name="reader_default_kind"),
    )

    agent_id: str = words(key=True)
    kind: str = words(key=True)
    name: str = words(key=True)
    readers: list[str] = Field(sa_column=Column(ARRAY(Text), nullable=False))
