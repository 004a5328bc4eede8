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
from psycopg.rows import namedtuple_row

from mnestic.memory.errors import ConfigurationError, DatabaseUnavailableError
from mnestic.stores.postgres.schema import describe_url

# Below, looking at all vectors is as fast, and always right. See the README, "Decisions".
INDEXED_FROM = 20_000
SEARCHED = 400  # entries of the graph that a search goes through
_LINKS, _CONSTRUCTED = 32, 200  # of an entry, and entries that are looked at to choose them
_KEPT = 0.5  # share of `INDEXED_FROM` below which an index is not worth its place any more
_PREFIX = "embedding_hnsw_"
_WIDEST = 4000  # dimensions that pgvector indexes
_LOCK = 0x6D6E6978  # "mnix": one at a time in a database
_BUILD_MEMORY = "1GB"

_LARGE = """
SELECT m.tenant_id, m.agent_id, m.model, first.dimensions
  FROM mnestic.embedding_model AS m
 CROSS JOIN LATERAL (
    SELECT dimensions FROM mnestic.embedding AS v
     WHERE v.tenant_id = m.tenant_id AND v.agent_id = m.agent_id AND v.model = m.model
     ORDER BY v.entry_number DESC LIMIT 1
 ) AS first
 WHERE m.entries >= %s AND first.dimensions <= %s
 ORDER BY m.entries DESC, m.tenant_id, m.agent_id, m.model
"""
_THERE = """
SELECT c.relname AS name, i.indisvalid AS is_valid
  FROM pg_index AS i JOIN pg_class AS c ON c.oid = i.indexrelid
 WHERE i.indrelid = 'mnestic.embedding'::regclass AND starts_with(c.relname, %s)
"""


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
        of = "\0".join((self.tenant_id, self.agent_id, self.model, str(self.dimensions)))
        return _PREFIX + hashlib.sha256(of.encode()).hexdigest()[:32]


@dataclass(frozen=True, slots=True)
class IndexedVectors:
    """Indexes that were built, the largest memory first, and how many were dropped."""

    built: tuple[VectorIndex, ...]
    dropped: int


def indexed_distance(dimensions: int) -> str:
    """The expression that the indexes order by, to the parameter `vector`."""
    return f"(vector::halfvec({dimensions})) <#> CAST(:vector AS halfvec({dimensions}))"


def of_index(index: VectorIndex) -> str:
    """The condition of an index, with its values written out: only so does Postgres see that it applies."""
    return _condition(index).as_string(None)


def index_vectors(admin_url: str, *, at_least: int = INDEXED_FROM) -> IndexedVectors:
    """Builds the indexes that large memories lack, and drops those that are not worth their place.

    Nobody waits for it. If it ends half way, what is there stays, and the next call goes on.

    Args:
        admin_url: Of the owner of the tables.
        at_least: Entries from which on a memory gets an index.

    Raises:
        DatabaseUnavailableError: Postgres does not answer.
        ConfigurationError: somebody else is at it, or the role may not do it.
    """
    try:
        with psycopg.connect(admin_url, autocommit=True, row_factory=namedtuple_row) as owner:
            return _index(owner, at_least)
    except psycopg.errors.InsufficientPrivilege as error:
        why = f"is of a role that may not build indexes ({_first_line(error)})"
        raise ConfigurationError(setting="MNESTIC_DATABASE_ADMIN_URL", why=why) from error
    except psycopg.OperationalError as error:
        why = _first_line(error)
        raise DatabaseUnavailableError(where=describe_url(admin_url), why=why) from error


def _index(owner: psycopg.Connection[Any], at_least: int) -> IndexedVectors:
    locked = owner.execute("SELECT pg_try_advisory_lock(%s)", [_LOCK]).fetchone()
    if locked is None or not locked[0]:
        why = "is where somebody builds indexes right now; wait until they are done"
        raise ConfigurationError(setting="MNESTIC_DATABASE_ADMIN_URL", why=why)
    owner.execute(sql.SQL("SET maintenance_work_mem = {}").format(_BUILD_MEMORY))
    there = owner.execute(_THERE, [_PREFIX]).fetchall()
    worth = {index.name for index in _large(owner, int(at_least * _KEPT))}
    useless = [row.name for row in there if not row.is_valid or row.name not in worth]
    for name in useless:
        owner.execute(
            sql.SQL("DROP INDEX CONCURRENTLY IF EXISTS mnestic.{}").format(sql.Identifier(name))
        )
    names = {row.name for row in there} - set(useless)
    lacking = [index for index in _large(owner, at_least) if index.name not in names]
    for index in lacking:
        owner.execute(_create(index))
    return IndexedVectors(built=tuple(lacking), dropped=len(useless))


def _large(owner: psycopg.Connection[Any], at_least: int) -> Sequence[VectorIndex]:
    rows = owner.execute(_LARGE, [at_least, _WIDEST]).fetchall()
    return [VectorIndex(*row) for row in rows]


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


def _first_line(error: Exception) -> str:
    return str(error).strip().splitlines()[0]
