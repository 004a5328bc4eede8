"""Since when what entries state is so no longer, by which entry, and why: a search reads it and decides nothing.

It decides as `sql/supersede_entries.sql` did when this migration was written, over all messages.

Revision ID: 0033
Revises: 0032
"""

from alembic import op

revision = "0033"
down_revision = "0032"
branch_labels = None
depends_on = None

_TABLES = ("entry", "claim", "fact")

TABLE = """
CREATE TABLE mnestic.supersession (
    tenant_id text NOT NULL,
    agent_id text NOT NULL,
    entry_id text NOT NULL,
    at timestamptz NOT NULL,
    by text,
    why text NOT NULL,
    PRIMARY KEY (tenant_id, agent_id, entry_id),
    CONSTRAINT supersession_why CHECK (why IN ('superseded', 'ended', 'corrected', 'withdrawn'))
);
ALTER TABLE mnestic.supersession ALTER COLUMN tenant_id SET (n_distinct = 10), ALTER COLUMN agent_id SET (n_distinct = 10);
GRANT SELECT, INSERT, UPDATE, DELETE ON mnestic.supersession TO mnestic_app;
"""

WALL = """
ALTER TABLE mnestic.supersession ENABLE ROW LEVEL SECURITY;
ALTER TABLE mnestic.supersession FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON mnestic.supersession
 USING (tenant_id = current_setting('mnestic.tenant_id', true))
 WITH CHECK (tenant_id = current_setting('mnestic.tenant_id', true));
"""

SUPERSEDE = """
WITH claimed AS MATERIALIZED (
    SELECT e.tenant_id, e.agent_id, e.id, e.at, length(e.content) AS chars, c.predicate, c.source -> 'span' AS span, h.*
      FROM mnestic.entry AS e
      JOIN mnestic.claim AS c ON c.tenant_id = e.tenant_id AND c.agent_id = e.agent_id AND c.session_id = e.session_id
       AND c.source_id = e.source_id AND c.kind IN ('affirmed', 'corrected')
      LEFT JOIN LATERAL (
        SELECT f.claims AS fact_claims, f.superseded_by AS successor, f."end" AS fate,
               CASE WHEN f.status = 'active' AND f.valid_to IS NULL OR f."end" IN ('faded', 'past') THEN 'infinity'
                    WHEN f.status = 'deleted' OR f."end" IN ('corrected', 'undone') THEN '-infinity'
                    ELSE f.valid_to END AS until
          FROM mnestic.fact AS f
         WHERE f.tenant_id = e.tenant_id AND f.agent_id = e.agent_id AND f.subject_key = c.subject_key
           AND f.predicate = c.predicate AND f.claims ? c.id
         ORDER BY 4 DESC NULLS LAST, f.id LIMIT 1) AS h ON true
     WHERE e.kind = 'message'
),
verdict AS (
    SELECT tenant_id, agent_id, id, at, max(COALESCE(until, '-infinity')) AS until,
           (array_agg(fate ORDER BY until DESC NULLS LAST, predicate))[1] AS fate,
           (array_agg(successor ORDER BY until DESC NULLS LAST, predicate))[1] AS successor,
           bool_or(span ->> 'start' IS NULL)
           OR 2 * (SELECT sum(upper(part) - lower(part))
                     FROM unnest(range_agg(int4range(CAST(span ->> 'start' AS integer), CAST(span ->> 'end' AS integer)))) AS part)
              >= min(chars) AS is_whole
      FROM claimed GROUP BY tenant_id, agent_id, id, at
)
INSERT INTO mnestic.supersession (tenant_id, agent_id, entry_id, at, by, why)
SELECT v.tenant_id, v.agent_id, v.id, GREATEST(v.until, v.at),
       COALESCE((
           SELECT m.id FROM mnestic.fact AS g
            CROSS JOIN LATERAL jsonb_array_elements_text(g.claims) AS stated (id)
             JOIN mnestic.claim AS c ON c.tenant_id = v.tenant_id AND c.agent_id = v.agent_id AND c.id = stated.id
             JOIN mnestic.entry AS m ON m.tenant_id = v.tenant_id AND m.agent_id = v.agent_id AND m.session_id = c.session_id
              AND m.at = c.said_at AND m.source_id = c.source_id AND m.kind = 'message'
            WHERE g.tenant_id = v.tenant_id AND g.agent_id = v.agent_id AND g.id = v.successor
              AND c.kind IN ('affirmed', 'corrected')
            ORDER BY c.said_at DESC, c.id LIMIT 1), v.successor),
       CASE WHEN v.fate IN ('superseded', 'ended', 'corrected') THEN v.fate ELSE 'withdrawn' END
  FROM verdict AS v WHERE v.until < 'infinity' AND v.is_whole
"""

CORRECT = """
INSERT INTO mnestic.supersession (tenant_id, agent_id, entry_id, at, by, why)
SELECT DISTINCT ON (e.tenant_id, e.agent_id, e.id) e.tenant_id, e.agent_id, e.id, x.at, x.id, 'corrected'
  FROM mnestic.entry AS x
  JOIN mnestic.entry AS e ON e.tenant_id = x.tenant_id AND e.agent_id = x.agent_id AND e.id IN (x.parent, x.related ->> 0)
 WHERE x.entry_type = 'correction' AND x.status = 'active' AND e.kind = 'message'
   AND NOT (EXISTS (SELECT FROM mnestic.claim AS c WHERE c.tenant_id = x.tenant_id AND c.agent_id = x.agent_id
                       AND c.session_id = x.session_id AND c.source_id = x.source_id)
            AND EXISTS (SELECT FROM mnestic.claim AS c WHERE c.tenant_id = e.tenant_id AND c.agent_id = e.agent_id
                           AND c.session_id = e.session_id AND c.source_id = e.source_id))
 ORDER BY e.tenant_id, e.agent_id, e.id, x.at DESC
ON CONFLICT (tenant_id, agent_id, entry_id) DO UPDATE SET at = excluded.at, by = excluded.by, why = excluded.why
"""


def upgrade() -> None:
    op.execute(TABLE)
    for name in _TABLES:  # the owner of the tables is behind the wall as well
        op.execute(f"ALTER TABLE mnestic.{name} NO FORCE ROW LEVEL SECURITY")
    op.execute(SUPERSEDE)
    op.execute(CORRECT)
    for name in _TABLES:
        op.execute(f"ALTER TABLE mnestic.{name} FORCE ROW LEVEL SECURITY")
    op.execute(WALL)
