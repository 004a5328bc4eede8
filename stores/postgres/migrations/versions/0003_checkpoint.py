"""The last checkpoint beside working memory: naming it rewrites no state.

Revision ID: 0003
Revises: 0002
"""

from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute("ALTER TABLE mnestic.working_memory ADD COLUMN last_checkpoint text")
