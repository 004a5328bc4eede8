"""Indexes of the vectors of large memories: one for an agent and a model, past a number of entries.

They stand apart from the migrations because they follow what agents remember. The owner of the tables builds
them while everybody goes on reading and writing; until one is there, all vectors are looked at.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import psycopg
from psycopg import sql

from mnestic.memory.addresses import describe_url
from mnestic.memory.errors import ConfigurationError
from mnestic.stores.postgres.poolers import is_pooled
from mnestic.stores.postgres.priorities import share_priority
from mnestic.stores.postgres.queries import fetch_rows, read_query
from mnestic.stores.postgres.schema import libpq_url, never_migrated
from mnestic.stores.postgres.sqlstates import unavailable

# Below, looking at all vectors is as fast, and always right. See docs/decisions/0007.
INDEXED_FROM = 5000
_LINKS, _CONSTRUCTED = 32, 200  # of an entry, and entries that are looked at to choose them
_MIN_SHARE = 0.5  # share of `INDEXED_FROM` below which an index is not worth its place any more
_PREFIX = "embedding_hnsw_"
_WIDEST = 4000  # dimensions that pgvector indexes
_LOCK = 0x6D6E6978  # "mnix": one at a time in a database
_BUILD_MEMORY = "1GB"

_MAY = read_query("vector_indexes.find_right")
_LARGE = read_query("vector_indexes.list_large")
_AS_TENANT = read_query("vector_indexes.set_tenant")
_DIMENSIONS = read_query("vector_indexes.find_dimensions")
_TRY_LOCK, _UNLOCK = read_query("vector_indexes.try_lock"), read_query("vector_indexes.unlock")
_THERE = read_query("vector_indexes.list_indexes")


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
        return _prefix(self.tenant_id) + _short(whose)


@dataclass(frozen=True, slots=True)
class IndexedVectors:
    """Indexes that were built, the largest memory first, and how many were dropped."""

    built: tuple[VectorIndex, ...]
    dropped: int


def index_vectors(
    admin_url: str, tenant_id: str, *, at_least: int = INDEXED_FROM, dry_run: bool = False
) -> IndexedVectors:
    """Builds the indexes that large memories of a tenant lack, and drops those that are not worth their place.

    Nobody waits for it. If it ends half way, what is there stays, and the next call goes on.

    Args:
        admin_url: Of the owner of the tables.
        tenant_id: Whose agents they are.
        at_least: Entries from which on a memory gets an index.
        dry_run: Whether nothing is built or dropped; the result says what would be.

    Raises:
        DatabaseUnavailableError: Postgres does not answer, or cannot do it now.
        SchemaVersionError: the tables are not there.
        ConfigurationError: somebody else is at it, the role may not do it, or a pooler is in between.
    """
    try:
        address = libpq_url(admin_url)
        with psycopg.connect(address, autocommit=True) as owner:
            share_priority(owner)
            return _index(owner, tenant_id, at_least=at_least, dry_run=dry_run)
    except psycopg.errors.UndefinedTable as error:
        raise never_migrated() from error
    except psycopg.OperationalError as error:
        raise unavailable(error, where=describe_url(admin_url)) from error


def _index(
    owner: psycopg.Connection[Any], tenant_id: str, *, at_least: int, dry_run: bool
) -> IndexedVectors:
    if is_pooled(owner):  # which parts the session that has the lock, the tenant and the settings
        why = (
            "is of a connection pooler; name the database itself, since an index needs one session"
        )
        raise ConfigurationError(setting="MNESTIC_DATABASE_ADMIN_URL", why=why)
    if not any(row.may for row in fetch_rows(owner, _MAY)):
        why = "is of a role that does not own the tables; name the one that migrated them"
        raise ConfigurationError(setting="MNESTIC_DATABASE_ADMIN_URL", why=why)
    (row,) = fetch_rows(owner, _TRY_LOCK, lock=_LOCK)
    if not row.locked:
        why = "is where somebody builds indexes right now; wait until they are done"
        raise ConfigurationError(setting="MNESTIC_DATABASE_ADMIN_URL", why=why)
    try:
        fetch_rows(
            owner, _AS_TENANT, tenant_id=tenant_id
        )  # row-level security holds for an owner too
        lacking, useless = _compare(owner, tenant_id, at_least=at_least)
        if not dry_run:
            _build(owner, lacking, useless)
        return IndexedVectors(built=tuple(lacking), dropped=len(useless))
    finally:  # a closed connection may hold it a little longer
        fetch_rows(owner, _UNLOCK, lock=_LOCK)


def _compare(
    owner: psycopg.Connection[Any], tenant_id: str, *, at_least: int
) -> tuple[list[VectorIndex], list[str]]:
    """The indexes that large memories lack, and the names of those that are not worth their place."""
    there = fetch_rows(owner, _THERE, prefix=_prefix(tenant_id))
    worth = {index.name for index in _large(owner, tenant_id, int(at_least * _MIN_SHARE))}
    useless = [row.name for row in there if not row.is_valid or row.name not in worth]
    names = {row.name for row in there} - set(useless)
    large = _large(owner, tenant_id, at_least)
    return [index for index in large if index.name not in names], useless


def _build(
    owner: psycopg.Connection[Any], lacking: Sequence[VectorIndex], useless: Sequence[str]
) -> None:
    owner.execute(sql.SQL("SET maintenance_work_mem = {}").format(_BUILD_MEMORY))
    for name in useless:
        owner.execute(
            sql.SQL("DROP INDEX CONCURRENTLY IF EXISTS mnestic.{}").format(sql.Identifier(name))
        )
    for index in lacking:
        owner.execute(_create(index))


def _large(owner: psycopg.Connection[Any], tenant_id: str, at_least: int) -> list[VectorIndex]:
    found: list[VectorIndex] = []
    for large in fetch_rows(owner, _LARGE, tenant_id=tenant_id, at_least=at_least):
        of = {"tenant_id": tenant_id, "agent_id": large.agent_id, "model": large.model}
        found += (
            VectorIndex(**of, dimensions=row.dimensions)
            for row in fetch_rows(owner, _DIMENSIONS, **of)
            if row.dimensions <= _WIDEST
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
    return f"{_PREFIX}{_short(tenant_id)}_"


def _short(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]
