"""Weights that were set for agents by the default preset go: they weighed a sum that is no more, and would be read as log-odds.

Those of the preset leonidas, whose score is still a plain sum, stay.

Revision ID: 0034
Revises: 0033
"""

from alembic import op

revision = "0034"
down_revision = "0033"
branch_labels = None
depends_on = None

FORGET = """
UPDATE mnestic.setting AS s SET value = s.value - ARRAY[
        'semantic', 'lexical', 'late_interaction', 'neighbour', 'second_neighbour', 'related', 'session', 'speaker', 'subject',
        'other_people', 'tag', 'time', 'recency', 'mention', 'question', 'importance', 'min_score', 'alike', 'beside', 'near', 'others']
 WHERE s.name = 'retrieval_policy' AND jsonb_typeof(s.value) = 'object'
   AND NOT EXISTS (SELECT FROM mnestic.setting AS p
                    WHERE p.tenant_id = s.tenant_id AND p.agent_id = s.agent_id
                      AND p.name = 'retrieval_preset' AND p.value = '"leonidas"')
"""


def upgrade() -> None:
    # The owner of the table is behind the wall as well.
    op.execute("ALTER TABLE mnestic.setting NO FORCE ROW LEVEL SECURITY")
    op.execute(FORGET)
    op.execute("ALTER TABLE mnestic.setting FORCE ROW LEVEL SECURITY")
