"""Indexes of the vectors of large memories: one for an agent and a model, past a number of entries.

They follow what agents remember. The owner of the tables builds them while everybody goes on reading and writing; until
one is there, all vectors are looked at.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import psycopg
from psycopg import sql

from mnestic.memory.scope import agent_of
from mnestic.stores.postgres.index_sessions import (
    drop_indexes,
    index_session,
    short_hash,
    sort_indexes,
)
from mnestic.stores.postgres.knowledge.vectors import INDEXED_FROM
from mnestic.stores.postgres.queries import fetch_rows, read_query

_LINKS, _CONSTRUCTED = 16, 200  # of an entry, and entries that are looked at to choose them
_MIN_SHARE = 0.5  # share of `INDEXED_FROM` below which an index is not worth its place any more
_PREFIX = "embedding_hnsw_"
WIDEST = 4000  # dimensions that pgvector indexes
_BUILD_MEMORY = "1GB"

_LARGE = read_query("vector_indexes.list_large")
_DIMENSIONS = read_query("vector_indexes.find_dimensions")


@dataclass(frozen=True, slots=True)
class VectorIndex:
    """Whose vectors an index holds."""

    tenant_id: str
    agent_id: str
    model: str
    dimensions: int

    @property
    def name(self) -> str:
        """The index's name, which is of all of these."""
        whose = "\0".join((self.agent_id, self.model, str(self.dimensions)))
        return _prefix(self.tenant_id) + short_hash(whose)


@dataclass(frozen=True, slots=True)
class IndexedVectors:
    """Indexes that were built, the largest memory first, and how many were dropped."""

    built: tuple[VectorIndex, ...]
    dropped: int


def index_vectors(
    admin_url: str,
    tenant_id: str,
    *,
    agent_id: str | None = None,
    at_least: int = INDEXED_FROM,
    dry_run: bool = False,
) -> IndexedVectors:
    """Builds the indexes that large memories of a tenant lack, and drops those that are not worth their place.

    Nobody waits for it. If it ends half way, what is there stays, and the next call goes on.

    Args:
        admin_url: Of the owner of the tables.
        tenant_id: Whose agents they are.
        agent_id: The one agent whose indexes are built, those of its collections too, and none of another dropped; all by default.
        at_least: Entries from which on a memory gets an index.
        dry_run: Whether nothing is built or dropped; the result says what would be.

    Raises:
        DatabaseUnavailableError: Postgres does not answer, or cannot do it now.
        SchemaVersionError: the tables are not there.
        ConfigurationError: somebody else is at it, the role may not do it, or a pooler is in between.
    """
    with index_session(admin_url, tenant_id) as owner:
        lacking, useless = _compare(owner, tenant_id, at_least=at_least)
        if agent_id is not None:
            lacking = [index for index in lacking if agent_of(index.agent_id) == agent_id]
            useless = [name for name in useless if name in {index.name for index in lacking}]
        if not dry_run:
            _build(owner, lacking, useless)
        return IndexedVectors(built=tuple(lacking), dropped=len(useless))


def _compare(
    owner: psycopg.Connection[Any], tenant_id: str, *, at_least: int
) -> tuple[list[VectorIndex], Sequence[str]]:
    """The indexes that large memories lack, and the names of those that are not worth their place."""
    worth = {index.name for index in _large(owner, tenant_id, int(at_least * _MIN_SHARE))}
    prefix = _prefix(tenant_id)
    staying, useless = sort_indexes(owner, "mnestic.embedding", prefix=prefix, worth=worth)
    large = _large(owner, tenant_id, at_least)
    return [index for index in large if index.name not in staying], useless


def _build(
    owner: psycopg.Connection[Any], lacking: Sequence[VectorIndex], useless: Sequence[str]
) -> None:
    owner.execute(sql.SQL("SET maintenance_work_mem = {}").format(_BUILD_MEMORY))
    drop_indexes(owner, useless)
    for index in lacking:
        owner.execute(_create(index))


def _large(owner: psycopg.Connection[Any], tenant_id: str, at_least: int) -> list[VectorIndex]:
    found: list[VectorIndex] = []
    for large in fetch_rows(owner, _LARGE, tenant_id=tenant_id, at_least=at_least):
        of = {"tenant_id": tenant_id, "agent_id": large.agent_id, "model": large.model}
        found += (
            VectorIndex(**of, dimensions=row.dimensions)
            for row in fetch_rows(owner, _DIMENSIONS, **of)
            if row.dimensions <= WIDEST
        )
    return found


def _create(index: VectorIndex) -> sql.Composed:
    return sql.SQL(
        "CREATE INDEX CONCURRENTLY {name} ON mnestic.embedding"
        " USING hnsw ((vector::halfvec({dimensions})) halfvec_ip_ops)"
        " WITH (m = {links}, ef_construction = {constructed}) WHERE {condition}"
    ).format(
        name=sql.Identifier(index.name),
        dimensions=sql.Literal(index.dimensions),
        links=sql.Literal(_LINKS),
        constructed=sql.Literal(_CONSTRUCTED),
        condition=_condition(index),  # of values that are quoted
    )


def _condition(index: VectorIndex) -> sql.Composed:
    return sql.SQL("tenant_id = {} AND agent_id = {} AND model = {} AND dimensions = {}").format(
        index.tenant_id, index.agent_id, index.model, index.dimensions
    )


def _prefix(tenant_id: str) -> str:
    """What the names of a tenant's indexes begin with."""
    return f"{_PREFIX}{short_hash(tenant_id)}_"
