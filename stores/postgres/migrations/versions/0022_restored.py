"""When an entry was restored from the archive, which counts as a use of it.

Revision ID: 0022
Revises: 0021
"""

from alembic import op

revision = "0022"
down_revision = "0021"
branch_labels = None
depends_on = None

RESTORED = "ALTER TABLE mnestic.entry ADD COLUMN restored_at timestamptz"


def upgrade() -> None:
    op.execute(RESTORED)
