"""Entries that follow from archived ones, which were compressed into them.

Revision ID: 0027
Revises: 0026
"""

from alembic import op

revision = "0027"
down_revision = "0026"
branch_labels = None
depends_on = None

KIND = """
ALTER TABLE mnestic.entry DROP CONSTRAINT entry_kind,
 ADD CONSTRAINT entry_kind CHECK (kind IN ('message', 'fact', 'episode', 'compressed'))
"""


def upgrade() -> None:
    op.execute(KIND)
