"""A crowd: agents that remember the same, row by row beside each other in the same tables.

One agent's memory is made by the ways that users have; the others' rows are copies of its rows, in their
order, so that the pages of each table hold rows of many agents, as they would after years of use. Agents
with the same share of its sessions get different ones, one agent the first, the next the second, and so on.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path

import psycopg
from psycopg import sql

from benchmarks.statements import read_statements

_STATEMENTS = read_statements(Path(__file__).with_suffix(".sql"))
# The session that a row of a table belongs to.
_JOINS: Mapping[str, str] = {
    "entry": "JOIN crowd_entry AS c USING (number)",
    "entry_term": "JOIN crowd_entry AS c ON c.number = t.entry_number",
    "embedding": "JOIN crowd_entry AS c ON c.number = t.entry_number",
    "claim": "JOIN crowd_session AS c ON c.session_id = t.source ->> 'session_id'",
    # A fact goes with the session of its first claim, or with every agent where a person decided it.
    "fact": """
    LEFT JOIN mnestic.claim AS o
      ON (o.tenant_id, o.agent_id, o.id) = (t.tenant_id, t.agent_id, t.claims ->> 0)
    LEFT JOIN crowd_session AS c ON c.session_id = o.source ->> 'session_id'
    """,
}
_COUNTS = ("post_words", "count_corpus", "count_vectors")


async def crowd(
    connection: psycopg.AsyncConnection, *, tenant: str, agent: str, shares: Mapping[str, int]
) -> None:
    """Gives other agents what one remembers, and has the tables vacuumed and analysed.

    Args:
        connection: Of the schema's owner, past row-level security; commits by itself.
        tenant: Whose agents they are.
        agent: Who remembers it now.
        shares: By agent, of how many sessions it gets one; 1 for all.
    """
    values = {
        "tenant": tenant,
        "agent": agent,
        "agents": list(shares),
        "shares": list(shares.values()),
    }
    async with connection.transaction():
        await connection.execute(_STATEMENTS["number_sessions"], values)
        await connection.execute(_STATEMENTS["number_entries"], values)
        await connection.execute(_STATEMENTS["analyze_numbers"])
        for table, join in _JOINS.items():
            copied = await _copy(connection, table, join)
            await connection.execute(copied, values)
        for count in _COUNTS:
            await connection.execute(_STATEMENTS[count], values)
        await connection.execute(_STATEMENTS["drop_numbers"])
    await connection.execute("VACUUM ANALYZE")  # as autovacuum does, minutes later


async def _copy(connection: psycopg.AsyncConnection, table: str, join: str) -> sql.Composed:
    rows: Sequence[tuple[str]] = await (
        await connection.execute(_STATEMENTS["list_columns"], [table])
    ).fetchall()
    names = [sql.Identifier(name) for (name,) in rows]
    return sql.SQL(_STATEMENTS["copy_rows"]).format(
        table=sql.Identifier(table),
        columns=sql.SQL(", ").join(names),
        selected=sql.SQL(", ").join(sql.SQL("t.{}").format(name) for name in names),
        join=sql.SQL(join),
    )
