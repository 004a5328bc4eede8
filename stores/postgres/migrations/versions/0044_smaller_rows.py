"""Smaller rows and indexes of entries; each from a file of statements.

Revision ID: 0044
Revises: 0043
"""

from pathlib import Path

from alembic import op

revision = "0044"
down_revision = "0043"
branch_labels = None
depends_on = None


def upgrade() -> None:
    for file in sorted(Path(__file__).parent.glob("0044_*.sql")):
        statements = file.read_text(encoding="utf-8")
        op.execute(statements.replace(":", r"\:"))  # no colon is of a parameter
