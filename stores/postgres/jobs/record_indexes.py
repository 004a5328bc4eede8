"""Indexes of records: one for each field that a schema of a contract in force names.

They follow contracts. The owner of the tables builds them while everybody goes on reading and writing; until one is
there, all records of the namespace are looked at.
"""

from dataclasses import dataclass
from typing import Any

import psycopg
from psycopg import sql

from mnestic.stores.postgres.index_sessions import (
    drop_indexes,
    index_session,
    short_hash,
    sort_indexes,
)
from mnestic.stores.postgres.jobs.record_filters import field_expression
from mnestic.stores.postgres.queries import fetch_rows, read_query

_PREFIX = "record_field_"
_LIST_FIELDS = read_query("record_indexes.list_fields")


@dataclass(frozen=True, slots=True)
class RecordIndex:
    """Which field of which schema an index holds."""

    tenant_id: str
    schema_id: str
    field: str

    @property
    def name(self) -> str:
        """The index's name, which is of all of these."""
        return _prefix(self.tenant_id) + short_hash(f"{self.schema_id}\0{self.field}")


@dataclass(frozen=True, slots=True)
class IndexedRecords:
    """Indexes that were built, and how many were dropped."""

    built: tuple[RecordIndex, ...]
    dropped: int


def index_records(admin_url: str, tenant_id: str, *, dry_run: bool = False) -> IndexedRecords:
    """Builds the indexes that schemas of a tenant's contracts name, and drops those that none names any more.

    Nobody waits for it. If it ends half way, what is there stays, and the next call goes on.

    Args:
        admin_url: Of the owner of the tables.
        tenant_id: Whose contracts they are.
        dry_run: Whether nothing is built or dropped; the result says what would be.

    Raises:
        DatabaseUnavailableError: Postgres does not answer, or cannot do it now.
        SchemaVersionError: the tables are not there.
        ConfigurationError: somebody else is at it, the role may not do it, or a pooler is in between.
    """
    with index_session(admin_url, tenant_id) as owner:
        wanted = [
            RecordIndex(tenant_id=tenant_id, schema_id=row.schema_id, field=row.field)
            for row in fetch_rows(owner, _LIST_FIELDS, tenant_id=tenant_id)
        ]
        worth = {index.name for index in wanted}
        table, prefix = "mnestic.long_term_record", _prefix(tenant_id)
        staying, useless = sort_indexes(owner, table, prefix=prefix, worth=worth)
        lacking = tuple(index for index in wanted if index.name not in staying)
        if not dry_run:
            drop_indexes(owner, useless)
            for index in lacking:
                _create(owner, index)
        return IndexedRecords(built=lacking, dropped=len(useless))


def _create(owner: psycopg.Connection[Any], index: RecordIndex) -> None:
    created = sql.SQL(
        "CREATE INDEX CONCURRENTLY {name} ON mnestic.long_term_record (agent_id, ({field}), key)"
        " WHERE tenant_id = {tenant_id} AND namespace = {schema_id} AND value IS NOT NULL"
    )
    owner.execute(
        created.format(
            name=sql.Identifier(index.name),
            field=field_expression(index.field),
            tenant_id=index.tenant_id,
            schema_id=index.schema_id,
        )
    )


def _prefix(tenant_id: str) -> str:
    """What the names of a tenant's indexes begin with."""
    return f"{_PREFIX}{short_hash(tenant_id)}_"
