"""The model whose vectors searches of an agent compare, and the one before it, so that both can be there during a change.

Revision ID: 0026
Revises: 0025
"""

from alembic import op

revision = "0026"
down_revision = "0025"
branch_labels = None
depends_on = None

# On the row that every writer of an agent's indexes locks, so that a switch waits for writers, and they for it.
ACTIVE = """
ALTER TABLE mnestic.corpus
    ADD COLUMN active_model text,
    ADD COLUMN previous_model text,
    ADD COLUMN rejected_model text,
    ADD COLUMN switched_at timestamptz;
"""
# Of several models it is the one that knows most entries.
FILL = """
ALTER TABLE mnestic.corpus NO FORCE ROW LEVEL SECURITY;
ALTER TABLE mnestic.embedding_model NO FORCE ROW LEVEL SECURITY;
UPDATE mnestic.corpus AS c SET active_model = m.model
  FROM (SELECT DISTINCT ON (tenant_id, agent_id) tenant_id, agent_id, model FROM mnestic.embedding_model
         WHERE entries > 0 ORDER BY tenant_id, agent_id, entries DESC, model) AS m
 WHERE m.tenant_id = c.tenant_id AND m.agent_id = c.agent_id;
ALTER TABLE mnestic.corpus FORCE ROW LEVEL SECURITY;
ALTER TABLE mnestic.embedding_model FORCE ROW LEVEL SECURITY;
"""


def upgrade() -> None:
    op.execute(ACTIVE)
    op.execute(FILL)
