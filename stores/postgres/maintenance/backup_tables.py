"""The tables that a backup holds, and the statements that copy them, as the catalogue of the database has them.

They are read from the catalogue, not from this code's tables, so that a backup of an older schema can be read back into one. So what
names these tables and columns is put together by `psycopg.sql`; all other statements are in `sql/`.
"""

from typing import NamedTuple

from psycopg import sql

from mnestic.stores.postgres.maintenance.owner_sessions import Owner
from mnestic.stores.postgres.queries import fetch_rows, read_query

_TABLES = read_query("backup_tables.list_tables")
_SEQUENCES = read_query("backup_tables.list_sequences")
_ADVANCE = read_query("backup_tables.advance_sequence")
_TEXT_SETTINGS = read_query("backup_tables.set_texts")
_AS_TENANT = read_query("backup_tables.set_tenant")


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
    rows = fetch_rows(owner, _TABLES)
    return tuple(
        CopiedTable(row.name, tuple(row.columns), tuple(row.key), tuple(row.is_text))
        for row in rows
    )


def prepare_texts(owner: Owner, *, tenant_id: str | None) -> None:
    """Has values written in one form for the rest of a transaction, as one tenant where row-level security holds for the owner too."""
    fetch_rows(owner, _TEXT_SETTINGS)
    if tenant_id is not None:
        fetch_rows(owner, _AS_TENANT, tenant_id=tenant_id)


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
    return {row.name: row.position for row in fetch_rows(owner, _SEQUENCES)}


def advance_sequences(owner: Owner, positions: dict[str, int]) -> None:
    """Has each sequence go on after a number, unless it is further already."""
    for name, position in positions.items():
        fetch_rows(owner, _ADVANCE, name=name, position=position)


def _columns(names: tuple[str, ...]) -> sql.Composed:
    return sql.SQL(", ").join(map(sql.Identifier, names))
