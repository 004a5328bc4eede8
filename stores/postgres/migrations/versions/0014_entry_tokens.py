"""Tokens of entries: what late interaction worked out of the text of each candidate, at each question.

Revision ID: 0014
Revises: 0013
"""

from alembic import op

revision = "0014"
down_revision = "0013"
branch_labels = None
depends_on = None

# Nullable, and without values for entries of before: questions tokenize their words, as they did until now. The planner
# has no use for statistics of it, which would quote what entries say.
COLUMN = """
ALTER TABLE mnestic.entry ADD COLUMN tokens bytea;
ALTER TABLE mnestic.entry ALTER COLUMN tokens SET STATISTICS 0;
"""


def upgrade() -> None:
    op.execute(COLUMN)
