"""The table of API keys."""

from datetime import datetime

from sqlalchemy.dialects.postgresql import JSONB
from sqlmodel import Field

from mnestic.stores.postgres.tables import Table, instant, maybe_instant, words


class ApiKeyRow(Table, table=True):
    """An API key: the hash of its text, and what it allows. The application can only revoke it; backups leave it out."""

    __tablename__ = "api_key"

    id: str = words(key=True)
    sha256: str = words()
    agents: list[str] = Field(sa_type=JSONB)
    actions: list[str] = Field(sa_type=JSONB)
    created_at: datetime = instant()
    expires_at: datetime | None = maybe_instant()
    revoked_at: datetime | None = maybe_instant()
