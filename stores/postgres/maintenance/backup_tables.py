"""The tables that a backup holds, and the statements that copy them, as the catalogue of the database has them.

They are read from the catalogue, not from this code's tables, so that a backup of an older schema can be read back into one.
"""

from typing import NamedTuple

from psycopg import sql

from mnestic.stores.postgres.maintenance.owner_sessions import Owner

# The schema's revision stands in the manifest. API keys stay as they are: a restore must not bring back one that was revoked. Tenants are registered as their rows
# are written. Columns that Postgres computes are computed again.
_TABLES = """
SELECT c.relname AS name,
       (SELECT array_agg(a.attname::text ORDER BY a.attname <> 'tenant_id', a.attname::text COLLATE "C")
          FROM pg_attribute AS a
         WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped AND a.attgenerated = '') AS columns,
       (SELECT array_agg(a.attname::text ORDER BY k.place) FROM unnest(i.indkey) WITH ORDINALITY AS k (attnum, place)
          JOIN pg_attribute AS a ON a.attrelid = c.oid AND a.attnum = k.attnum) AS key,
       (SELECT array_agg(a.atttypid = 'text'::regtype ORDER BY k.place)
          FROM unnest(i.indkey) WITH ORDINALITY AS k (attnum, place)
          JOIN pg_attribute AS a ON a.attrelid = c.oid AND a.attnum = k.attnum) AS is_text
  FROM pg_class AS c JOIN pg_index AS i ON i.indrelid = c.oid AND i.indisprimary
 WHERE c.relnamespace = 'mnestic'::regnamespace AND c.relkind = 'r'
   AND c.relname NOT IN ('alembic_version', 'api_key', 'tenant')
 ORDER BY c.relname COLLATE "C"
"""
_SEQUENCES = """
SELECT sequencename AS name, COALESCE(last_value, 0) AS position FROM pg_sequences
 WHERE schemaname = 'mnestic' ORDER BY sequencename COLLATE "C"
"""
_ADVANCE = """
SELECT setval(format('mnestic.%%I', sequencename)::regclass, %(position)s) FROM pg_sequences
 WHERE schemaname = 'mnestic' AND sequencename = %(name)s AND COALESCE(last_value, 0) < %(position)s
"""
# What the text of a value depends on.
_TEXT_SETTINGS = """
SELECT set_config('TimeZone', 'UTC', true) AS zone, set_config('DateStyle', 'ISO, MDY', true) AS dates,
       set_config('IntervalStyle', 'postgres', true) AS intervals, set_config('extra_float_digits', '1', true) AS floats,
       set_config('bytea_output', 'hex', true) AS bytes, set_config('statement_timeout', '0', true) AS limit_of_statement,
       set_config('idle_in_transaction_session_timeout', '0', true) AS limit_of_idling
"""
_AS_TENANT = "SELECT set_config('mnestic.tenant_id', %s, true) AS tenant"


class CopiedTable(NamedTuple):
    """A table, its columns, the tenant first, and its primary key, with which of its columns are text."""

    name: str
    columns: tuple[str, ...]
    key: tuple[str, ...]
    is_text: tuple[bool, ...]

    @property
    def identifier(self) -> sql.Identifier:
        """The table in a statement."""
        return sql.Identifier("mnestic", self.name)


def list_copied_tables(owner: Owner) -> tuple[CopiedTable, ...]:
    """The tables that a backup holds, by name."""
    rows = owner.execute(_TABLES).fetchall()
    return tuple(
        CopiedTable(row.name, tuple(row.columns), tuple(row.key), tuple(row.is_text))
        for row in rows
    )


def prepare_texts(owner: Owner, *, tenant_id: str | None) -> None:
    """Has values written in one form for the rest of a transaction, as one tenant where row-level security holds for the owner too."""
    owner.execute(_TEXT_SETTINGS)
    if tenant_id is not None:
        owner.execute(_AS_TENANT, [tenant_id])


def copy_out(table: CopiedTable, *, tenant_id: str | None) -> sql.Composed:
    """The statement that writes the rows of a table as text, of one tenant or all, in the order of the primary key.

    The order is by bytes, so it does not depend on the database's collation.
    """
    order = [
        sql.SQL('{} COLLATE "C"').format(sql.Identifier(column))
        if is_text
        else sql.Identifier(column)
        for column, is_text in zip(table.key, table.is_text, strict=True)
    ]
    return sql.SQL("COPY (SELECT {columns} FROM {table}{of} ORDER BY {order}) TO STDOUT").format(
        columns=_columns(table.columns),
        table=table.identifier,
        of=of_tenant(tenant_id),
        order=sql.SQL(", ").join(order),
    )


def copy_in(table: CopiedTable) -> sql.Composed:
    """The statement that reads the rows of a table from such text."""
    return sql.SQL("COPY {table} ({columns}) FROM STDIN").format(
        table=table.identifier, columns=_columns(table.columns)
    )


def of_tenant(tenant_id: str | None) -> sql.Composable:
    """The condition that rows are of one tenant; none for all."""
    if tenant_id is None:
        return sql.SQL("")
    return sql.SQL(" WHERE tenant_id = {}").format(sql.Literal(tenant_id))


def read_sequences(owner: Owner) -> dict[str, int]:
    """The last number that each sequence gave, 0 if none."""
    return {row.name: row.position for row in owner.execute(_SEQUENCES).fetchall()}


def advance_sequences(owner: Owner, positions: dict[str, int]) -> None:
    """Has each sequence go on after a number, unless it is further already."""
    for name, position in positions.items():
        owner.execute(_ADVANCE, {"name": name, "position": position})


def _columns(names: tuple[str, ...]) -> sql.Composed:
    return sql.SQL(", ").join(map(sql.Identifier, names))
