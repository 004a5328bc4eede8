"""Since when an entry counts again, because somebody has taken its supersession back.

Revision ID: 0035
Revises: 0034
"""

from alembic import op

revision = "0035"
down_revision = "0034"
branch_labels = None
depends_on = None

REINSTATED = "ALTER TABLE mnestic.entry ADD COLUMN reinstated_at timestamptz"


def upgrade() -> None:
    op.execute(REINSTATED)
