"""A crowd: agents that remember the same, row by row beside each other in the same tables.

One agent's memory is made by the ways that users have; the others' rows are copies of its rows, in their
order, so that the pages of each table hold rows of many agents, as they would after years of use. Agents
with the same share of its sessions get different ones, one agent the first, the next the second, and so on.
"""

from collections.abc import Mapping, Sequence

import psycopg
from psycopg import sql

_COLUMNS = """
SELECT column_name FROM information_schema.columns
 WHERE table_schema = 'mnestic' AND table_name = %s AND is_generated = 'NEVER'
   AND column_name NOT IN ('tenant_id', 'agent_id')
 ORDER BY ordinal_position
"""
# The sessions of the agent, numbered; an agent whose share is n gets every n-th of them.
_SESSIONS = """
CREATE TEMPORARY TABLE crowd_session AS
SELECT session_id, dense_rank() OVER (ORDER BY session_id) AS place FROM mnestic.entry
 WHERE tenant_id = %(tenant)s AND agent_id = %(agent)s GROUP BY session_id
"""
_ENTRIES = """
CREATE TEMPORARY TABLE crowd_entry AS
SELECT e.number, s.place FROM mnestic.entry AS e JOIN crowd_session AS s USING (session_id)
 WHERE e.tenant_id = %(tenant)s AND e.agent_id = %(agent)s
"""
# The session that a row of a table belongs to.
_JOINS: Mapping[str, str] = {
    "entry": "JOIN crowd_entry AS c USING (number)",
    "entry_term": "JOIN crowd_entry AS c ON c.number = t.entry_number",
    "posting": "JOIN crowd_entry AS c ON c.number = t.entry_number",
    "embedding": "JOIN crowd_entry AS c ON c.number = t.entry_number",
    "claim": "JOIN crowd_session AS c ON c.session_id = t.source ->> 'session_id'",
    # A fact goes with the session of its first claim, or with every agent where a person decided it.
    "fact": """
    LEFT JOIN mnestic.claim AS o
      ON (o.tenant_id, o.agent_id, o.id) = (t.tenant_id, t.agent_id, t.claims ->> 0)
    LEFT JOIN crowd_session AS c ON c.session_id = o.source ->> 'session_id'
    """,
}
_COPY = """
INSERT INTO mnestic.{table} (tenant_id, agent_id, {columns}) OVERRIDING SYSTEM VALUE
SELECT t.tenant_id, a.agent_id, {selected}
  FROM mnestic.{table} AS t {join}
 CROSS JOIN unnest(%(agents)s::text[], %(shares)s::integer[])
       WITH ORDINALITY AS a (agent_id, share, turn)
 WHERE t.tenant_id = %(tenant)s AND t.agent_id = %(agent)s
   AND (c.place IS NULL OR c.place %% a.share = a.turn %% a.share)
"""
_COUNTS = (
    """
    INSERT INTO mnestic.lexeme (tenant_id, agent_id, lexeme, entries)
    SELECT tenant_id, agent_id, lexeme, count(*) FROM mnestic.posting
     WHERE tenant_id = %(tenant)s AND agent_id = ANY(%(agents)s) GROUP BY 1, 2, 3
    """,
    """
    INSERT INTO mnestic.corpus (tenant_id, agent_id, entries, lexemes, languages)
    SELECT tenant_id, agent_id, count(*), sum(lexemes), array_agg(DISTINCT language) FROM mnestic.entry
     WHERE tenant_id = %(tenant)s AND agent_id = ANY(%(agents)s) GROUP BY 1, 2
    """,
    """
    INSERT INTO mnestic.embedding_model (tenant_id, agent_id, model, entries, complete_to)
    SELECT tenant_id, agent_id, model, count(*), max(entry_number) FROM mnestic.embedding
     WHERE tenant_id = %(tenant)s AND agent_id = ANY(%(agents)s) GROUP BY 1, 2, 3
    """,
)


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
        await connection.execute(_SESSIONS, values)
        await connection.execute(_ENTRIES, values)
        await connection.execute("ANALYZE crowd_session, crowd_entry")
        for table, join in _JOINS.items():
            copied = await _copy(connection, table, join)
            await connection.execute(copied, values)
        for count in _COUNTS:
            await connection.execute(count, values)
        await connection.execute("DROP TABLE crowd_session, crowd_entry")
    await connection.execute("VACUUM ANALYZE")  # as autovacuum does, minutes later


async def _copy(connection: psycopg.AsyncConnection, table: str, join: str) -> sql.Composed:
    rows: Sequence[tuple[str]] = await (await connection.execute(_COLUMNS, [table])).fetchall()
    names = [sql.Identifier(name) for (name,) in rows]
    return sql.SQL(_COPY).format(
        table=sql.Identifier(table),
        columns=sql.SQL(", ").join(names),
        selected=sql.SQL(", ").join(sql.SQL("t.{}").format(name) for name in names),
        join=sql.SQL(join),
    )
