"""Keep-outs: a tombstone may keep what was forgotten from being learned again, by keyed hashes of its words.

Revision ID: 0017
Revises: 0016
"""

from alembic import op

revision = "0017"
down_revision = "0016"
branch_labels = None
depends_on = None

KEEP_OUTS = """
ALTER TABLE mnestic.forgetting ADD COLUMN kept_out jsonb;
-- Serves the lookup before anything is learned.
CREATE INDEX forgetting_kept_out ON mnestic.forgetting (tenant_id, agent_id) WHERE kept_out IS NOT NULL;
GRANT UPDATE (kept_out) ON mnestic.forgetting TO mnestic_app;
"""


def upgrade() -> None:
    op.execute(KEEP_OUTS)
