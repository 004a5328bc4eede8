"""All that a database knows of a tenant, so that two can be compared."""

from collections import Counter

import psycopg
from psycopg import sql

# Every row of a table but what clocks and runs say; an entry's number is a place in a sequence, which others
# take places of too, so its id stands for it.
ROWS = """
SELECT (to_jsonb(t) - %(left_out)s::text[] #- '{{source,workflow_run}}'
        || jsonb_build_object('entry', e.id))::text
  FROM mnestic.{table} AS t
  LEFT JOIN mnestic.entry AS e
    ON e.tenant_id = t.tenant_id
   AND e.number = COALESCE(to_jsonb(t) ->> 'entry_number', to_jsonb(t) ->> 'complete_to')::bigint
 WHERE t.tenant_id = %(tenant)s
"""
TABLES = """
SELECT table_name FROM information_schema.columns
 WHERE table_schema = 'mnestic' AND column_name = 'tenant_id'
"""
LEFT_OUT = [
    "number",
    "context",  # numbers too
    "entry_number",
    "complete_to",
    "created_at",
    "updated_at",
    "recorded_at",
    "switched_at",
]
NO_KNOWLEDGE = {"audit_log", "agent_revision", "operation", "llm_usage", "memory_event"}
Knowledge = dict[str, Counter[str]]


def read_knowledge(admin_url: str, tenant: str) -> Knowledge:
    """All rows of a tenant by table, but those that tell how it came to them."""
    with psycopg.connect(admin_url) as connection:
        names = {name for (name,) in connection.execute(TABLES)} - NO_KNOWLEDGE
        return {
            name: Counter(
                row
                for (row,) in connection.execute(
                    sql.SQL(ROWS).format(table=sql.Identifier(name)),
                    {"tenant": tenant, "left_out": LEFT_OUT},
                )
            )
            for name in sorted(names)
        }
