"""Where a word stands in the database: in which tables, whatever the column."""

from typing import Any

import psycopg
from psycopg import sql

_COLUMNS = """
SELECT table_name, column_name, data_type FROM information_schema.columns
 WHERE table_schema = 'mnestic' AND table_name <> 'alembic_version'
"""
_STATISTICS = """
SELECT DISTINCT c.relname FROM pg_statistic AS s JOIN pg_class AS c ON c.oid = s.starelid
 WHERE c.relnamespace = 'mnestic'::regnamespace
   AND concat_ws(' ', s.stavalues1::text, s.stavalues2::text, s.stavalues3::text, s.stavalues4::text,
                 s.stavalues5::text) ~* %s
"""


def scan_tables(admin_url: str, word: str, *, tenant: str, agent: str = "ada") -> dict[str, int]:
    """How many rows of each table hold a whole word, in any column; tables in which none does are left out."""
    tables: dict[str, list[tuple[str, str]]] = {}
    found: dict[str, int] = {}
    with psycopg.connect(admin_url, autocommit=True) as connection:
        for name, column, kind in connection.execute(_COLUMNS).fetchall():
            tables.setdefault(name, []).append((column, kind))
        for name, columns in sorted(tables.items()):
            row = connection.execute(*_counting(name, columns, word, (tenant, agent))).fetchone()
            assert row is not None
            if row[0]:
                found[name] = row[0]
    return found


def scan_statistics(admin_url: str, word: str) -> set[str]:
    """The tables of which the planner's statistics quote a text with a word."""
    with psycopg.connect(admin_url) as connection:
        return {name for (name,) in connection.execute(_STATISTICS, [rf"\m{word}"]).fetchall()}


def _counting(
    name: str, columns: list[tuple[str, str]], word: str, owner: tuple[str, str]
) -> tuple[sql.Composed, list[Any]]:
    texts = [
        sql.SQL("encode({}, 'escape')" if kind == "bytea" else "{}::text").format(
            sql.Identifier(column)
        )
        for column, kind in columns
    ]
    query = sql.SQL(
        "SELECT count(*) FROM mnestic.{} WHERE tenant_id = %s AND concat_ws(' ', {}) ~* %s"
    ).format(sql.Identifier(name), sql.SQL(", ").join(texts))
    values = [owner[0], rf"\m{word}\M"]
    if any(column == "agent_id" for column, _ in columns):
        query += sql.SQL(" AND agent_id = %s")
        values.append(owner[1])
    return query, values
