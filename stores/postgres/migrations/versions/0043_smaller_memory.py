"""Less to store and to keep: words as lists, each vector once, old rows removed; each from a file of statements.

Revision ID: 0043
Revises: 0042
"""

from pathlib import Path

from alembic import op

revision = "0043"
down_revision = "0042"
branch_labels = None
depends_on = None


def upgrade() -> None:
    for file in sorted(Path(__file__).parent.glob("0043_*.sql")):
        statements = file.read_text(encoding="utf-8")
        op.execute(statements.replace(":", r"\:"))  # no colon is of a parameter
