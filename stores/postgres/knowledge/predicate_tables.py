"""The tables of predicates, and of the categories that their facts belong to."""

from datetime import datetime

from sqlalchemy import CheckConstraint

from mnestic.stores.postgres.knowledge.tables import CATEGORIES
from mnestic.stores.postgres.tables import Table, instant, maybe_words, words


class CategoryRow(Table, table=True):
    """The summary of a category of an agent's facts; null after one of these has changed, until it is built again.

    `model` is the chat model that was asked to write it; null if none was.
    """

    __tablename__ = "category"
    __table_args__ = (CheckConstraint(f"name IN ({CATEGORIES})", name="category_name"),)

    agent_id: str = words(key=True)
    name: str = words(key=True)
    summary: str | None = maybe_words()
    model: str | None = maybe_words()
    updated_at: datetime = instant()


class PredicateRow(Table, table=True):
    """A tenant's changes to a predicate. The other predicates have their defaults."""

    __tablename__ = "predicate"
    __table_args__ = (
        CheckConstraint("cardinality IN ('single', 'multi')", name="predicate_cardinality"),
        CheckConstraint(f"category IN ({CATEGORIES})", name="predicate_category"),
    )

    name: str = words(key=True)
    cardinality: str = words()
    category: str = words()
    updated_at: datetime = instant()
