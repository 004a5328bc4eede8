"""The table of contracts."""

from datetime import datetime
from typing import Any

from sqlalchemy import CheckConstraint, Column, Integer
from sqlalchemy.dialects.postgresql import JSON
from sqlmodel import Field

from mnestic.stores.postgres.tables import Table, instant, words


class ContractRow(Table, table=True):
    """A version of the contract of a selector: an agent, or a pattern of agents.

    The document is as it was written, in its order, and has no secret; it is null if the contract was taken away.
    """

    __tablename__ = "contract"
    __table_args__ = (CheckConstraint("version > 0", name="contract_version"),)

    selector: str = words(key=True)
    version: int = Field(sa_column=Column(Integer, primary_key=True, autoincrement=False))
    document: dict[str, Any] | None = Field(default=None, sa_column=Column(JSON))
    sha256: str = words()
    applied_by: str = words()
    applied_at: datetime = instant()
