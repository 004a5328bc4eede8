"""How much memory there was at the end of a maintenance run, so that growth is the difference to a report.

Revision ID: 0024
Revises: 0023
"""

from alembic import op

revision = "0024"
down_revision = "0023"
branch_labels = None
depends_on = None

SIZES = "ALTER TABLE mnestic.maintenance_run ADD COLUMN sizes jsonb"


def upgrade() -> None:
    op.execute(SIZES)
