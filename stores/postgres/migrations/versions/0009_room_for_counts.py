"""Room beside entries for what is counted of them.

Revision ID: 0009
Revises: 0008
"""

from alembic import op

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None

# Each answer changes how often its entries were told. On a page that has room for one entry more the new version stands
# beside the old one, and no index hears of it; on a full one it is written elsewhere, and into all of them. Pages that
# are full already stay so.
ROOM = "ALTER TABLE mnestic.entry SET (fillfactor = 85)"


def upgrade() -> None:
    op.execute(ROOM)
